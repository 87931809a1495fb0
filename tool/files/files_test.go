//go:build linux || darwin

package files_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/hostile"
	"github.com/pawl-run/pawl/tool/files"
)

func use(t testing.TB, dir, name string, args map[string]any) (string, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	must(t, err)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	out, err := the(t, dir, name).Run(ctx, pawl.Invocation{Tool: name, Args: raw})
	if err != nil {
		return "", err
	}
	return pawl.ToolResult{Content: out.JSON}.Text(), nil
}

func the(t testing.TB, dir, name string) pawl.Tool {
	t.Helper()
	if made.dir != dir {
		made.dir, made.tools = dir, files.Tools(dir)
	}
	for _, tool := range made.tools {
		if tool.Info().Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

// made are the tools of the directory that was used last. They hold nothing of it,
// and making their schemas takes longer than most calls.
var made struct {
	dir   string
	tools []pawl.Tool
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// state is every file beneath a directory with its content, or what else it is.
func state(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		found[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			found[path] += " " + read(t, path)
		}
		return nil
	})
	must(t, err)
	return found
}

func jail(t testing.TB) (dir, outside string) {
	t.Helper()
	dir, outside, err := hostile.Jail(t.TempDir())
	must(t, err)
	return dir, outside
}

func TestNothingLeadsOut(t *testing.T) {
	check.SkipShort(t, "one goroutine after another, in which the race detector has nothing to see: -short")
	dir, outside := jail(t)
	before := state(t, filepath.Dir(dir))
	n := 0
	for _, path := range hostile.Paths(outside) {
		for name, more := range map[string]map[string]any{
			"read_file": {}, "list_files": {}, "search_files": {"pattern": "."},
			"edit_file": {"old": hostile.Secret, "new": "gone"},
		} {
			args := maps.Clone(more)
			args["path"] = path
			n++
			if got, err := use(t, dir, name, args); err == nil && strings.Contains(got, hostile.Secret) || err == nil && name == "edit_file" || err == nil && name == "read_file" {
				t.Errorf("%s %q: %q", name, path, got)
			} else if err != nil && (strings.Contains(err.Error(), hostile.Secret) || strings.Contains(err.Error(), filepath.Dir(dir)) && !strings.Contains(path, outside)) {
				t.Errorf("%s %q tells too much: %v", name, path, err)
			}
		}
	}
	if diff := cmp.Diff(before, state(t, filepath.Dir(dir))); diff != "" {
		t.Error(diff)
	}
	if n < 6000 {
		t.Errorf("only %d attacks", n)
	}
	// A path that is no way out is a name like any other, and may be written.
	for _, path := range hostile.Paths(outside) {
		_, _ = use(t, dir, "write_file", map[string]any{"path": path, "content": "written"})
	}
	for path, is := range state(t, filepath.Dir(dir)) {
		if !strings.HasPrefix(path, dir+"/") && path != dir && before[path] != is {
			t.Errorf("%s was %q and is %q", path, before[path], is)
		}
	}
	if got, err := use(t, dir, "read_file", map[string]any{"path": "good-link"}); err != nil || got != "inside\n" {
		t.Errorf("a link that stays inside: %q, %v", got, err)
	}
	if _, err := use(t, dir, "write_file", map[string]any{"path": "good-link", "content": "x"}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Error(err)
	}
}

// While somebody swaps a directory for a link, nothing is read or written through it.
func TestSwappedWhileUsed(t *testing.T) {
	dir, outside := jail(t)
	write(t, dir, map[string]string{"swap/secret": "harmless"})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		swap, aside := filepath.Join(dir, "swap"), filepath.Join(dir, "aside")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(swap, aside)
			_ = os.Symlink(outside, swap)
			_ = os.Remove(swap)
			_ = os.Rename(aside, swap)
		}
	}()
	for range 300 {
		if got, err := use(t, dir, "read_file", map[string]any{"path": "swap/secret"}); err == nil && got == hostile.Secret {
			t.Error("read through a link")
		}
		_, _ = use(t, dir, "write_file", map[string]any{"path": "swap/secret", "content": "harmless"})
		if got, _ := use(t, dir, "search_files", map[string]any{"path": "swap", "pattern": "the"}); strings.Contains(got, hostile.Secret) {
			t.Error("searched through a link")
		}
	}
	close(stop)
	<-done
	if got := state(t, outside); len(got) != 3 || read(t, filepath.Join(outside, "secret")) != hostile.Secret {
		t.Error(got)
	}
}

