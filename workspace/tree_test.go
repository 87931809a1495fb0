package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/testkit/check"
)

// files describes a directory: path to content. A content that begins with "-> " is a link, one
// that begins with "+x " is executable, and a path that ends in "/" is an empty directory.
type files map[string]string

func (f files) write(t testing.TB, dir string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		put(t, dir, name, f[name])
	}
}

func put(t testing.TB, dir, name, content string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	must(t, os.MkdirAll(filepath.Dir(full), 0o755))
	if strings.HasSuffix(name, "/") {
		must(t, os.MkdirAll(full, 0o755))
		return
	}
	must(t, os.RemoveAll(full))
	if target, ok := strings.CutPrefix(content, "-> "); ok {
		must(t, os.Symlink(target, full))
		return
	}
	mode := fs.FileMode(0o644)
	content, executable := strings.CutPrefix(content, "+x ")
	if executable {
		mode = 0o755
	}
	must(t, os.WriteFile(full, []byte(content), mode))
}

// read is the reverse of write, without directories and .git.
func read(t testing.TB, dir string) files {
	t.Helper()
	f := files{}
	must(t, filepath.WalkDir(dir, func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		rel, _ := filepath.Rel(dir, full)
		info, err := d.Info()
		if err != nil {
			return err
		}
		var content string
		if d.Type() == fs.ModeSymlink {
			target, err := os.Readlink(full)
			f[filepath.ToSlash(rel)] = "-> " + target
			return err
		}
		data, err := os.ReadFile(full)
		if content = string(data); info.Mode()&0o100 != 0 {
			content = "+x " + content
		}
		f[filepath.ToSlash(rel)] = content
		return err
	}))
	return f
}

func pipe(t testing.TB, name string) {
	t.Helper()
	must(t, exec.Command("mkfifo", name).Run())
}

var must = check.Must

// project makes an original and a tree of it.
func project(t testing.TB, f files) *Tree {
	t.Helper()
	source := filepath.Join(t.TempDir(), "project")
	must(t, os.Mkdir(source, 0o755))
	f.write(t, source)
	return copied(t, source, nil)
}

func copied(t testing.TB, source string, o *Options) *Tree {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	tree, err := Copy(t.Context(), source, o)
	must(t, err)
	return tree
}

// edit edits a file of the copy. Without a content it removes the file.
func edit(t testing.TB, tree *Tree, name string, content ...string) {
	t.Helper()
	must(t, tree.Keep(name))
	if len(content) == 0 {
		must(t, os.Remove(filepath.Join(tree.Dir(), name)))
		return
	}
	put(t, tree.Dir(), name, content[0])
}

func difference(t testing.TB, tree *Tree) Diff {
	t.Helper()
	d, err := tree.Diff()
	must(t, err)
	return d
}

func kinds(d Diff) []string {
	var list []string
	for _, c := range d.Changes {
		kind := "modified "
		if c.Old == nil {
			kind = "added "
		} else if c.New == nil {
			kind = "deleted "
		}
		list = append(list, kind+c.Path)
	}
	return list
}

