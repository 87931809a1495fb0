package testrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/junit"
	"github.com/pawl-run/pawl/internal/process"
)

// noReport is the identity of a run of pytest that wrote no report: its command
// line is wrong, or a conftest.py or a plugin broke it.
const noReport = "[pytest]"

// guessPytest is how to run the tests of a Python project here.
func guessPytest(dir string) ([]string, error) {
	if _, err := exec.LookPath("pytest"); err == nil {
		return []string{"pytest"}, nil
	}
	for _, python := range []string{"python3", "python"} {
		if _, err := exec.LookPath(python); err == nil {
			return []string{python, "-m", "pytest"}, nil
		}
	}
	return nil, fmt.Errorf("%s looks like a Python project, but neither pytest nor python3 is in PATH; install pytest, or name the command that runs the tests", dir)
}

// runners are programs that run the command in their arguments, or a module of
// Python's; others, such as make, would not know pytest's flags.
var runners = []string{"uv", "uvx", "poetry", "pipenv", "pdm", "hatch", "rye", "coverage", "env", "nice", "timeout"}

// afterPytest returns where the arguments of pytest begin in a command that
// runs it; zero: it does not.
func afterPytest(argv []string) int {
	first := filepath.Base(argv[0])
	if !slices.Contains(runners, first) && !strings.HasPrefix(first, "py") {
		return 0
	}
	for i, a := range argv[:min(len(argv), 6)] {
		switch filepath.Base(a) {
		case "pytest", "py.test", "pytest-3":
			return i + 1
		}
	}
	return 0
}

// PythonPath has modules found in the copy before those of the project, which
// an editable installation (pip install -e) puts on the path.
func PythonPath(dir string) string {
	path := dir
	if info, err := os.Stat(filepath.Join(dir, "src")); err == nil && info.IsDir() {
		path += string(os.PathListSeparator) + filepath.Join(dir, "src")
	}
	return "PYTHONPATH=" + path
}

func (s *Suite) runPytest(ctx context.Context, pattern string) (Result, error) {
	if err := os.Remove(s.xml); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Result{}, fmt.Errorf("run the tests: %w", err)
	}
	argv := slices.Clone(s.Argv)
	switch {
	case strings.Contains(pattern, "::"): // one test, in place of what is named
		argv = append(argv[:s.Pytest], pattern)
	case pattern != "":
		argv = append(argv, "-k", pattern)
	}
	argv = slices.Insert(argv, s.Pytest, "-q", "--junitxml="+s.xml, "-o", "junit_family=xunit1")
	now, err := s.output(ctx, argv)
	if err != nil {
		return now, err
	}
	now.Pytest, now.Report = true, s.readPytest(now.Exit, now.Output)
	return now, nil
}

// readPytest reads pytest's report; without a report it uses the output.
func (s *Suite) readPytest(exit process.Exit, output string) gotest.Report {
	f, err := os.Open(s.xml)
	if err == nil {
		var read gotest.Report
		read, err = junit.Parse(f, s.Dir)
		_ = f.Close() // it was only read
		if err == nil {
			return read
		}
	}
	return gotest.Report{Failed: 1, Failures: []gotest.Failure{{
		ID: noReport, Kind: gotest.KindSetup, Output: fmt.Sprintf("pytest ended with %s and wrote no report:\n%s", exit, output),
	}}}
}

// NoPytest says how to get pytest, if a run shows that it is missing.
func NoPytest(r gotest.Report, test []string) error {
	for _, f := range r.Failures {
		if strings.Contains(f.Output, "No module named pytest") {
			return fmt.Errorf("No module named pytest: install it with %q, or name the command that runs the tests", test[0]+" -m pip install pytest") //nolint:staticcheck // Python's own words
		}
	}
	return nil
}