// A file that is not regular is refused at once.
func TestNoFiles(t *testing.T) {
	dir := t.TempDir()
	special(t, dir)
	if l, err := net.Listen("unix", filepath.Join(dir, "socket")); err == nil {
		defer l.Close()
	}
	write(t, dir, map[string]string{"huge": strings.Repeat("x", 4<<20+1), "binary": "a\x00b", "latin1": "\xe9"})
	for path, want := range map[string]string{
		"pipe": "not a regular file", "socket": "", "device": "", ".": "is a directory", "huge": "files above", "binary": "not text", "latin1": "not text", "none": "there is no none",
	} {
		for name, args := range map[string]map[string]any{"read_file": {}, "edit_file": {"old": "a", "new": "b"}, "write_file": {"content": "x"}} {
			if name == "write_file" && !slices.Contains([]string{"pipe", "socket", "device", "."}, path) {
				continue
			}
			args["path"] = path
			began := time.Now()
			_, err := use(t, dir, name, args)
			if err == nil || name == "read_file" && !strings.Contains(err.Error(), want) || time.Since(began) > 20*time.Second {
				t.Errorf("%s %s: %v after %v", name, path, err, time.Since(began))
			}
		}
	}
	if got, err := use(t, dir, "search_files", map[string]any{"pattern": "."}); err != nil || got != "[no match]\n[not searched: binary (is not text in UTF-8); huge (has 4194305 bytes; files above 4194304 are not handled); latin1 (is not text in UTF-8)]\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := use(t, dir, "list_files", nil); err != nil || !strings.Contains(got, "pipe (no regular file)\n") {
		t.Errorf("%q, %v", got, err)
	}
}

// An edit keeps the line ends of a file whose lines all end in CRLF, which a model does not see.
func TestLineEnds(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ file, old, new, want string }{
		{"using X;\r\nclass A {}\r\n", "{}", "{\n}", "using X;\r\nclass A {\r\n}\r\n"},
		{"a\r\nb\r\nc", "a\nb", "x\r\ny\n", "x\r\ny\r\n\r\nc"},
		{"a\r\nb\r\n", "a\r\nb", "c", "c\r\n"},
		{"a\r\nb\r\n", "a\r\n", "c\r\n", "c\r\nb\r\n"},
		{"a\nb\n", "a\nb", "c\nd", "c\nd\n"},
		{"a\r\nb\nc\n", "b\nc", "d\ne", "a\r\nd\ne\n"}, // it has both
		{"a", "a", "b\nc", "b\nc"},
	} {
		write(t, dir, map[string]string{"f": c.file})
		_, err := use(t, dir, "edit_file", map[string]any{"path": "f", "old": c.old, "new": c.new})
		if got := read(t, filepath.Join(dir, "f")); err != nil || got != c.want {
			t.Errorf("%q with %q for %q: %q, %v; want %q", c.file, c.new, c.old, got, err, c.want)
		}
	}
	write(t, dir, map[string]string{"f": "\ufeffa\n"}) // its mark is no part of the first line
	text, _ := use(t, dir, "read_file", map[string]any{"path": "f"})
	if found, err := use(t, dir, "search_files", map[string]any{"pattern": "^a$"}); text != "a\n" || found != "f:1: a\n" {
		t.Errorf("%q, %q, %v", text, found, err)
	}
}