func equal[T any](t testing.TB, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func conflicts(t testing.TB, tree *Tree, d Diff, want ...string) {
	t.Helper()
	var conflict *ConflictError
	if err := tree.Apply(d); !errors.As(err, &conflict) {
		t.Fatalf("%v, want a conflict", err)
	}
	equal(t, want, conflict.Paths)
}

var sample = files{
	"go.mod":          "module x\n",
	"a.go":            "package x\n\nfunc A() int {\n\treturn 1\n}\n",
	"deep/er/b.go":    "package er",
	"run.sh":          "+x #!/bin/sh\n",
	"link":            "-> deep/er/b.go",
	"deep/up":         "-> ../a.go",
	"gone/only.txt":   "x\n",
	"binary":          "a\x00b",
	"with space.txt":  "1\n2\n3\n",
	"empty":           "",
	"été/naïve.txt":   "ü\n",
	"latin1.txt":      "caf\xe9\n",
	"untouched/x.txt": "same\n",
}

func TestRoundTrip(t *testing.T) {
	tree := project(t, sample)
	equal(t, sample, read(t, tree.Dir()))
	put(t, tree.Dir(), "untouched/x.txt", "tests changed it\n")
	put(t, tree.Dir(), "made/by.tests", "1\n")
	if d := difference(t, tree); !d.Empty() || d.String() != "" {
		t.Fatalf("differs without an edit:\n%s", d)
	}
	edit(t, tree, "a.go", "package x\n\nfunc A() int {\n\treturn 2\n}")
	edit(t, tree, "deep/er/b.go", "package er\n\nvar B = 1\n")
	edit(t, tree, "run.sh", "#!/bin/sh\n")
	edit(t, tree, "new/dir/c.sh", "+x echo\n")
	edit(t, tree, "binary", "a\x00c")
	edit(t, tree, "with space.txt", "1\n2\n3\n4\n")
	edit(t, tree, "latin1.txt", "caf\xe9!\n")
	edit(t, tree, "empty")
	edit(t, tree, "go.mod", "module y\n")
	edit(t, tree, "go.mod", "module x\n") // as it was
	must(t, tree.Keep("gone/only.txt"))   // and not edited
	want := read(t, tree.Dir())
	want["untouched/x.txt"] = sample["untouched/x.txt"]
	delete(want, "made/by.tests")

	// Another process takes over.
	tree, err := Open(tree.StateDir())
	must(t, err)
	d := difference(t, tree)
	equal(t, []string{
		"modified a.go", "modified binary", "modified deep/er/b.go", "deleted empty", "modified latin1.txt",
		"added new/dir/c.sh", "modified run.sh", "modified with space.txt",
	}, kinds(d))
	data, err := json.Marshal(d)
	must(t, err)
	var stored Diff
	must(t, json.Unmarshal(data, &stored))
	must(t, tree.Apply(stored))
	equal(t, want, read(t, tree.Source()))
	must(t, tree.Apply(d)) // again is the same as once
	equal(t, want, read(t, tree.Source()))

	must(t, tree.Close())
	if _, err := os.Lstat(tree.StateDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("close left the state: %v", err)
	}
}

// A file that tests or the user have changed before the first edit is compared with what it was.
func TestOriginal(t *testing.T) {
	tree := project(t, files{"tested": "1\n", "used": "1\n", "both": "1\n"})
	put(t, tree.Dir(), "tested", "2\n")
	put(t, tree.Dir(), "made", "2\n")
	put(t, tree.Source(), "used", "3\n")
	put(t, tree.Source(), "both", "3\n")
	put(t, tree.Dir(), "both", "2\n")
	edit(t, tree, "tested", "4\n")
	edit(t, tree, "used", "4\n")
	edit(t, tree, "made", "4\n")
	if err := tree.Keep("made/by"); err == nil {
		t.Error("a path below a file was kept")
	}
	if err := tree.Keep("both"); err == nil {
		t.Error("the original of a file that has changed on both sides was found")
	}
	var got []string
	for _, c := range difference(t, tree).Changes {
		if c.Old == nil {
			c.Old = &File{}
		}
		got = append(got, c.Path+": "+string(c.Old.Data)+string(c.New.Data))
	}
	equal(t, []string{"made: 4\n", "tested: 1\n4\n", "used: 1\n4\n"}, got)
	conflicts(t, tree, difference(t, tree), "used")
}

func TestPermissionsSurvive(t *testing.T) {
	source := t.TempDir()
	files{"secret": "1\n", "tool": "+x 1\n", "group": "1\n"}.write(t, source)
	modes := map[string]fs.FileMode{"secret": 0o600, "tool": 0o750, "group": 0o664}
	for name, mode := range modes {
		must(t, os.Chmod(filepath.Join(source, name), mode))
	}
	must(t, os.Link(filepath.Join(source, "secret"), filepath.Join(source, "hard link")))
	tree := copied(t, source, nil)
	edit(t, tree, "secret", "2\n") // an editor that makes a new file forgets the mode
	edit(t, tree, "tool", "+x 2\n")
	edit(t, tree, "group", "2\n")
	must(t, tree.Apply(difference(t, tree)))
	for name, want := range modes {
		info, err := os.Stat(filepath.Join(source, name))
		must(t, err)
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
	equal(t, files{"secret": "2\n", "tool": "+x 2\n", "group": "2\n", "hard link": "1\n"}, read(t, source))
}

func TestConflict(t *testing.T) {
	for name, meddle := range map[string]func(dir string){
		"modified":  func(dir string) { put(t, dir, "a", "theirs\n"); put(t, dir, "new", "theirs\n") },
		"deleted":   func(dir string) { os.Remove(filepath.Join(dir, "a")); put(t, dir, "new", "theirs\n") },
		"mode":      func(dir string) { os.Chmod(filepath.Join(dir, "a"), 0o600); put(t, dir, "new/x", "theirs") },
		"directory": func(dir string) { put(t, dir, "a", "-> b"); put(t, dir, "new/", "") },
		"pipe": func(dir string) {
			must(t, os.Remove(filepath.Join(dir, "a")))
			pipe(t, filepath.Join(dir, "a"))
			put(t, dir, "new", "-> nowhere")
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree := project(t, files{"a": "1\n", "b": "1\n", "c": "1\n"})
			edit(t, tree, "a", "2\n")
			edit(t, tree, "b", "2\n")
			edit(t, tree, "new", "2\n")
			d := difference(t, tree)
			meddle(tree.Source())
			put(t, tree.Source(), "c", "their own business\n")
			conflicts(t, tree, d, "a", "new")
			if b, err := os.ReadFile(filepath.Join(tree.Source(), "b")); string(b) != "1\n" {
				t.Errorf("b was written: %q, %v", b, err)
			}
			must(t, tree.Apply(Diff{d.Changes[1:2]})) // what does not conflict can be applied alone
		})
	}
}

func TestLinks(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, "secret", "s\n")
	tree := project(t, files{
		"in":          "-> d/f",
		"d/f":         "1\n",
		"d/self":      "-> .",
		"d/up":        "-> ..",
		"d/here":      "-> ./f",
		"dangling":    "-> nowhere",
		"abs":         "-> " + outside,
		"by abs":      "-> abs/secret",
		"out":         "-> ../outside",
		"out later":   "-> nowhere/../../outside",
		"d/out":       "-> ../../outside",
		"sly":         "-> d/up/../../outside",
		"abs nowhere": "-> /nowhere",
	})
	pipe(t, filepath.Join(tree.Source(), "pipe"))
	tree = copied(t, tree.Source(), nil)
	var left []string
	for _, l := range tree.LeftOut() {
		left = append(left, strings.Split(l, " (")[0])
	}
	equal(t, []string{"abs", "abs nowhere", "by abs", "d/out", "out", "out later", "pipe", "sly"}, left)
	equal(t, []string{"d/f", "d/here", "d/self", "d/up", "dangling", "in"}, slices.Sorted(maps.Keys(read(t, tree.Dir()))))

	// What was edited and is no file any more is not applied, nor taken for deleted.
	for name, meddle := range map[string]func(dir string){
		"file is a link":           func(dir string) { put(t, dir, "d/f", "-> "+outside+"/secret") },
		"file is a link inside":    func(dir string) { put(t, dir, "d/f", "-> g"); put(t, dir, "d/g", "2\n") },
		"directory leads out":      func(dir string) { put(t, dir, "d", "-> "+outside) },
		"directory leads to other": func(dir string) { put(t, dir, "e/f", "2\n"); put(t, dir, "d", "-> e") },
		"pipe": func(dir string) {
			must(t, os.Remove(filepath.Join(dir, "d/f")))
			pipe(t, filepath.Join(dir, "d/f"))
		},
	} {
		tree := copied(t, tree.Source(), nil)
		must(t, tree.Keep("d/f"))
		meddle(tree.Dir())
		if d, err := tree.Diff(); err == nil || !strings.Contains(err.Error(), "d/f: it is not a regular file") {
			t.Errorf("%s: %v, %v", name, kinds(d), err)
		}
	}

	// The original may have changed into something that leads out.
	edit(t, tree, "d/f", "2\n")
	edit(t, tree, "d/secret", "2\n")
	d := difference(t, tree)
	must(t, os.RemoveAll(filepath.Join(tree.Source(), "d")))
	put(t, tree.Source(), "d", "-> "+outside)
	conflicts(t, tree, d, "d/f", "d/secret")
	equal(t, files{"secret": "s\n"}, read(t, outside))
}

