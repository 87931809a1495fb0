package testrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/process"
)

const (
	goTimeout      = time.Minute
	commandTimeout = 10 * time.Minute
	leastTimeout   = 5 * time.Second
	patience       = 5 // times the slowest package of the first run
	outputLimit    = 6 << 10
	grace          = 700 * time.Millisecond
)

// Guess returns the test command of a project.
func Guess(dir string) ([]string, error) {
	has := func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	}
	if has("go.mod") {
		return []string{"go", "test", "./..."}, nil
	}
	if slices.ContainsFunc([]string{"pytest.ini", "pyproject.toml", "conftest.py", "tests/conftest.py", "tox.ini", "setup.py"}, has) {
		return guessPytest(dir)
	}
	return nil, fmt.Errorf("how to test %s cannot be guessed: it has no go.mod and no pyproject.toml, pytest.ini or conftest.py; name the project's directory, or the command that runs the tests", dir)
}

// Suite runs the tests of a directory.
type Suite struct {
	Dir     string
	Argv    []string
	golang  bool
	Pytest  int    // what follows the word pytest in argv; zero: it is another command
	own     bool   // the command has a -timeout of its own
	xml     string // where pytest puts its report
	Module  string // the path of the Go module in the directory; empty: there is none
	timeout time.Duration
	Cap     time.Duration // for later runs of go test; zero before the first
	Env     []string
	Least   int64                      // bytes of memory that stay available; zero: see guard
	Trial   bool                       // a program has changed the code: the build and the output have limits
	Seen    func(packages, failed int) // called while go test runs, as packages end; may be nil
}

// New returns the suite of a directory, whose state is kept in another. The timeout is that of one
// package, or of a command other than go test; zero: see the constants.
func New(dir string, argv, env []string, timeout time.Duration, state string) (*Suite, error) {
	program := argv[0]
	if strings.ContainsRune(program, '/') && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	if _, err := exec.LookPath(program); err != nil {
		return nil, fmt.Errorf("test command %s: %w; paths start at the project's root", argv[0], errors.Unwrap(err))
	}
	s := &Suite{Dir: dir, Argv: argv, timeout: timeout, Env: environment(state, env)}
	if s.golang = IsGoTest(argv); s.golang {
		gomod, _ := os.ReadFile(filepath.Join(dir, "go.mod")) // without it the places in failures are base names
		if m := modulePath.FindSubmatch(gomod); m != nil {
			s.Module = string(m[1])
		}
		s.own = hasFlag(argv[2:], "timeout")
	} else if s.Pytest = afterPytest(argv); s.Pytest > 0 {
		s.xml = filepath.Join(state, "pytest.xml")
		s.Env = append(s.Env, PythonPath(dir))
	}
	if s.timeout <= 0 {
		s.timeout = commandTimeout
		if s.golang {
			s.timeout = goTimeout
		}
	}
	return s, nil
}

// modulePath is the directive of a go.mod that names the module; see https://go.dev/ref/mod#go-mod-file-module.
var modulePath = regexp.MustCompile("(?m)^module\\s+[\"`]?([^\\s\"`]+)")

// Named reports whether each of the tests has a verdict of its own.
func (s *Suite) Named() bool { return s.golang || s.Pytest > 0 }

// environment is the environment of the tests: few variables, and all that configure the
// toolchain. A variable that merely begins with GO, such as a cloud provider's credentials,
// is not passed, unless it is among own.
func environment(state string, own []string) []string {
	// Python takes a compiled file for current by the time, to the second, and
	// the size of its source, and two edits may agree in both.
	extra := []string{"PYTHONDONTWRITEBYTECODE=1", "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "PYENV_VERSION", "CC", "CXX", "FC", "AR", "PKG_CONFIG", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TZ"}
	cached := false
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "GO") && !strings.HasPrefix(name, "GOOGLE") || strings.HasPrefix(name, "CGO_") {
			extra = append(extra, name)
		}
		switch name {
		case "HOME", "XDG_CACHE_HOME", "GOCACHE":
			cached = cached || value != ""
		}
	}
	if !cached {
		extra = append(extra, "GOCACHE="+filepath.Join(state, "gocache"))
	}
	return process.CleanEnv(append(extra, own...)...)
}

// Result is what one run of the tests brought.
type Result struct {
	Report gotest.Report // of go test and pytest
	Exit   process.Exit
	Output string // of any other command
	Golang bool
	Pytest bool
	Limit  time.Duration // the time limit of a package's tests
	Took   time.Duration
	Filled bool     // it was stopped for filling memory
	Flaky  []string // failed and are left out, since they do so by chance
}

// Named reports whether each test has a verdict of its own.
func (n Result) Named() bool { return n.Golang || n.Pytest }

// Run runs the tests; a pattern that is not empty picks among those of go test.
func (s *Suite) Run(ctx context.Context, pattern string) (Result, error) {
	began := time.Now()
	now, err := s.Once(ctx, s.Argv, pattern)
	now.Took = time.Since(began)
	return now, err
}

// Once runs a form of the test command.
func (s *Suite) Once(ctx context.Context, command []string, pattern string) (Result, error) {
	switch {
	case s.golang:
		return s.runGo(ctx, command, pattern)
	case s.Pytest > 0:
		return s.runPytest(ctx, pattern)
	case pattern != "":
		return Result{}, fmt.Errorf("%s cannot select tests; leave out run", s.Argv[0])
	}
	return s.output(ctx, s.Argv)
}

// output runs a command, no longer than the time-out, and returns its exit and what it printed.
func (s *Suite) output(ctx context.Context, argv []string) (Result, error) {
	timed, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	inner, end := context.WithCancelCause(timed)
	defer end(nil)
	out := display.NewBuffer(outputLimit)
	exit, err := process.Run(inner, s.process(inner, end, argv, out))
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return Result{}, fmt.Errorf("run the tests: %w", err)
	}
	filled := errors.Is(context.Cause(inner), errMemory)
	return Result{Exit: exit, Limit: s.timeout, Filled: filled, Output: strings.ReplaceAll(out.String(), s.Dir+"/", "")}, nil
}

// process is a command whose memory is watched.
func (s *Suite) process(ctx context.Context, end context.CancelCauseFunc, argv []string, w io.Writer) process.Command {
	return process.Command{
		Argv: argv, Dir: s.Dir, Env: s.Env, Stdout: w, Stderr: w, Grace: grace,
		Started: func(int) { go guard(ctx, s.Least, end) },
	}
}

// With returns a form of a go test command with more flags.
func With(command []string, flags ...string) []string {
	return slices.Insert(slices.Clone(command), 2, flags...)
}
