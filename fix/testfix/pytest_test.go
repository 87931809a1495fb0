package testfix_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
)

const inventory = `def take(stock, name, n):
    if stock[name] <= n:
        raise ValueError(f"only {stock[name]} of {name}")
    stock[name] -= n
`

const testInventory = `import pytest

from inventory import take


def test_all():
    stock = {"nut": 3}
    take(stock, "nut", 3)
    assert stock == {"nut": 0}


class TestTake:
    @pytest.mark.parametrize("n", [1, 2])
    def test_some(self, n):
        stock = {"nut": 3}
        take(stock, "nut", n)
        assert stock["nut"] == 3 - n

    def test_too_many(self):
        with pytest.raises(ValueError):
            take({"nut": 3}, "nut", 4)
`

// pythonProject is one whose modules are beneath src, which pytest has in its
// path only because the suite sees to it.
func pythonProject(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "inventory")
	write(t, dir, map[string]string{
		"pyproject.toml": "[project]\nname = \"inventory\"\n", "src/inventory.py": inventory, "tests/test_inventory.py": testInventory,
	})
	return dir
}

func TestPytest(t *testing.T) {
	argv := []string{"pytest"}
	if exec.Command("pytest", "--version").Run() != nil {
		argv = []string{"/usr/bin/python3", "-m", "pytest"}
		if exec.Command(argv[0], "-m", "pytest", "--version").Run() != nil {
			if os.Getenv("CI") != "" {
				t.Fatal("there is no pytest to run tests with; CI has to have one")
			}
			t.Skip("there is no pytest to run tests with")
		}
	}
	dir := pythonProject(t)
	f := open(t, dir, scripted(
		args{"path": "src/inventory.py", "old": "<= n", "new": "> n"},
		args{"path": "src/inventory.py", "old": "> n", "new": "!= n"},
		args{"path": "src/inventory.py", "old": "!= n", "new": "< n"},
	), &testfix.Options{Test: argv})
	text := observeOnce(t, f)
	want := "FAIL: 3 passed, 1 failed, 0 skipped in 1 files\n- tests/test_inventory.py::test_all (test)\n"
	if !strings.HasPrefix(text, want) || !strings.Contains(text, "at tests/test_inventory.py:8, src/inventory.py:3\n") {
		t.Errorf("the observation is %q, want it to begin %q and to say where", text, want)
	}
	for run, want := range map[string]string{
		"tests/test_inventory.py::test_all": "FAIL: 0 passed, 1 failed, 0 skipped in 1 files",
		"some":                              "ok: 2 passed, 0 failed, 0 skipped in 1 files",
	} {
		if got, err := use(t, f, "run_tests", args{"run": run}); err != nil || !strings.Contains(got, want) {
			t.Errorf("run_tests %s = %s, %v, want %s", run, got, err, want)
		}
	}
	result := drive(t, f)
	if result.Status != pawl.StatusSuccess || result.Iterations != 3 {
		t.Errorf("status %v after %d iterations, want success after 3", result.Status, result.Iterations)
	}
	out, err := f.Finish(t.Context(), result.Status)
	d := out.Diff
	if diff := cmp.Diff([]string{"src/inventory.py"}, d.Files()); err != nil || diff != "" {
		t.Errorf("files changed: %v (-want +got):\n%s", err, diff)
	}
	for name := range snapshot(t, f.Dir()) {
		if strings.HasSuffix(name, ".pyc") {
			t.Errorf("pytest left %s, which may mislead", name)
		}
	}
}

// The output of a runner is read in the same way whatever starts it, so the rest needs no
// Python: a program that copies a file stands in for pytest.
func TestPytestReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	write(t, dir, map[string]string{
		"pytest": "#!/bin/sh\nfor a; do case $a in --junitxml=*) out=${a#*=};; esac; done\n" +
			"echo \"$*\"; [ -f say.xml ] && cp say.xml \"$out\"; exit $(cat code)\n",
		"code": "4\n", "a.py": "\n",
	})
	must(t, os.Chmod(filepath.Join(dir, "pytest"), 0o755))
	f := open(t, dir, mechanic.New(), &testfix.Options{Test: []string{"./pytest", "tests"}})
	edits := 0
	say := func(code, cases string) string {
		t.Helper()
		files := map[string]string{"code": code + "\n"}
		if cases != "" {
			files["say.xml"] = "<testsuites><testsuite>" + cases + "</testsuite></testsuites>"
		}
		write(t, f.Dir(), files)
		edits++ // so that the tests run again
		if _, err := use(t, f, "write_file", args{"path": "a.py", "content": fmt.Sprintf("x = %d\n", edits)}); err != nil {
			t.Fatal(err)
		}
		return observeOnce(t, f)
	}
	const pass = `<testcase file="t.py" classname="t" name="a"/><testcase file="u.py" classname="u" name="b"/>`
	for _, c := range []struct{ name, code, cases, want string }{
		{"no report", "4", "", "- [pytest] (setup)\n"},
		{"what it is asked", "4", "", "-q --junitxml="},
		{"all pass", "0", pass, "ok: 2 passed, 0 failed, 0 skipped in 2 files\n"},
		{"an exit code without a reason", "3", pass, "No test failed, but the test command ended with exit 3.\n"},
	} {
		if text := say(c.code, c.cases); !strings.Contains(text, c.want) {
			t.Errorf("%s: the observation is %q, want %q", c.name, text, c.want)
		}
	}

	write(t, dir, map[string]string{"code": "5\n", "say.xml": "<testsuite/>"})
	f = open(t, dir, mechanic.New(), &testfix.Options{Test: []string{"./pytest"}})
	if text := observeOnce(t, f); !strings.Contains(text, "No test ran, so nothing is proved.\n") {
		t.Errorf("the observation of no tests is %q", text)
	}

	write(t, dir, map[string]string{"code": "0\n", "say.xml": "<testsuite>" + pass + "</testsuite>"})
	f = open(t, dir, mechanic.New(), &testfix.Options{Test: []string{"./pytest"}})
	if text := observeOnce(t, f); !strings.HasPrefix(text, "ok: 2 passed") {
		t.Errorf("the observation is %q, want ok", text)
	}
	const broken = `<testcase file="u.py" classname="" name="u"><error message="collection failure">u.py:1: in &lt;module&gt;</error></testcase>`
	text := say("2", broken)
	for _, want := range []string{"- u.py (setup)\n", "* t.py::a\n", "* u.py::b\n"} { // a file that is not run passes nothing
		if !strings.Contains(text, want) {
			t.Errorf("the observation is %q, want %q", text, want)
		}
	}
}

// A project says by its files how it is tested.
func TestGuess(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no Python; CI has to have one")
		}
		t.Skip("there is no Python")
	}
	f := open(t, pythonProject(t), mechanic.New(), nil)
	argv := f.Source().Test
	if last := argv[len(argv)-1]; filepath.Base(last) != "pytest" {
		t.Errorf("a project with a pyproject.toml is tested with %q, want pytest", argv)
	}
	empty := t.TempDir()
	if _, err := testfix.New(t.Context(), empty, mechanic.New(), testfix.Choices{}, nil); err == nil || !strings.Contains(err.Error(), "cannot be guessed") {
		t.Errorf("a directory with nothing in it: %v, want that it cannot be guessed", err)
	}
}