func TestForgedDiff(t *testing.T) {
	tree := project(t, files{"a": "1\n"})
	for _, name := range []string{"../a", "/etc/x", ".git/hooks/pre-commit", "sub/.GIT/config", "a/../../b", "", "."} {
		if err := tree.Apply(Diff{[]Change{{name, nil, &File{0o644, []byte("2\n")}}}}); err == nil {
			t.Errorf("%q was written", name)
		}
	}
	must(t, tree.Apply(Diff{[]Change{{"b", nil, &File{fs.ModeSetuid | 0o755, []byte("2\n")}}}}))
	info, err := os.Stat(filepath.Join(tree.Source(), "b"))
	must(t, err)
	equal(t, fs.FileMode(0o755), info.Mode())
	equal(t, files{"a": "1\n", "b": "+x 2\n"}, read(t, tree.Source()))
}

func TestLargeFiles(t *testing.T) {
	large := strings.Repeat("0123456789abcde\n", textLimit/16+1)
	tree := project(t, files{"large": large, "small": "1\n"})
	edit(t, tree, "large", large+"more\n")
	d := difference(t, tree)
	equal(t, "diff --git a/large b/large\nBinary files a/large and b/large differ\n", d.String())
	must(t, tree.Apply(d))
	equal(t, true, read(t, tree.Source())["large"] == large+"more\n")
}

