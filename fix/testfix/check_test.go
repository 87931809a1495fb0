package testfix_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
		says   string
		err    string
	}{
		"passes":     {map[string]string{"m_test.go": sound}, 1, nil, "", ""},
		"no tests":   {nil, 0, nil, "", "write a failing test first"},
		"none picks": {map[string]string{"m_test.go": "package m\n"}, 0, nil, "", "write a failing test first"},
		"tags":       {map[string]string{"m_test.go": "//go:build linux && slow\n\n" + sound}, 0, nil, "", `"go test -tags TAG ./..."`},
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
`}, 1, nil, "left out, since they fail in the copy alone: example.com/m.TestHome; ", ""},
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
`}, 1, nil, "", ""},
	} {
		dir := filepath.Join(home, name)
		write(t, dir, map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "m.go": "package m\n"})
		write(t, dir, c.files)
		f := open(t, dir, mechanic.New(), &testfix.Options{Test: []string{"env", "ONE=1", "go", "test", "./..."}, Env: []string{"TWO=2"}})
		got, err := f.Check(t.Context(), nil)
		if c.err == "" && err != nil || c.err != "" && (!errors.Is(err, testfix.ErrNoTests) || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		if c.err == "" && (got.Passed != c.passed || !slices.Equal(got.Open, c.open) || !strings.HasPrefix(strings.Join(got.Says, "\n"), c.says)) {
			t.Errorf("%s: %+v, want %d passed, open %v, %q", name, got, c.passed, c.open, c.says)
		}
	}
}
