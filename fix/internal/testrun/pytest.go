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
	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/internal/excerpt"
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
	inner, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := os.Remove(s.xml); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Result{}, fmt.Errorf("run the tests: %w", err)
	}
	argv := slices.Clone(s.Argv)
	switch {
	case strings.Contains(pattern, "::"): // one test, in place of the files named
		argv = slices.DeleteFunc(argv, func(a string) bool { return slices.Contains(s.Argv[s.Pytest:], a) && s.exists(a) })
		argv = append(argv, pattern)
	case pattern != "":
		argv = append(argv, "-k", pattern)
	}
	argv = slices.Insert(argv, s.Pytest, "-q", "--junitxml="+s.xml, "-o", "junit_family=xunit1")
	out := excerpt.New(outputLimit)
	exit, filled, err := s.start(inner, argv, out)
	switch {
	case ctx.Err() != nil:
		return Result{}, fmt.Errorf("run the tests: %w", context.Cause(ctx))
	case err != nil:
		return Result{}, fmt.Errorf("run the tests: %w", err)
	}
	now := Result{Exit: exit, Pytest: true, Limit: s.timeout, Filled: filled, Output: strings.ReplaceAll(out.String(), s.Dir+"/", "")}
	now.Report = s.readPytest(exit, now.Output)
	return now, nil
}

// readPytest reads pytest's report; without a report it uses the output.
func (s *Suite) readPytest(exit process.Exit, output string) gotest.Report {
	var read junit.Report
	f, err := os.Open(s.xml)
	if err == nil {
		read, err = junit.Parse(f, s.Dir)
		_ = f.Close() // it was only read
	}
	if err != nil {
		return gotest.Report{Failed: 1, Failures: []gotest.Failure{{
			ID: noReport, Kind: gotest.KindSetup, Output: fmt.Sprintf("pytest ended with %s and wrote no report:\n%s", exit, output),
		}}}
	}
	return fromJunit(read)
}

var fromStatus = map[junit.Status]gotest.Status{
	junit.Passed: gotest.StatusPass, junit.Skipped: gotest.StatusSkip, junit.Failed: gotest.StatusFail, junit.Errored: gotest.StatusFail,
}

// fromJunit converts a report of pytest into the form in which runs are compared: a file of
// tests counts as a package.
func fromJunit(in junit.Report) gotest.Report {
	r := gotest.Report{}
	files := map[string]*gotest.Package{}
	for _, c := range in.Cases {
		p := files[c.Suite()]
		if p == nil {
			p = &gotest.Package{Path: c.Suite(), Status: gotest.StatusPass, Join: "::"}
			files[c.Suite()] = p
		}
		if c.Test() != "" {
			p.Tests = append(p.Tests, gotest.Test{Name: c.Test(), Status: fromStatus[c.Status]})
		}
		switch c.Status {
		case junit.Passed:
			r.Passed++
			continue
		case junit.Skipped:
			r.Skipped++
			continue
		}
		p.Status = gotest.StatusFail
		f := gotest.Failure{ID: c.ID(), Package: c.Suite(), Test: c.Test(), Kind: gotest.KindTest, Output: c.Output}
		if c.Test() == "" {
			f.Kind = gotest.KindSetup
		}
		for _, l := range c.At {
			f.Locations = append(f.Locations, gotest.Location(l))
		}
		r.Failures = append(r.Failures, f)
	}
	for _, p := range files {
		slices.SortFunc(p.Tests, func(a, b gotest.Test) int { return strings.Compare(a.Name, b.Name) })
		r.Packages = append(r.Packages, *p)
	}
	slices.SortFunc(r.Packages, func(a, b gotest.Package) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(r.Failures, func(a, b gotest.Failure) int { return strings.Compare(a.ID, b.ID) })
	r.Failed = len(r.Failures)
	r.OK = len(r.Packages) > 0 && r.Failed == 0
	return r
}

// exists reports whether a path is a file or directory of the project.
func (s *Suite) exists(name string) bool {
	p, err := beneath.Local(name)
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(s.Dir, filepath.FromSlash(p)))
	return err == nil
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