func TestRefused(t *testing.T) {
	source := t.TempDir()
	files{"a": "1\n", ".git/config": "x", "sub/.git": "gitdir: x", "sub/f": "1\n"}.write(t, source)
	tree := copied(t, source, nil)
	equal(t, files{"a": "1\n", "sub/f": "1\n"}, read(t, tree.Dir()))
	if _, err := os.Lstat(filepath.Join(tree.Dir(), "sub", ".git")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("sub/.git was copied: %v", err)
	}
	for _, dir := range []string{filepath.Join(source, "tmp"), source} {
		if _, err := Copy(t.Context(), source, &Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "inside") {
			t.Errorf("copy into %s: %v", dir, err)
		}
	}
	if _, err := Copy(t.Context(), filepath.Join(source, "a"), nil); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("copy of a file: %v", err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open of nothing: %v", err)
	}
	put(t, tree.StateDir(), "record.json", "{")
	if _, err := Open(tree.StateDir()); err == nil || errors.Is(err, fs.ErrNotExist) { // or its change would count as applied
		t.Errorf("open of what is damaged: %v", err)
	}
	defer func(most int64) { maxBytes = most }(maxBytes)
	maxBytes = 3
	states := t.TempDir()
	if _, err := Copy(t.Context(), source, &Options{Dir: states}); err == nil || !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Errorf("limit: %v", err)
	}
	equal(t, files{}, read(t, states))
}

