package testrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/process"
)

// IsGoTest reports whether a test command is go test, whose tests have names and separate
// verdicts.
func IsGoTest(argv []string) bool {
	return len(argv) > 1 && isGo(argv[0]) && argv[1] == "test"
}

func isGo(program string) bool { return filepath.Base(program) == "go" }

// hasFlag reports whether go test is called with a flag.
func hasFlag(args []string, name string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		flag, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		return strings.HasPrefix(a, "-") && strings.TrimPrefix(flag, "test.") == name
	})
}

// Bounds on one go command of these tools.
const (
	floodLimit = 64 << 20        // bytes of output; real tests print thousands of times less
	buildLimit = 5 * time.Minute // for a command that runs no tests
	trialLimit = 2 * time.Minute // for the build before the tests of a trial
)

var (
	errFlood = errors.New("it printed without end and was stopped")
	errStuck = errors.New("its tests did not end and were stopped")
)

// runGo runs go test -json. A pattern that is not empty picks among the tests.
func (s *Suite) runGo(ctx context.Context, command []string, pattern string) (Result, error) {
	limit := s.Longest()
	argv := slices.Clone(command[:2])
	if !hasFlag(command[2:], "json") {
		argv = append(argv, "-json")
	}
	if !hasFlag(command[2:], "count") {
		argv = append(argv, "-count=1") // cached results of tests that read the environment may be stale
	}
	if !s.own {
		argv = append(argv, "-timeout="+limit.String())
	}
	argv = append(argv, command[2:]...)
	if pattern != "" { // the last of several counts
		argv = beforeArgs(argv, "-run="+pattern)
	}
	now, slowest, err := s.tested(ctx, argv)
	if err != nil {
		return Result{}, fmt.Errorf("run the tests: %w", err)
	}
	if s.Cap == 0 && pattern == "" {
		s.Cap = min(s.timeout, max(leastTimeout, patience*slowest).Round(time.Second))
	}
	now.Golang, now.Limit = true, limit
	return now, nil
}

// beforeArgs adds a flag before the arguments of the test binaries.
func beforeArgs(argv []string, flag string) []string {
	at := slices.IndexFunc(argv, func(a string) bool { return a == "-args" || a == "--args" })
	if at < 0 {
		at = len(argv)
	}
	return slices.Insert(argv, at, flag)
}

// tested runs a command that prints what go test -json does. It also returns how long the slowest
// package took.
func (s *Suite) tested(ctx context.Context, argv []string) (Result, time.Duration, error) {
	inner, end := context.WithCancelCause(ctx)
	defer end(nil)
	output := int64(math.MaxInt64)
	if s.Trial { // the time-out of the tests does not count what runs before main
		timer := time.AfterFunc(trialLimit+s.Longest(), func() { end(errStuck) })
		defer timer.Stop()
		output = floodLimit
	}
	r, w := io.Pipe()
	var ends endings
	ends.seen = s.Seen
	var report gotest.Report
	var unread error
	done := make(chan struct{})
	go func() {
		defer close(done)
		from := &io.LimitedReader{R: r, N: output}
		if report, unread = gotest.Parse(from, s.Module, ends.add); from.N <= 0 {
			end(errFlood)
		}
		_, _ = io.Copy(io.Discard, r) // the command must not wait for a reader that gave up
	}()
	exit, err := process.Run(inner, s.process(inner, end, argv, w))
	_ = w.Close()
	<-done
	why := context.Cause(inner)
	switch {
	case ctx.Err() != nil:
		return Result{}, 0, context.Cause(ctx)
	case err != nil && why == nil:
		return Result{}, 0, err
	case unread != nil:
		return Result{}, 0, fmt.Errorf("read the tests' output: %w", unread)
	}
	return Result{Report: report, Exit: exit, Filled: errors.Is(why, errMemory)}, ends.slowest, nil
}

// endings counts the packages of a run as they end.
type endings struct {
	seen          func(packages, failed int) // may be nil
	ended, failed int
	slowest       time.Duration
}

func (n *endings) add(e gotest.Event) {
	if e.Action != "pass" && e.Action != "fail" || e.Test != "" || e.Package == "" {
		return
	}
	n.slowest = max(n.slowest, time.Duration(e.Elapsed*float64(time.Second)))
	if n.ended++; e.Action == "fail" {
		n.failed++
	}
	if n.seen != nil {
		n.seen(n.ended, n.failed)
	}
}

// GoTool runs a go command that prints something to be read, such as go list,
// and returns its standard output.
func (s *Suite) GoTool(ctx context.Context, args ...string) (string, error) {
	inner, end := context.WithTimeoutCause(ctx, buildLimit, errStuck)
	defer end()
	out := display.NewBuffer(floodLimit)
	said := display.NewBuffer(16 << 10)
	exit, err := process.Run(inner, process.Command{
		Argv: append([]string{s.Argv[0]}, args...), Dir: s.Dir, Env: s.Env, Stdout: out, Stderr: said, Grace: grace,
	})
	switch {
	case inner.Err() != nil:
		return "", context.Cause(inner)
	case err != nil:
		return "", err
	case exit.Code != 0:
		return "", fmt.Errorf("go %s: %s: %s", args[0], exit, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}

// Listable returns the flags of a go test command that go list needs to see the same packages.
func Listable(argv []string) []string {
	var out []string
	for i, a := range argv {
		name, _, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		switch {
		case !strings.HasPrefix(a, "-"):
		case name == "args" || name == "test.args":
			return out
		case slices.Contains([]string{"race", "msan", "asan"}, name), given && slices.Contains(valued, name):
			out = append(out, a)
		case slices.Contains(valued, name) && i+1 < len(argv):
			out = append(out, a, argv[i+1])
		}
	}
	return out
}

var valued = []string{"tags", "mod", "modfile", "compiler", "buildvcs"}
