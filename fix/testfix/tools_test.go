package testfix_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
)

// use calls a tool of the agent and returns its result as text.
func use(t *testing.T, f *testfix.Fix, name string, args any) (string, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for _, tool := range f.Agent().Tools {
		if tool.Info().Name != name {
			continue
		}
		out, err := tool.Run(ctx, pawl.Invocation{Tool: name, Args: raw})
		if err != nil {
			return "", err
		}
		return pawl.ToolResult{Content: out.JSON}.Text(), nil
	}
	t.Fatalf("there is no tool %s", name)
	return "", nil
}

type args map[string]any

// small is a project whose tests nobody runs here.
func small(t *testing.T, o *testfix.Options) (*testfix.Fix, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "small")
	write(t, dir, map[string]string{
		"go.mod":              "module example.com/small\n\ngo 1.26\n",
		"small.go":            "package small\n\nfunc A() int {\n\treturn 1\n}\n\nfunc B() int {\n\treturn 1\n}\n",
		"small_test.go":       "package small\n",
		"testdata/in.txt":     "in\n",
		"sub/testdata/x.go":   "package x\n",
		"run.sh":              "#!/bin/sh\nexit 1\n",
		"vendor/m/vendor.go":  "package m\n",
		"sub/long.txt":        strings.Repeat("0123456789abcde\n", 10_000),
		"sub/binary":          "a\x00b",
		"sub/crlf.txt":        "one\r\ntwo\r\n",
		"sub/no-end-of-line":  "last",
		"sub/inner/inner.go":  "package inner\n",
		"sub/inner/empty.txt": "",
	})
	if o == nil {
		o = &testfix.Options{}
	}
	o.Test = []string{"sh", "./run.sh"}
	return open(t, dir, mechanic.New(), o), dir
}

func TestTestsAreReadOnly(t *testing.T) {
	f, _ := small(t, nil)
	edits := map[string]args{
		"small_test.go":     {"old": "package small", "new": "package small "},
		"testdata/in.txt":   {"old": "in", "new": "out"},
		"sub/testdata/x.go": {"old": "package x", "new": "package y"},
		"run.sh":            {"old": "exit 1", "new": "exit 0"},
	}
	for path, a := range edits {
		a["path"] = path
		if _, err := use(t, f, "edit_file", a); err == nil || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("edit_file %s = %v, want it refused as read-only", path, err)
		}
	}
	if d, err := f.Diff(t.Context()); err != nil || !d.Empty() {
		t.Errorf("diff %q, %v, want none", d, err)
	}

	f, _ = small(t, &testfix.Options{AllowTestEdits: true})
	for path, a := range edits {
		_, err := use(t, f, "edit_file", a)
		if path == "run.sh" { // the test command is nobody's test
			if err == nil {
				t.Errorf("edit_file %s was not refused", path)
			}
		} else if err != nil {
			t.Errorf("edit_file %s with leave to edit tests: %v", path, err)
		}
	}
	d, err := f.Diff(t.Context())
	if diff := cmp.Diff([]string{"small_test.go", "sub/testdata/x.go", "testdata/in.txt"}, d.Files()); diff != "" || err != nil {
		t.Errorf("files changed: %v (-want +got):\n%s", err, diff)
	}
}