func TestWriteAndEdit(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"run.sh": "#!/bin/sh\nexit 1\n", "small.go": "func A()\n1\n\nfunc B()\n1\n"})
	must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o750))
	if got, err := use(t, dir, "edit_file", map[string]any{"path": "run.sh", "old": "exit 1", "new": "exit 0"}); err != nil || got != "run.sh: replaced at line 2" {
		t.Errorf("%q, %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "run.sh")); err != nil || info.Mode().Perm() != 0o750 || read(t, filepath.Join(dir, "run.sh")) != "#!/bin/sh\nexit 0\n" {
		t.Error(info.Mode(), err)
	}
	if got, err := use(t, dir, "write_file", map[string]any{"path": "a/b/new.txt", "content": "new\n"}); err != nil || got != "a/b/new.txt: written, 4 bytes" {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"edit_file", map[string]any{"path": "run.sh", "old": "exit 7", "new": ""}, "old does not occur in run.sh; the nearest lines are:\n    2\texit 0"},
		{"edit_file", map[string]any{"path": "run.sh", "old": "i", "new": ""}, "old occurs more than once in run.sh, at lines 1, 2"},
		{"edit_file", map[string]any{"path": "small.go", "old": "1", "new": ""}, "at lines 2, 5; give more of the text around the one that is meant:\n    1\tfunc A()\n    2\t1\n  ...\n    4\tfunc B()\n    5\t1"},
		{"edit_file", map[string]any{"path": "run.sh", "old": "exit  0", "new": ""}, "the nearest lines are:\n    2\texit 0"},
		{"edit_file", map[string]any{"path": "run.sh", "old": "", "new": "x"}, "old is empty"},
		{"edit_file", map[string]any{"path": "run.sh", "old": "exit", "new": "exit"}, "are the same"},
		{"edit_file", map[string]any{"path": "none.sh", "old": "a", "new": "b"}, "there is no none.sh"},
		{"edit_file", map[string]any{"path": "run.sh", "old": "exit 0", "new": "a\x00"}, "not text"},
		{"write_file", map[string]any{"path": "a/b", "content": "x"}, "is a directory"},
		{"write_file", map[string]any{"path": "a/", "content": "x"}, "names a directory"},
		{"write_file", map[string]any{"path": "", "content": "x"}, "names a directory"},
		{"write_file", map[string]any{"path": "run.sh/x", "content": "x"}, "run.sh"},
		{"write_file", map[string]any{"path": "x", "content": "a\x00b"}, "not text"},
		{"write_file", map[string]any{"path": "x", "content": strings.Repeat("x", 4<<20+1)}, "files above"},
		{"read_file", map[string]any{"path": "run.sh", "start": 3}, "has 2 lines"},
		{"search_files", map[string]any{"pattern": "("}, "RE2 syntax"},
	} {
		if got, err := use(t, dir, c.tool, c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.80v: %q, %v; want %q", c.tool, c.args, got, err, c.want)
		}
	}
	for path := range state(t, dir) {
		if strings.Contains(path, ".pawl-") {
			t.Errorf("%s was left", path)
		}
	}
	if _, err := use(t, filepath.Join(dir, "gone"), "list_files", nil); err == nil || strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
}

func TestListAndSearch(t *testing.T) {
	dir := t.TempDir()
	many := map[string]string{"b.txt": "two\none\n", "a.txt": "one\n", "vendor/v.txt": "one\n", "odd\nname": "one\n", "long.txt": strings.Repeat("one ", 200) + "\n"}
	write(t, dir, many)
	got, err := use(t, dir, "list_files", nil)
	if want := "a.txt\nb.txt\nlong.txt\n\"odd\\nname\"\nvendor/\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	got, err = use(t, dir, "search_files", map[string]any{"pattern": "^one"})
	if want := "a.txt:1: one\nb.txt:2: one\nlong.txt:1: " + strings.Repeat("one ", 75) + "…\n[not searched: \"odd\\nname\" (its name has a line break); vendor/ (third-party code)]\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	for i := range 3000 {
		many[fmt.Sprintf("many/%030d.txt", i)] = "one\n"
	}
	write(t, dir, many)
	if got, err = use(t, dir, "list_files", map[string]any{"path": "many"}); err != nil || len(got) > 50<<10 || !strings.Contains(got, " more; list a directory of them]") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err = use(t, dir, "search_files", map[string]any{"pattern": "one"}); err != nil || len(got) > 26<<10 || !strings.Contains(got, "there are more matches") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// If a crash interrupts a write, the file shows whether it happened, if it has the content.
func TestReconcile(t *testing.T) {
	dir := t.TempDir()
	ask := func(tool, content string) (bool, error) {
		args, _ := json.Marshal(map[string]any{"path": "x.txt", "content": content, "old": "a", "new": "b"})
		_, happened, err := the(t, dir, tool).(pawl.Reconciler).Reconcile(t.Context(), pawl.Invocation{Args: args})
		return happened, err
	}
	if happened, err := ask("write_file", "abc"); happened || err == nil {
		t.Error(happened, err)
	}
	write(t, dir, map[string]string{"x.txt": "abc"})
	if happened, err := ask("write_file", "abc"); !happened || err != nil {
		t.Error(happened, err)
	}
	if happened, err := ask("write_file", "abd"); happened || err == nil {
		t.Error(happened, err)
	}
	if happened, err := ask("edit_file", ""); happened || err == nil {
		t.Error(happened, err)
	}
}

