package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// What is beside the project is found from the copy by the same relative paths,
// and outlives the copy.
func TestBeside(t *testing.T) {
	world := files{
		"ws/go.work": "1\n", "ws/big": string(make([]byte, 2<<20)), "ws/.git/HEAD": "x\n", "ws/lib/a.go": "a\n", "ws/lib/deep/b.go": "b\n",
		"ws/group/project/go.mod": "m\n", "ws/group/project/in/side": "i\n", "ws/group/near/c.go": "c\n", "ws/group/other": "o\n", "far/d.go": "d\n", "unasked/e.go": "e\n",
	}
	for name, c := range map[string]struct {
		beside        []string
		there, absent []string
	}{
		"nothing": {nil, nil, []string{"../near/c.go"}},
		"sibling": {[]string{"../near", "../near/deeper", "./in/side", "../project/in", "../gone"}, []string{"../near/c.go"}, []string{"../other", "../gone", "../../lib"}},
		"levels":  {[]string{"../near", "../../lib/deep", "../../../far"}, []string{"../near/c.go", "../../lib/deep/b.go", "../../lib/a.go", "../../../far/d.go"}, []string{"../../go.work", "../../../unasked"}},
		"parent": {[]string{"../..", "../../lib", ".."}, []string{"../../go.work", "../../big", "../../lib/a.go", "../near/c.go", "../other"},
			[]string{"../../.git/HEAD", "../../../far"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			world.write(t, root)
			tree := copied(t, filepath.Join(root, "ws/group/project"), &Options{Beside: c.beside})
			for _, p := range c.there {
				want, err := os.ReadFile(filepath.Join(tree.Source(), p))
				must(t, err)
				got, err := os.ReadFile(filepath.Join(tree.Dir(), p))
				if err != nil || string(got) != string(want) {
					t.Errorf("%s: %v", p, err)
				}
			}
			for _, p := range c.absent {
				if _, err := os.Stat(filepath.Join(tree.Dir(), p)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v", p, err)
				}
			}
			put(t, tree.Dir(), "go.mod", "n\n")
			tree, err := Open(tree.StateDir())
			must(t, err)
			d := difference(t, tree)
			equal(t, []string{"modified go.mod"}, kinds(d))
			must(t, tree.Apply(d))
			must(t, tree.Close())
			after := read(t, root)
			equal(t, "n\n", after["ws/group/project/go.mod"])
			after["ws/group/project/go.mod"] = "m\n"
			want := files{}
			for name, content := range world {
				if name != "ws/.git/HEAD" { // read leaves it out
					want[name] = content
				}
			}
			equal(t, want, after)
		})
	}
}
