package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Of what git ignores a directory that holds much is not copied; tests in the copy find it all the
// same, and neither it nor what they do to it is a difference or comes to harm when the copy goes.
func TestMuchIgnored(t *testing.T) {
	source := gitProject(t)
	n := mostIgnored + 1
	if os.Getenv("PAWL_PROOF") != "" {
		n = 50_000
	}
	dir := filepath.Join(source, "node_modules")
	for i := range n {
		if i%500 == 0 {
			must(t, os.MkdirAll(filepath.Join(dir, fmt.Sprint(i/500)), 0o755))
		}
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i/500), fmt.Sprint(i)), nil, 0o644))
	}
	before := read(t, source)
	tree := copied(t, source, nil)
	copies := 0
	must(t, filepath.WalkDir(tree.Dir(), func(string, fs.DirEntry, error) error { copies++; return nil }))
	if copies > 20 {
		t.Errorf("the copy has %d entries", copies)
	}
	there, err := os.ReadDir(filepath.Join(tree.Dir(), "node_modules", "1"))
	if err != nil || len(there) != 500 {
		t.Errorf("%d of 500 files are found from the copy, %v", len(there), err)
	}
	if d := difference(t, tree); !d.Empty() || len(d.LeftOut) > 0 {
		t.Errorf("differs: %v, left out %v", kinds(d), d.LeftOut)
	}

	put(t, tree.Dir(), "a.go", "package b\n")
	must(t, os.Remove(filepath.Join(tree.Dir(), "node_modules"))) // the link
	put(t, tree.Dir(), "node_modules/new.js", "1\n")
	tree, err = Open(tree.StateDir())
	must(t, err)
	d := difference(t, tree)
	equal(t, []string{"modified a.go"}, kinds(d))
	must(t, tree.Apply(d))
	must(t, tree.Close())
	before["a.go"] = "package b\n"
	equal(t, before, read(t, source))
}
