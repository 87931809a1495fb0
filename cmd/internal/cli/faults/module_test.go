package faults

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// proof reports whether everything is to be run.
func proof() bool { return os.Getenv("PAWL_PROOF") != "" }

// A module is an archive of the corpus.
type module struct {
	name, head string
	files      map[string]string // with the fault
	right      map[string]string // what is different without it
}

func parse(t testing.TB, file string) module {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := module{
		name: strings.TrimSuffix(filepath.Base(file), ".txtar"), head: string(a.Comment),
		files: map[string]string{}, right: map[string]string{},
	}
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, "right/"); ok {
			m.right[name] = string(f.Data)
		} else {
			m.files[f.Name] = string(f.Data)
		}
	}
	return m
}

func corpus(t testing.TB) []module {
	t.Helper()
	files, err := filepath.Glob("../../../../testdata/faults/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []module
	for _, f := range files {
		all = append(all, parse(t, f))
	}
	return all
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// needGo skips without the go command, which CI must have.
func needGo(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("go")
	if err == nil {
		return path
	}
	if os.Getenv("CI") != "" {
		t.Fatal("the go command is not here, and CI must have it")
	}
	t.Skip("there is no go command to run tests with")
	return ""
}

// tests runs the tests of a module as anybody would.
func tests(t testing.TB, dir string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-timeout=20s", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// print of a tree: for each path its type and permissions, for a file its
// content and time, for a link its target. The times of directories are left
// out, and the database of git, into which git itself writes.
func print(t testing.TB, dir string) map[string]string {
	t.Helper()
	paths := map[string]string{}
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(at)
			if err != nil {
				return err
			}
			what += fmt.Sprintf(" %x %v", sha256.Sum256(data), info.ModTime().UnixNano())
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			if err != nil {
				return err
			}
			what += " " + target
		}
		paths[filepath.ToSlash(rel)] = what
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// differing are the paths that are not the same in two prints.
func differing(a, b map[string]string) []string {
	paths := map[string]bool{}
	for p := range a {
		paths[p] = a[p] != b[p]
	}
	for p := range b {
		paths[p] = a[p] != b[p]
	}
	maps.DeleteFunc(paths, func(_ string, differs bool) bool { return !differs })
	return slices.SortedFunc(maps.Keys(paths), cmp.Compare[string])
}