// An approval of a change rests on the file as it was.
func TestWitness(t *testing.T) {
	dir, _ := jail(t)
	ask := func(path string) string {
		args, _ := json.Marshal(map[string]any{"path": path})
		found, err := the(t, dir, "edit_file").(interface {
			Witness(ctx context.Context, args json.RawMessage) (map[string]string, error)
		}).Witness(t.Context(), args)
		if err != nil || len(found) != 1 {
			t.Error(found, err)
		}
		return found[path]
	}
	if ask("none") != "missing" || ask("in.txt") == ask("none") || ask("in.txt") != ask("sub/in.txt") || strings.Contains(ask("link-abs"), "secret") {
		t.Error(ask("none"), ask("in.txt"), ask("link-abs"))
	}
	was := ask("in.txt")
	write(t, dir, map[string]string{"in.txt": "other"})
	if ask("in.txt") == was {
		t.Error("a change goes unnoticed")
	}
}

// FuzzPaths holds that no path reads what is outside or changes it.
func FuzzPaths(f *testing.F) {
	for i, s := range hostile.Paths("/tmp") {
		if i%10 == 0 {
			f.Add(s)
		}
	}
	dir, outside := jail(f)
	f.Fuzz(func(t *testing.T, path string) {
		for _, name := range []string{"read_file", "search_files", "write_file"} {
			if got, err := use(t, dir, name, map[string]any{"path": path, "pattern": ".", "content": "x"}); err == nil && strings.Contains(got, hostile.Secret) {
				t.Errorf("%s %q: %q", name, path, got)
			}
		}
		if read(t, filepath.Join(outside, "secret")) != hostile.Secret || read(t, filepath.Join(outside, "../secret")) != hostile.Secret {
			t.Fatalf("%q changed what is outside", path)
		}
	})
}

// TestNamesOfNewFiles: a person sees the whole name of a file that a model makes,
// and directories do not get deep without end. Files that are there can be read
// and changed, whatever they are called.
func TestNamesOfNewFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"a\tb.txt", "a\rb.txt", "a\x1b[31mb.txt", "a\u202etxt.exe", "a\u2066b.txt", "a\u200bb.txt", "a\u2028b.txt", "a\u00adb.txt", "a\ufeffb.txt", "a\U000e0041b.txt",
		"a\u3164b.txt", "a\u034fb.txt", "a\u115fb.txt", "a\u17b4b.txt", "a\u180eb.txt", "a\ufe0fb.txt", "a\u00a0b.txt", "a\u2003b.txt", " a.txt", "a.txt ", "d /a.txt", "d/ a.txt",
		"dir\u202e/b.txt", strings.Repeat("d/", 33) + "f.txt",
	} {
		if said, err := use(t, dir, "write_file", map[string]any{"path": name, "content": "x"}); err == nil {
			t.Errorf("%+q: %s", name, said)
		} else if strings.ContainsFunc(err.Error(), func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			t.Errorf("%+q: the error shows the name as it is: %q", name, err)
		}
	}
	if _, err := use(t, dir, "write_file", map[string]any{"path": "a\nb.txt", "content": "x"}); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("a line break: %v", err)
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) != 0 {
		t.Errorf("left behind: %v, %v", found, err)
	}
	for _, name := range []string{"résumé für Jürgen.txt", "漢字/ひらがな.md", "a b (1).txt", strings.Repeat("d/", 32) + "f.txt"} {
		if _, err := use(t, dir, "write_file", map[string]any{"path": name, "content": "x"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	old := "a\u200bb.txt"
	write(t, dir, map[string]string{old: "one\n"})
	if _, err := use(t, dir, "write_file", map[string]any{"path": old, "content": "two\n"}); err != nil || read(t, filepath.Join(dir, old)) != "two\n" {
		t.Errorf("a file that is there: %v", err)
	}
}

// TestSearchBeyond: a line that a large pattern is not matched against is named.
func TestSearchBeyond(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"long.txt": "short\n" + strings.Repeat("abc", 10_000) + "\n"})
	said, err := use(t, dir, "search_files", map[string]any{"pattern": "(?:ab?c){1,900}"})
	if err != nil || !strings.Contains(said, "[long.txt:2 has 30000 bytes and was not searched") {
		t.Errorf("%v %s", err, said)
	}
}

var must, write = check.Must, check.Write
