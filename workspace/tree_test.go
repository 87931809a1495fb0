package workspace

import (
	"errors"
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

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

func difference(t testing.TB, tree *Tree) Diff {
	t.Helper()
	d, err := tree.Diff(t.Context())
	must(t, err)
	return d
}

func kinds(d Diff) []string {
	var list []string
	for _, c := range d.Changes {
		kind := "modified "
		if !c.Old.Exists() {
			kind = "added "
		} else if !c.New.Exists() {
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
	if filepath.Base(tree.Dir()) != "project" {
		t.Errorf("the copy is called %s", tree.Dir())
	}
	if d := difference(t, tree); !d.Empty() || d.String() != "" {
		t.Fatalf("a fresh copy differs:\n%s", d)
	}
	dir := tree.Dir()
	put(t, dir, "a.go", "package x\n\nfunc A() int {\n\treturn 2\n}")
	put(t, dir, "deep/er/b.go", "package er\n\nvar B = 1\n")
	put(t, dir, "run.sh", "#!/bin/sh\n")
	put(t, dir, "new/dir/c.sh", "+x echo\n")
	put(t, dir, "link", "-> go.mod")
	put(t, dir, "deep/up", "now a file\n")
	put(t, dir, "binary", "a\x00c")
	put(t, dir, "with space.txt", "1\n2\n3\n4\n")
	put(t, dir, "latin1.txt", "caf\xe9!\n")
	must(t, os.Remove(filepath.Join(dir, "empty")))
	must(t, os.RemoveAll(filepath.Join(dir, "gone")))
	want := read(t, dir)

	// Another process takes over.
	tree, err := Open(tree.StateDir())
	must(t, err)
	d := difference(t, tree)
	equal(t, []string{
		"modified a.go", "modified binary", "modified deep/er/b.go", "modified deep/up", "deleted empty",
		"deleted gone/only.txt", "modified latin1.txt", "modified link", "added new/dir/c.sh", "modified run.sh",
		"modified with space.txt",
	}, kinds(d))
	must(t, tree.Apply(d))
	equal(t, want, read(t, tree.Source()))
	if _, err := os.Lstat(filepath.Join(tree.Source(), "gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the emptied directory is still there: %v", err)
	}
	must(t, tree.Apply(d)) // again is the same as once
	equal(t, want, read(t, tree.Source()))
	if d := difference(t, tree); !d.Empty() {
		t.Errorf("after apply the copy differs:\n%s", d)
	}
	// A second round of changes applies on top of the first.
	put(t, dir, "a.go", "package y\n")
	must(t, tree.Apply(difference(t, tree)))
	equal(t, read(t, dir), read(t, tree.Source()))

	must(t, tree.Close())
	if _, err := os.Lstat(tree.StateDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("close left the state: %v", err)
	}
}

func TestPermissionsSurvive(t *testing.T) {
	tree := project(t, files{"secret": "1\n", "tool": "+x 1\n"})
	must(t, os.Chmod(filepath.Join(tree.Source(), "secret"), 0o600))
	must(t, os.Chmod(filepath.Join(tree.Source(), "tool"), 0o750))
	again := copied(t, tree.Source(), nil)
	put(t, again.Dir(), "secret", "2\n") // an editor that makes a new file forgets the mode
	put(t, again.Dir(), "tool", "+x 2\n")
	must(t, again.Apply(difference(t, again)))
	for name, want := range map[string]fs.FileMode{"secret": 0o600, "tool": 0o750} {
		info, err := os.Stat(filepath.Join(tree.Source(), name))
		must(t, err)
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
}

func TestConflict(t *testing.T) {
	for name, meddle := range map[string]func(dir string){
		"modified":  func(dir string) { put(t, dir, "a", "theirs\n"); put(t, dir, "new", "theirs\n") },
		"deleted":   func(dir string) { os.Remove(filepath.Join(dir, "a")); put(t, dir, "new", "theirs\n") },
		"mode":      func(dir string) { os.Chmod(filepath.Join(dir, "a"), 0o600); put(t, dir, "new/x", "theirs") },
		"directory": func(dir string) { put(t, dir, "a", "-> b"); put(t, dir, "new/", ""); put(t, dir, "new/x", "1") },
	} {
		t.Run(name, func(t *testing.T) {
			tree := project(t, files{"a": "1\n", "b": "1\n", "c": "1\n"})
			put(t, tree.Dir(), "a", "2\n")
			put(t, tree.Dir(), "b", "2\n")
			put(t, tree.Dir(), "new", "2\n")
			d := difference(t, tree)
			meddle(tree.Source())
			put(t, tree.Source(), "c", "their own business\n")
			before := read(t, tree.Source())
			err := tree.Apply(d)
			var conflict *ConflictError
			if !errors.As(err, &conflict) {
				t.Fatalf("%v, want a conflict", err)
			}
			equal(t, []string{"a", "new"}, conflict.Paths)
			equal(t, before, read(t, tree.Source()))
			// What does not conflict can be applied alone.
			must(t, tree.Apply(d.Only(func(c Change) bool { return c.Path == "b" })))
			before["b"] = "2\n"
			equal(t, before, read(t, tree.Source()))
		})
	}
}

func TestDirectoryAndFileChangePlaces(t *testing.T) {
	tree := project(t, files{"d/x": "1\n", "d/y/z": "1\n", "f": "1\n", "d/hollow/": ""})
	must(t, os.RemoveAll(filepath.Join(tree.Dir(), "d")))
	must(t, os.RemoveAll(filepath.Join(tree.Dir(), "f")))
	put(t, tree.Dir(), "d", "a file\n")
	put(t, tree.Dir(), "f/g/h", "in a directory\n")
	d := difference(t, tree)
	must(t, tree.Apply(d))
	equal(t, read(t, tree.Dir()), read(t, tree.Source()))
	must(t, tree.Apply(d))
	equal(t, read(t, tree.Dir()), read(t, tree.Source()))

	// But not if the directory holds what the tree knows nothing of.
	tree = project(t, files{"d/x": "1\n"})
	must(t, os.RemoveAll(filepath.Join(tree.Dir(), "d")))
	put(t, tree.Dir(), "d", "a file\n")
	put(t, tree.Source(), "d/mine", "1\n")
	var conflict *ConflictError
	if err := tree.Apply(difference(t, tree)); !errors.As(err, &conflict) {
		t.Fatalf("%v, want a conflict", err)
	}
	equal(t, files{"d/x": "1\n", "d/mine": "1\n"}, read(t, tree.Source()))
}

func TestLinks(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, "secret", "s\n")
	tree := project(t, files{
		"in":       "-> d/f",
		"d/f":      "1\n",
		"d/self":   "-> .",
		"d/up":     "-> ..",
		"d/here":   "-> ./f",
		"dangling": "-> nowhere",
		"abs":      "-> " + outside,
		"out":      "-> ../outside",
		"d/out":    "-> ../../outside",
		"sly":      "-> d/up/../../outside",
	})
	var left []string
	for _, l := range tree.LeftOut() {
		left = append(left, l.Path)
	}
	equal(t, []string{"abs", "d/out", "out", "sly"}, left)
	equal(t, []string{"d/f", "d/here", "d/self", "d/up", "dangling", "in"}, slices.Sorted(maps.Keys(read(t, tree.Dir()))))

	put(t, tree.Dir(), "escape", "-> "+outside+"/secret")
	put(t, tree.Dir(), "in", "-> ../elsewhere")
	put(t, tree.Dir(), "d/fine", "-> ../in")
	d := difference(t, tree)
	equal(t, []string{"added d/fine"}, kinds(d))
	equal(t, 2, len(d.LeftOut))
	// The original may have changed into something that leads out.
	must(t, os.RemoveAll(filepath.Join(tree.Source(), "d")))
	put(t, tree.Source(), "d", "-> "+outside)
	var conflict *ConflictError
	if err := tree.Apply(d); !errors.As(err, &conflict) {
		t.Fatalf("%v, want a conflict", err)
	}
	equal(t, files{"secret": "s\n"}, read(t, outside))
}

func TestLinkToDirectoryIsReplacedNotFollowed(t *testing.T) {
	tree := project(t, files{"link": "-> hollow", "hollow/": ""})
	put(t, tree.Dir(), "link", "a file\n")
	must(t, tree.Apply(difference(t, tree)))
	equal(t, read(t, tree.Dir()), read(t, tree.Source()))
	if _, err := os.Stat(filepath.Join(tree.Source(), "hollow")); err != nil {
		t.Error(err)
	}
}

func TestForgedDiff(t *testing.T) {
	tree := project(t, files{"a": "1\n"})
	put(t, tree.Dir(), "a", "2\n")
	good := difference(t, tree).Changes[0]
	for _, name := range []string{"../a", "/etc/x", ".git/hooks/pre-commit", "sub/.GIT/config", "a/../../b", "", "."} {
		bad := good
		bad.Path, bad.Old = name, File{}
		if err := tree.Apply(Diff{Changes: []Change{bad}}); err == nil {
			t.Errorf("%q was written", name)
		}
	}
	bad := good
	bad.New.Digest = "../../../etc/passwd"
	if err := tree.Apply(Diff{Changes: []Change{bad}}); err == nil {
		t.Error("a digest that is a path was followed")
	}
	target, err := tree.blobs().put(strings.NewReader("/etc"))
	must(t, err)
	bad = Change{Path: "etc", New: File{Mode: fs.ModeSymlink, Digest: target}}
	if err := tree.Apply(Diff{Changes: []Change{bad}}); err == nil || !strings.Contains(err.Error(), "absolute") {
		t.Errorf("a link that leads out was made: %v", err)
	}
	must(t, os.WriteFile(tree.blobs().path(good.New.Digest), []byte("forged"), 0o600))
	if err := tree.Apply(Diff{Changes: []Change{good}}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged content was written: %v", err)
	}
	equal(t, files{"a": "1\n"}, read(t, tree.Source()))
}

func TestLargeFiles(t *testing.T) {
	large := strings.Repeat("0123456789abcde\n", textLimit/16+1)
	tree := project(t, files{"large": large, "small": "1\n"})
	put(t, tree.Dir(), "large", large+"more\n")
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
	put(t, tree.Dir(), ".git/config", "evil")
	if d := difference(t, tree); !d.Empty() {
		t.Errorf("differs:\n%s", d)
	}
	for dir, want := range map[string]string{filepath.Join(source, "tmp"): "inside", source: "inside"} {
		if _, err := Copy(t.Context(), source, &Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("copy into %s: %v", dir, err)
		}
	}
	if _, err := Copy(t.Context(), filepath.Join(source, "a"), nil); err == nil || !strings.Contains(err.Error(), "is a file") {
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
	if _, err := Copy(t.Context(), source, &Options{Dir: states}); err == nil || !strings.Contains(err.Error(), "larger than 3 bytes") {
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
	meddle := func(dir string) {
		put(t, dir, "a.go", "package a // fixed\n")
		put(t, dir, "kept.log", "changed\n")
		put(t, dir, "sub/x.log", "changed\n")
		put(t, dir, "sub/new.log", "new\n")
		put(t, dir, "sub/new.go", "package b\n")
		put(t, dir, "build/out", "new\n")
		put(t, dir, "build/python", "-> /usr/bin/python3")
		put(t, dir, "node_modules/m/i.js", "changed\n")
		must(t, os.RemoveAll(filepath.Join(dir, "untracked.txt")))
	}
	want := []string{"modified a.go", "modified kept.log", "added sub/new.go", "deleted untracked.txt"}
	tree := copied(t, source, nil)
	equal(t, original, read(t, tree.Dir()))
	meddle(tree.Dir())
	d := difference(t, tree)
	equal(t, want, kinds(d))
	equal(t, 0, len(d.LeftOut))
	t.Run("subdirectory", func(t *testing.T) {
		tree := copied(t, filepath.Join(source, "sub"), nil)
		put(t, tree.Dir(), "x.log", "changed\n")
		put(t, tree.Dir(), "y.log", "new\n")
		put(t, tree.Dir(), "b.go", "package c\n")
		equal(t, []string{"modified b.go"}, kinds(difference(t, tree)))
	})
	t.Run("inside an ignored directory", func(t *testing.T) {
		tree := copied(t, filepath.Join(source, "node_modules", "m"), nil)
		put(t, tree.Dir(), "i.js", "2\n")
		equal(t, []string{"modified i.js"}, kinds(difference(t, tree)))
	})
	t.Run("repository that would run a program", func(t *testing.T) {
		mark := filepath.Join(t.TempDir(), "ran")
		hook := filepath.Join(t.TempDir(), "hook")
		put(t, filepath.Dir(hook), "hook", "+x #!/bin/sh\ntouch "+mark+"\n")
		cmd := exec.Command("git", "config", "core.fsmonitor", hook)
		cmd.Dir = source
		must(t, cmd.Run())
		tree := copied(t, source, nil)
		meddle(tree.Dir())
		equal(t, want, kinds(difference(t, tree)))
		if _, err := os.Lstat(mark); err == nil {
			t.Error("the repository's program was run")
		}
	})
}
