package testrun

import (
	"strings"
	"testing"
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
