package testfix_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
)

// An import that a change needs is no change of its own, since the code does not build without it.
func TestImportsOfAChange(t *testing.T) {
	const before = "package m\n\nfunc Half(n float64) float64 {\n\tif n < 0 {\n\t\treturn 0\n\t}\n\treturn n / 2\n}\n"
	after := strings.Replace(strings.Replace(before, "n < 0", "math.IsNaN(n) || n < 0", 1), "\n\n", "\n\nimport \"math\"\n\n", 1)
	list := testfix.HunksForTest("m.go", before, after)
	if len(list) != 1 || list[0] != before {
		t.Errorf("%q, want one change, and the project without it", list)
	}
	if list := testfix.HunksForTest("m.go", before, strings.Replace(after, "n / 2", "n / 3", 1)); len(list) != 3 {
		t.Errorf("%d changes, want 3, since the import may belong to either", len(list))
	}
}

// A fix is more than plausible only if the tests tell it from other edits.
func TestAppraise(t *testing.T) {
	needsGo(t)
	t.Parallel()
	const weak = "package m\n\nimport \"testing\"\n\nfunc TestMax(t *testing.T) {\n\tif got := Max(1, 2); got != 2 {\n\t\tt.Errorf(\"got %d, want 2\", got)\n\t}\n}\n"
	const strong = `package m

import "testing"

func FuzzMax(f *testing.F) {
	f.Fuzz(func(t *testing.T, a, b int) { t.Log(Max(a, b)) })
}

func TestMax(t *testing.T) {
	_ = []int{0, 0}
	for _, c := range []struct{ a, b, want int }{{1, 2, 2}, {2, 1, 2}, {-3, -4, -3}, {0, 0, 0}, {7, 9, 9}, {-1, 4, 4}, {5, -6, 5}} {
		if got := Max(c.a, c.b); got != c.want {
			t.Errorf("Max(%d, %d) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
`
	for name, c := range map[string]struct {
		test      string
		edit      args
		also      args
		plausible bool
		kind      string
		says      string
	}{
		"weak":    {weak, args{"path": "m.go", "old": "return a\n\t}", "new": "return b\n\t}"}, nil, true, "other", "a > b"},
		"unbuilt": {weak, args{"path": "m.go", "old": "return a\n\t}", "new": "return b\n\t}"}, nil, true, "none", "could not be seen"},
		"strong":  {strong, args{"path": "m.go", "old": "a < b", "new": "a > b"}, nil, false, "neighbours", "none makes every test pass"},
		"copied":  {strings.Replace(weak, "2)", "42)", 1), args{"path": "m.go", "old": "return a\n\t}", "new": "return 2\n\t}"}, nil, true, "copied", "value 2"},
		"useless": {strong, args{"path": "m.go", "old": "a < b", "new": "a > b"}, args{"path": "m.go", "old": "// Max", "new": "// Max, which"}, true, "removal", "no test notices"},
	} {
		if testing.Short() && name != "weak" { // which also compares programs, several inputs at once
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "m")
			write(t, dir, map[string]string{
				"go.mod":    "module example.com/m\n\ngo 1.26\n",
				"m.go":      "// Package m compares.\npackage m\n\n// Max returns the larger.\nfunc Max(a, b int) int {\n\tif a < b {\n\t\treturn a\n\t}\n\treturn b\n}\n",
				"m_test.go": c.test,

				"testdata/fuzz/FuzzMax/seed": "go test fuzz v1\nint(-3000)\nint(3000)\n",
			})
			o := &testfix.Options{}
			if name == "unbuilt" { // a go command that builds no tests to compare programs with
				o.Test = []string{filepath.Join(t.TempDir(), "go"), "test", "./..."}
				write(t, filepath.Dir(o.Test[0]), map[string]string{"go": "#!/bin/sh\ncase \"$*\" in *overlay=*/probe-*) exit 1;; esac\nexec go \"$@\"\n"})
				if err := os.Chmod(o.Test[0], 0o700); err != nil {
					t.Fatal(err)
				}
			}
			f := open(t, dir, mechanic.New(), o)
			observeOnce(t, f)
			for _, e := range []args{c.edit, c.also} {
				if e == nil {
					continue
				}
				if _, err := use(t, f, "edit_file", e); err != nil {
					t.Fatal(err)
				}
			}
			got, err := f.Appraise(t.Context())
			if err != nil || got.Plausible != c.plausible {
				t.Fatalf("%v, %+v, want plausible %v", err, got, c.plausible)
			}
			if name == "strong" {
				at := func(file string) bool {
					return slices.ContainsFunc(got.Changes, func(c testfix.Changed) bool { return strings.HasPrefix(c.At, file) && c.Before != c.Now })
				}
				if got.Confidence() != 0.9 || !at("m_test.go:") || !at("testdata/fuzz/FuzzMax/seed:1") {
					t.Errorf("confidence %v, it changes %+v", got.Confidence(), got.Changes)
				}
			}
			for i, c := range got.Changes {
				if slices.Contains(got.Changes[:i], c) {
					t.Errorf("it says twice what changes: %+v", c)
				}
			}
			if got.Plausible && got.Confidence() > 0.5 {
				t.Errorf("it is plausible, with a confidence of %v", got.Confidence())
			}
			for _, e := range got.Evidence {
				if e.Kind == c.kind && strings.Contains(e.Says, c.says) {
					if got.Confidence() != 0.5 && name == "unbuilt" {
						t.Errorf("what is not known gives a confidence of %v", got.Confidence())
					}
					return
				}
			}
			t.Errorf("no evidence %q that says %q: %+v", c.kind, c.says, got.Evidence)
		})
	}
}
