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

// Check runs the tests once, before a model is asked for anything, and returns an error that says
// what to do if no edit can help: there is no test, pytest is missing, or what fails does so only
// in the copy. The run that follows does not run the tests again. While they run, seen is called
// with the number of packages that have ended, and of those that failed; nil: it is not called.
func (f *Fix) Check(ctx context.Context, seen func(packages, failed int)) (c Checked, err error) {
	var now cached
	err = f.Checking(seen, func() (err error) {
		now, err = f.current(ctx)
		return err
	})
	if err != nil {
		return c, err
	}
	c.Passed, c.Open = now.verdict.Passed, now.verdict.Open
	if err := testrun.NoPytest(now.ran.Report, f.source.Test); err != nil && now.ran.Pytest {
		return c, err
	}
	for _, x := range now.ran.Report.Failures {
		if x.Kind == gotest.KindBuild || x.Kind == gotest.KindSetup {
			c.Says = append(c.Says, "does not build: "+x.ID+": "+x.Complaint(1))
			break
		}
	}
	away := f.Known().First.Away
	if len(away) > 0 {
		c.Says = append(c.Says, "left out, since they fail in the copy alone: "+strings.Join(away, ", ")+"; "+f.whyElsewhere())
	}
	switch {
	case now.ran.NoCommand(f.source.Test):
		return c, fmt.Errorf("the test command %q does not exist; name the one that runs the tests, such as go test ./...: %s", strings.Join(f.source.Test, " "), strings.TrimSpace(now.ran.Output))
	case slices.Equal(c.Open, []string{testrun.NoTests}):
		return c, fmt.Errorf("%w by %q; write a failing test first, or name the command that runs the tests; where they are behind build tags, such as %q",
			ErrNoTests, strings.Join(f.source.Test, " "), "go test -tags TAG ./...")
	case len(c.Open) == 0 && c.Passed == 0 && len(away) > 0:
		return c, fmt.Errorf("these tests fail in the copy alone: %s; %s", some(away, 5), f.whyElsewhere())
	}
	return c, ctx.Err()
}

// whyElsewhere says what may distinguish the copy from the project.
func (f *Fix) whyElsewhere() string {
	if left := f.Tree.LeftOut(); len(left) > 0 {
		return "the copy does not have " + left[0]
	}
	return "the copy has all files but another path, so they may depend on that path or on what is around it"
}