func TestReadOnlyDirectories(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("directories have no such mode")
	}
	source := t.TempDir()
	put(t, source, "d/e/f", "1\n")
	must(t, os.Chmod(filepath.Join(source, "d/e"), 0o555))
	t.Cleanup(func() { os.Chmod(filepath.Join(source, "d/e"), 0o755) })
	tree := copied(t, source, nil)
	info, err := os.Stat(filepath.Join(tree.Dir(), "d/e"))
	must(t, err)
	equal(t, fs.FileMode(0o555), info.Mode().Perm())
	must(t, tree.Close())
}

// gitProject is a repository with ignored files.
func gitProject(t *testing.T) string {
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is not here, and CI must have it")
		}
		t.Skip("git is not installed")
	}
	source := filepath.Join(t.TempDir(), "repo")
	files{
		".gitignore":          "node_modules/\n*.log\n/build\n",
		"a.go":                "package a\n",
		"kept.log":            "tracked though ignored\n",
		"node_modules/m/i.js": "1\n",
		"sub/b.go":            "package b\n",
		"sub/x.log":           "ignored\n",
		"untracked.txt":       "1\n",
	}.write(t, source)
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-f", ".gitignore", "a.go", "kept.log", "sub/b.go"},
		{"-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = source
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	return source
}

func TestIgnored(t *testing.T) {
	source := gitProject(t)
	original := read(t, source)
	tree := copied(t, source, nil)
	equal(t, original, read(t, tree.Dir()))
	put(t, tree.Dir(), "sub/x.log", "tests changed it\n")
	edit(t, tree, "a.go", "package a // fixed\n")
	edit(t, tree, "kept.log", "edited\n")
	d := difference(t, tree)
	equal(t, []string{"modified a.go", "modified kept.log"}, kinds(d))
	must(t, tree.Apply(d))
	original["a.go"], original["kept.log"] = "package a // fixed\n", "edited\n"
	equal(t, original, read(t, source))
}

// The repository of an untrusted project must not run a program.
func TestUntrustedRepository(t *testing.T) {
	source := gitProject(t)
	mark := filepath.Join(t.TempDir(), "ran")
	hook := filepath.Join(t.TempDir(), "hook")
	put(t, filepath.Dir(hook), "hook", "+x #!/bin/sh\ntouch "+mark+"\n")
	cmd := exec.Command("git", "config", "core.fsmonitor", hook)
	cmd.Dir = source
	must(t, cmd.Run())
	copied(t, source, nil)
	if _, err := os.Lstat(mark); err == nil {
		t.Error("the repository's program was run")
	}
}

// Of what git ignores a directory that holds much is not copied; tests in the copy find it all the
// same, and it does not come to harm when the copy goes.
func TestMuchIgnored(t *testing.T) {
	source := gitProject(t)
	defer func(most int, bytes int64) { mostIgnored, mostIgnoredBytes = most, bytes }(mostIgnored, mostIgnoredBytes)
	mostIgnored, mostIgnoredBytes = 20, 1000
	dir := filepath.Join(source, "node_modules")
	for i := range 30 {
		put(t, dir, fmt.Sprintf("%d/%d", i/10, i), "")
	}
	put(t, source, "build/large", strings.Repeat("x", 1001))
	before := read(t, source)
	tree := copied(t, source, nil)
	copies := 0
	must(t, filepath.WalkDir(tree.Dir(), func(string, fs.DirEntry, error) error { copies++; return nil }))
	if copies > 14 {
		t.Errorf("the copy has %d entries", copies)
	}
	there, err := os.ReadDir(filepath.Join(tree.Dir(), "node_modules", "1"))
	if err != nil || len(there) != 10 {
		t.Errorf("%d of 10 files are found from the copy, %v", len(there), err)
	}
	inside := copied(t, dir, nil) // the rules of a repository that ignores the project as a whole are of no use
	_, err = os.Lstat(filepath.Join(inside.Dir(), "1", "10"))
	must(t, err)
	must(t, tree.Close())
	equal(t, before, read(t, source))
}
