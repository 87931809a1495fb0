package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/testkit/check"
)

func TestSurroundings(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"ws/go.work":   "go 1.26\n\nuse ./group/app // this one\nuse (\n\t./lib\n\t\"../far away\"\n\t/abs\n)\nreplace example.com/x => ../x\n",
		"ws/go.mod":    "module example.com/ws\n",
		"ws/part/a.go": "package part\n",
		"ws/group/app/go.mod": "module example.com/app\n\nrequire example.com/lib v0.0.0 // => ../comment\n\nreplace (\n\texample.com/lib v0.0.0 => ../lib\n" +
			"\texample.com/in => ./in\n\texample.com/fork => example.com/other v1.2.3\n)\nreplace example.com/y => ../../y\nexclude example.com/z v1.0.0\n",
		"alone/go.mod": "module example.com/alone\n",
	} {
		write(t, filepath.Join(root, name), text)
	}
	for dir, want := range map[string][]string{
		"ws/group/app": {"../lib", "../../y", "../../", "../../lib", "../../../far away", "../../../x"},
		"ws/part":      {"../", "../group", "../lib", "../../far away", "../../x"},
		"alone":        nil,
	} {
		if d := cmp.Diff(want, surroundings(filepath.Join(root, dir))); d != "" {
			t.Errorf("%s: %s", dir, d)
		}
	}
	t.Setenv("GOWORK", "off")
	if d := cmp.Diff([]string{"../"}, surroundings(filepath.Join(root, "ws/part"))); d != "" {
		t.Errorf("without a workspace: %s", d)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// What is around a module is found from the copy by the same relative paths, and outlives the copy.
func TestCopyOf(t *testing.T) {
	world := map[string]string{
		"ws/go.work": "go 1.26\n\nuse ./group/app\nuse ./lib\n", "ws/big": string(make([]byte, 2<<20)), "ws/.git/HEAD": "x\n",
		"ws/lib/a.go": "package lib\n", "ws/lib/deep/b.go": "package deep\n", "ws/other/c.go": "package other\n",
		"ws/group/app/go.mod":  "module example.com/app\n\nreplace (\n\texample.com/near => ../near/deeper\n\texample.com/far => ../../../far\n\texample.com/gone => ../gone\n\texample.com/in => ./in\n)\n",
		"ws/group/app/in/d.go": "package in\n", "ws/group/near/deeper/e.go": "package deeper\n", "ws/group/unasked/f.go": "package unasked\n",
		"far/g.go": "package far\n", "unasked/h.go": "package unasked\n",
	}
	for work, c := range map[string]struct{ there, absent []string }{
		"": {[]string{"in/d.go", "../near/deeper/e.go", "../../../far/g.go", "../../go.work", "../../big", "../../lib/deep/b.go", "../../other/c.go"},
			[]string{"../gone", "../unasked", "../../../unasked", "../../.git/HEAD"}},
		"off": {[]string{"../near/deeper/e.go", "../../../far/g.go"}, []string{"../unasked", "../../go.work", "../../lib"}},
	} {
		t.Setenv("GOWORK", work)
		root, err := filepath.EvalSymlinks(t.TempDir())
		must(t, err)
		for name, text := range world {
			write(t, filepath.Join(root, name), text)
		}
		tree, err := copyOf(t.Context(), filepath.Join(root, "ws/group/app"), t.TempDir())
		must(t, err)
		for _, p := range c.there {
			want, err := os.ReadFile(filepath.Join(tree.Source(), p))
			must(t, err)
			if got, err := os.ReadFile(filepath.Join(tree.Dir(), p)); err != nil || string(got) != string(want) {
				t.Errorf("GOWORK=%s: %s: %v", work, p, err)
			}
		}
		for _, p := range c.absent {
			if _, err := os.Stat(filepath.Join(tree.Dir(), p)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("GOWORK=%s: %s: %v", work, p, err)
			}
		}
		must(t, tree.Close())
		for name, text := range world {
			if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != text {
				t.Errorf("GOWORK=%s: after the copy was removed: %s: %v", work, name, err)
			}
		}
	}
}

var must = check.Must
