package testfix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// ErrNoTests is wrapped by the error of [Fix.Check] when the test command ran no test.
var ErrNoTests = errors.New("no test ran")

// Checked is what the tests said before the first edit.
type Checked struct {
	Passed int
	Open   []string // the failing tests, sorted; empty: there is nothing to fix
	// Elsewhere are tests that fail in the copy and pass in the project: they are no part of the goal.
	Elsewhere []string
	Why       string // what may be the reason
	Unbuilt   string // what the go command said of the first package that does not build
}

// Check runs the tests once, before a model is asked for anything, and returns an error that says
// what to do if no edit can help: there is no test, pytest is missing, or what fails does so only
// in the copy. The run that follows does not run the tests again. While they run, seen is called
// with the number of packages that have ended, and of those that failed; nil: it is not called.
func (f *Fix) Check(ctx context.Context, seen func(packages, failed int)) (Checked, error) {
	f.Running.Lock()
	defer f.Running.Unlock()
	f.Suite.Seen = seen
	now, err := f.current(ctx)
	f.Suite.Seen = nil
	if err != nil {
		return Checked{}, err
	}
	v := now.verdict
	c := Checked{Passed: v.Passed, Open: v.Open, Elsewhere: f.Known().First.Away}
	if len(c.Elsewhere) > 0 {
		c.Why = f.whyElsewhere()
	}
	if err := testrun.NoPytest(now.ran.Report, f.source.Test); err != nil && now.ran.Pytest {
		return c, err
	}
	for _, x := range now.ran.Report.Failures {
		if c.Unbuilt == "" && (x.Kind == gotest.KindBuild || x.Kind == gotest.KindSetup) {
			c.Unbuilt = x.ID + ": " + x.Complaint(1)
		}
	}
	switch {
	case now.ran.NoCommand(f.source.Test):
		return c, fmt.Errorf("the test command %q does not exist; name the one that runs the tests, such as go test ./...: %s", strings.Join(f.source.Test, " "), strings.TrimSpace(now.ran.Output))
	case slices.Equal(c.Open, []string{testrun.NoTests}):
		return c, fmt.Errorf("%w by %q; write a failing test first, or name the command that runs the tests; where they are behind build tags, such as %q",
			ErrNoTests, strings.Join(f.source.Test, " "), "go test -tags TAG ./...")
	case len(c.Open) == 0 && c.Passed == 0 && len(c.Elsewhere) > 0:
		return c, fmt.Errorf("every failing test passes in the project and fails in the copy of it: %s; %s", some(c.Elsewhere, 5), c.Why)
	}
	return c, ctx.Err()
}

// whyElsewhere says what may distinguish the copy from the project.
func (f *Fix) whyElsewhere() string {
	if left := f.Tree.LeftOut(); len(left) > 0 {
		return "the copy does not have " + left[0]
	}
	return "the copy has all files of the project and another path, so they may depend on the path or on directories around it"
}