func TestEdit(t *testing.T) {
	f, _ := small(t, nil)
	for _, c := range []struct{ path, from, to, want string }{
		{"small.go", "return 1", "return 2", "more than once in small.go, at lines 4, 8; give more of the text around the one that is meant:\n    3\tfunc A() int {\n    4\t\treturn 1\n  ...\n    7\tfunc B() int {\n    8\t\treturn 1"},
		{"small.go", "return 3", "return 2", "the nearest lines are:\n    4\t\treturn 1"},
		{"small.go", "func A() int {\n    return 1", "x", "the nearest lines are:\n    3\tfunc A() int {\n    4\t\treturn 1"},
		{"small.go", "func B() int {\n\treturn 2", "x", "the nearest lines are:\n    7\tfunc B() int {\n    8\t\treturn 1"},
		{"small.go", "func A() int { \n", "x", "the nearest lines are:\n    3\tfunc A() int {"},
		{"sub/crlf.txt", "one\ntwo", "x", `its lines end in \r\n`},
		{"small.go", "zzz", "x", "read_file shows what is there"},
		{"small.go", "", "x", "old is empty"},
		{"small.go", "A", "A", "the same"},
		{"none.go", "A", "B", "there is no none.go"},
		{"sub", "A", "B", "is a directory"},
		{"sub/binary", "a", "b", "not text"},
		{"small.go", "func A() int {\n\treturn 1", "func A() int {\n\treturn 2", ""},
		{"small.go", "func A() int {\n\treturn 2", "func A() int {\n\treturn 1", ""}, // the reverse, and once more
		{"small.go", "func A() int {\n\treturn 1", "func A() int {\n\treturn 2", ""},
		{"sub/crlf.txt", "one\r\n", "1\r\n", ""},
		{"sub/no-end-of-line", "last", "least", ""},
	} {
		told, err := use(t, f, "edit_file", args{"path": c.path, "old": c.from, "new": c.to})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("edit %s %q: %v", c.path, c.from, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("edit %s %q = %q, %v, want %q", c.path, c.from, told, err, c.want)
		}
	}
	for path, want := range map[string]string{
		"small.go":     "package small\n\nfunc A() int {\n\treturn 2\n}\n\nfunc B() int {\n\treturn 1\n}\n",
		"sub/crlf.txt": "1\r\ntwo\r\n", "sub/no-end-of-line": "least",
	} {
		if got, err := use(t, f, "read_file", args{"path": path}); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", path, got, err, want)
		}
	}
	if told, err := use(t, f, "edit_file", args{"path": "small.go", "old": "return 2", "new": "return 2)"}); err != nil || !strings.Contains(told, "does not parse") {
		t.Errorf("an edit that breaks the syntax = %q, %v, want to be told", told, err)
	}
	left, err := filepath.Glob(filepath.Join(f.Dir(), ".pawl-*"))
	if len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestReadParts(t *testing.T) {
	f, _ := small(t, nil)
	if got, err := use(t, f, "read_file", args{"path": "small.go", "start": 3, "end": 4}); got != "func A() int {\n\treturn 1\n[lines 3 to 4 of 9]" || err != nil {
		t.Errorf("lines 3 and 4 = %q, %v", got, err)
	}
	if got, err := use(t, f, "read_file", args{"path": "sub/inner/empty.txt"}); got != "" || err != nil {
		t.Errorf("an empty file = %q, %v", got, err)
	}
	for _, a := range []args{{"path": "small.go", "start": 10}, {"path": "small.go", "start": 3, "end": 2}, {"path": "small.go", "start": -1}} {
		if got, err := use(t, f, "read_file", a); err == nil {
			t.Errorf("read_file %v = %q, want an error", a, got)
		}
	}
	var whole strings.Builder
	for start, reads := 1, 0; ; reads++ {
		got, err := use(t, f, "read_file", args{"path": "sub/long.txt", "start": start})
		if err != nil || reads > 10 {
			t.Fatal(err, reads)
		}
		at := strings.LastIndex(got, "[lines")
		whole.WriteString(got[:at])
		if start = 1 + strings.Count(whole.String(), "\n"); start > 10_000 {
			break
		}
	}
	if whole.String() != strings.Repeat("0123456789abcde\n", 10_000) {
		t.Error("the parts of a long file do not make the whole")
	}
}

func TestReadNumbers(t *testing.T) {
	f, _ := small(t, nil)
	got, err := use(t, f, "read_file", args{"path": "small.go", "start": 3, "end": 4, "numbers": true})
	if want := "3\tfunc A() int {\n4\t\treturn 1\n[lines 3 to 4 of 9]"; got != want || err != nil {
		t.Errorf("lines 3 and 4 = %q, %v, want %q", got, err, want)
	}
}

