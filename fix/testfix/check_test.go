package testfix_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
)

const sound = "package m\n\nimport \"testing\"\n\nfunc TestSound(*testing.T) {}\n"

// What no edit can help is said before a model is asked.
func TestCheck(t *testing.T) {
	needsGo(t)
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	for name, c := range map[string]struct {
		files  map[string]string
		passed int
		open   []string
		away   []string
		err    string
	}{
		"passes":     {map[string]string{"m_test.go": sound}, 1, nil, nil, ""},
		"no tests":   {nil, 0, nil, nil, "no _test.go file"},
		"none picks": {map[string]string{"m_test.go": "package m\n"}, 0, nil, nil, "runs none of their tests"},
		"tags":       {map[string]string{"m_test.go": "//go:build linux && slow\n\n" + sound}, 0, nil, nil, `"go test -tags TAG ./..."`},
		"at home": {map[string]string{"m_test.go": sound, "home_test.go": `package m

import (
	"os"
	"strings"
	"testing"
)

func TestHome(t *testing.T) {
	if dir, _ := os.Getwd(); !strings.HasSuffix(dir, "` + filepath.ToSlash(filepath.Join(home, "at home")) + `") {
		t.Error(dir)
	}
}
`}, 1, nil, []string{"example.com/m.TestHome"}, ""},
		"variable": {map[string]string{"m_test.go": `package m

import (
	"os"
	"testing"
)

func TestSet(t *testing.T) {
	if os.Getenv("ONE")+os.Getenv("TWO") != "12" {
		t.Error("not set")
	}
}
`}, 1, nil, nil, ""},
	} {
		dir := filepath.Join(home, name)
		write(t, dir, map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "m.go": "package m\n"})
		write(t, dir, c.files)
		f := open(t, dir, mechanic.New(), &testfix.Options{Test: []string{"env", "ONE=1", "go", "test", "./..."}, Env: []string{"TWO=2"}})
		got, err := f.Check(t.Context(), nil)
		if c.err == "" && err != nil || c.err != "" && (!errors.Is(err, testfix.ErrNoTests) || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		if c.err == "" && (got.Passed != c.passed || !slices.Equal(got.Open, c.open) || !slices.Equal(got.Elsewhere, c.away)) {
			t.Errorf("%s: %+v, want %d passed, open %v, elsewhere %v", name, got, c.passed, c.open, c.away)
		}
	}
}

// A module in a directory of the project is fixed by itself, and its diff is the project's.
func TestModules(t *testing.T) {
	needsGo(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "p")
	write(t, dir, map[string]string{
		"go.mod": "module example.com/p\n\ngo 1.26\n\nrequire example.com/tools v0.0.0\n\nreplace example.com/tools => ./tools\n", "p_test.go": strings.Replace(sound, "package m", "package p", 1),
		"tools/go.mod": "module example.com/tools\n\ngo 1.26\n", "tools/m.go": "package m\n\nfunc Two() int { return 3 }\n",
		"tools/m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Error(Two())\n\t}\n}\n",
		"used/go.mod":     "module example.com/used\n\ngo 1.26\n", "used/m_test.go": sound,
		"bare/go.mod": "module example.com/bare\n\ngo 1.26\n", "bare/m.go": "package m\n",
		"go.work": "go 1.26\n\nuse (\n\t.\n\t./used\n)\n", "testdata/x/go.mod": "module example.com/x\n", "testdata/x/x_test.go": sound,
	})
	modules, err := testfix.Modules(dir)
	if d := cmp.Diff([]string{"tools", ".", "used"}, modules); err != nil || d != "" {
		t.Errorf("%v, modules (-want +got):\n%s", err, d)
	}
	f := open(t, dir, mechanic.New(), &testfix.Options{Test: []string{"go", "test", "-C", "tools", "./..."}, Env: []string{"GOWORK=off"}})
	if _, err := use(t, f, "edit_file", args{"path": "m.go", "old": "return 3", "new": "return 2"}); err != nil {
		t.Fatal(err)
	}
	if text := observeOnce(t, f); !strings.HasPrefix(text, "ok: ") {
		t.Errorf("the observation is %q", text)
	}
	d, err := f.Diff(t.Context())
	if err != nil || !slices.Equal(d.Files(), []string{"tools/m.go"}) || !strings.Contains(d.String(), "\n--- a/tools/m.go\n+++ b/tools/m.go\n") {
		t.Errorf("%v, the diff is of %v:\n%s", err, d.Files(), d)
	}
	if err := f.Apply(d); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "tools", "m.go")); err != nil || !strings.Contains(string(text), "return 2") {
		t.Errorf("%v, applied: %s", err, text)
	}
	for _, test := range [][]string{{"go", "test", "-C", "../p"}, {"go", "test", "-C"}, {"X=1"}, {"go", "-C", "nosuch", "test"}} {
		if _, err := testfix.New(t.Context(), dir, mechanic.New(), &testfix.Options{Test: test}); err == nil {
			t.Errorf("%q: no error", test)
		}
	}
}
