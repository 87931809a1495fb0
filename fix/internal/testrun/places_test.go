package testrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAfterPytest(t *testing.T) {
	for command, want := range map[string]int{
		"pytest": 1, "./venv/bin/pytest tests": 1, "python3 -m pytest -x": 3, "uv run --frozen pytest": 4, "coverage run -m pytest": 4,
		"py.test": 1, "make pytest": 0, "sh pytest": 0, "go test pytest": 0, "python run.py": 0, "tox -e pytest": 0,
	} {
		if got := afterPytest(strings.Fields(command)); got != want {
			t.Errorf("the arguments of pytest in %q begin at %d, want %d", command, got, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"main.c", "src/lib.rs", "src/app.ts", "pkg/my file.py", "Sum.java", "t/sum.t"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &Suite{Dir: dir}
	for text, want := range map[string][]string{
		"main.c:12:5: error: expected ';'":                {"main.c:12"},
		"In file included from ./main.c:3,":               {"main.c:3"},
		"  --> src/lib.rs:4:9\nand src/lib.rs:4":          {"src/lib.rs:4"},
		"src/app.ts(7,13): error TS2322: no":              {"src/app.ts:7"},
		"\tat Sum.of(Sum.java:20)":                        {"Sum.java:20"},
		`  File "pkg/my file.py", line 3, in f`:           {"pkg/my file.py:3"},
		"#   at t/sum.t line 9.":                          {"t/sum.t:9"},
		"/usr/include/stdio.h:33: and ../main.c:1":        nil,
		"nowhere.c:1: and 12:30:01 and http://x.test:80/": nil,
	} {
		if d := cmp.Diff(want, s.places(text)); d != "" {
			t.Errorf("places in %q (-want +got):\n%s", text, d)
		}
	}
}
