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
	must(t, err)
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
func small(t *testing.T, c testfix.Choices) (*testfix.Fix, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "small")
	write(t, dir, map[string]string{
		"go.mod":             "module example.com/small\n\ngo 1.26\n",
		"small.go":           "package small\n\nfunc A() int {\n\treturn 1\n}\n\nfunc B() int {\n\treturn 1\n}\n",
		"small_test.go":      "package small\n",
		"testdata/in.txt":    "in\n",
		"sub/testdata/x.go":  "package x\n",
		"run.sh":             "#!/bin/sh\nexit 1\n",
		"vendor/m/vendor.go": "package m\n",
	})
	return choose(t, dir, mechanic.New(), c, &testfix.Options{Test: []string{"sh", "./run.sh"}}), dir
}

func TestTestsAreReadOnly(t *testing.T) {
	f, _ := small(t, testfix.Choices{})
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
	if d, err := f.Diff(); err != nil || !d.Empty() {
		t.Errorf("diff %q, %v, want none", d, err)
	}

	f, _ = small(t, testfix.Choices{AllowTestEdits: true})
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
	d, err := f.Diff()
	if diff := cmp.Diff([]string{"small_test.go", "sub/testdata/x.go", "testdata/in.txt"}, d.Files()); diff != "" || err != nil {
		t.Errorf("files changed: %v (-want +got):\n%s", err, diff)
	}
}

// A long file is read part by part.
func TestReadParts(t *testing.T) {
	f, _ := small(t, testfix.Choices{})
	long := strings.Repeat("0123456789abcde\n", 10_000)
	write(t, f.Dir(), map[string]string{"long.txt": long})
	var whole strings.Builder
	for start := 1; start <= 10_000; start = 1 + strings.Count(whole.String(), "\n") {
		got, err := use(t, f, "read_file", args{"path": "long.txt", "start": start})
		must(t, err)
		whole.WriteString(got[:strings.LastIndex(got, "[lines")])
	}
	if whole.String() != long {
		t.Error("the parts of a long file do not make the whole")
	}
}

func TestWriteFile(t *testing.T) {
	f, dir := small(t, testfix.Choices{})
	must(t, os.Symlink("sub", filepath.Join(f.Dir(), "elsewhere")))
	must(t, os.Symlink("nowhere", filepath.Join(f.Dir(), "dangling")))
	for _, c := range []struct{ path, content, want string }{
		{"new/deep/x.go", "package deep\n", ""},
		{"small.go", "package small\n", ""},
		{"other_test.go", "package small\n", "belongs to the tests"},
		{"small_test.go", "package small // x\n", "read-only"},
		{"tests/helper.py", "x = 1\n", "belongs to the tests"},
		{"run.sh", "exit 0\n", "belongs to the test command"},
		{"sub/go.mod", "module x\n", "decides which tests run"},
		{"conftest.py", "", "belongs to the tests"},
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
	_, err := use(t, f, "write_file", args{"path": "bad.go", "content": "package"})
	must(t, err)
	diff, err := use(t, f, "git_diff", args{})
	if err != nil || !strings.Contains(diff, "+++ b/new/deep/x.go\n") || !strings.Contains(diff, "-func A() int {\n") {
		t.Errorf("git_diff = %q, %v", diff, err)
	}
	if one, err := use(t, f, "git_diff", args{"path": "bad.go"}); err != nil || strings.Count(one, "diff --git") != 1 {
		t.Errorf("git_diff bad.go = %q, %v, want one file", one, err)
	}
	d, err := f.Diff()
	must(t, err)
	must(t, f.Apply(d))
	if text, err := os.ReadFile(filepath.Join(dir, "new/deep/x.go")); string(text) != "package deep\n" || err != nil {
		t.Errorf("the new file is %q, %v", text, err)
	}
}