func TestWriteFile(t *testing.T) {
	f, dir := small(t, nil)
	if err := os.Symlink("sub", filepath.Join(f.Dir(), "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(f.Dir(), "dangling")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, content, want string }{
		{"new/deep/x.go", "package deep\n", ""},
		{"small.go", "package small\n", ""},
		{"small.go", "package small\n", "has this content already"},
		{"other_test.go", "package small\n", "would belong to the tests"},
		{"small_test.go", "package small // x\n", "read-only"},
		{"tests/helper.py", "x = 1\n", "would belong to the tests"},
		{"run.sh", "exit 0\n", "belongs to the test command"},
		{"sub/go.mod", "module x\n", "would decide which tests run"},
		{"conftest.py", "", "would belong to the tests"},
		{"../x", "x", "leads outside"},
		{"/etc/x", "x", "leads outside"},
		{"elsewhere/y.txt", "y\n", "is a symbolic link"},
		{"dangling", "y\n", "is a symbolic link"},
		{"small.go/x", "x", "small.go/x"},
		{"sub", "x", "is a directory"},
		{"bin", "a\x00", "not text"},
	} {
		told, err := use(t, f, "write_file", args{"path": c.path, "content": c.content})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("write_file %s = %q, %v, want %q", c.path, told, err, c.want)
		}
	}
	if told, err := use(t, f, "write_file", args{"path": "bad.go", "content": "package"}); err != nil || !strings.Contains(told, "does not parse") {
		t.Errorf("write_file bad.go = %q, %v, want to be told", told, err)
	}
	diff, err := use(t, f, "git_diff", args{})
	if err != nil || !strings.Contains(diff, "+++ b/new/deep/x.go\n") || !strings.Contains(diff, "-func A() int {\n") {
		t.Errorf("git_diff = %q, %v", diff, err)
	}
	if one, err := use(t, f, "git_diff", args{"path": "bad.go"}); err != nil || strings.Count(one, "diff --git") != 1 {
		t.Errorf("git_diff bad.go = %q, %v, want one file", one, err)
	}
	d, err := f.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Apply(d); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "new/deep/x.go")); string(text) != "package deep\n" || err != nil {
		t.Errorf("the new file is %q, %v", text, err)
	}
}

func TestListAndSearch(t *testing.T) {
	f, _ := small(t, nil)
	got, err := use(t, f, "list_files", args{})
	want := "go.mod\nrun.sh\nsmall.go\nsmall_test.go\nsub/binary\nsub/crlf.txt\nsub/inner/empty.txt\nsub/inner/inner.go\n" +
		"sub/long.txt\nsub/no-end-of-line\nsub/testdata/x.go\ntestdata/in.txt\nvendor/\n"
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("list_files: %v (-want +got):\n%s", err, d)
	}
	if got, err := use(t, f, "list_files", args{"path": "vendor"}); got != "vendor/m/vendor.go\n" || err != nil {
		t.Errorf("list_files vendor = %q, %v", got, err)
	}
	for pattern, want := range map[string]string{
		`func [AB]\(`: "small.go:3: func A() int {\nsmall.go:7: func B() int {\n",
		`^two$`:       "sub/crlf.txt:2: two\n",
		`nowhere`:     "[no match]\n",
	} {
		if got, err := use(t, f, "search_files", args{"pattern": pattern}); got != want || err != nil {
			t.Errorf("search_files %q = %q, %v, want %q", pattern, got, err, want)
		}
	}
	if got, err := use(t, f, "search_files", args{"pattern": "package", "path": "sub"}); got != "sub/inner/inner.go:1: package inner\nsub/testdata/x.go:1: package x\n" || err != nil {
		t.Errorf("search_files below sub = %q, %v", got, err)
	}
	if _, err := use(t, f, "search_files", args{"pattern": "("}); err == nil || !strings.Contains(err.Error(), "RE2") {
		t.Errorf("search_files ( = %v, want to be told of RE2", err)
	}
	if got, err := use(t, f, "search_files", args{"pattern": "0"}); err != nil || len(got) > 60_000 || !strings.Contains(got, "more matches") {
		t.Errorf("search_files 0 = %d bytes, %v, want an excerpt that says so", len(got), err)
	}
}
