package cli

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/testfix"
)

// openFix opens a project and runs its tests once, before a model is asked. passed is how many tests pass, if
// all do.
func (a *app) openFix(ctx context.Context, dir string, model pawl.Model, c testfix.Choices, o *testfix.Options) (fix *testfix.Fix, passed int, err error) {
	if fix, err = testfix.New(ctx, dir, model, c, o); err != nil {
		return nil, 0, err
	}
	seen, stop := a.showCheck()
	checked, err := fix.Check(ctx, seen)
	stop()
	if err != nil {
		return nil, 0, errors.Join(err, fix.Close())
	}
	if !a.quiet && checked.Unbuilt != "" {
		a.sayf("does not build: %s", checked.Unbuilt)
	}
	if !a.quiet && len(checked.Elsewhere) > 0 {
		a.sayf("left out, since they pass in the project and fail in the copy: %s; %s", strings.Join(checked.Elsewhere, ", "), checked.Why)
	}
	if len(checked.Open) == 0 {
		passed = checked.Passed
	}
	return fix, passed, nil
}

func passing(n int) string {
	if n == 1 {
		return "1 test passes"
	}
	return counted(n, "test") + " pass"
}

// checkEvery is how often the state of a long run of the tests is said where there is no
// terminal.
const checkEvery = 10 * time.Second

// showCheck shows how far the tests are, until stop.
func (a *app) showCheck() (seen func(packages, failed int), stop func()) {
	var mu sync.Mutex
	packages, failed := 0, 0
	seen = func(p, f int) {
		mu.Lock()
		defer mu.Unlock()
		packages, failed = p, f
	}
	if a.quiet {
		return seen, func() {}
	}
	began := time.Now()
	return seen, ticking(checkEvery, func() {
		mu.Lock()
		defer mu.Unlock()
		a.sayf("running the tests: %s so far, %d failed, %v", counted(packages, "package"), failed, time.Since(began).Round(time.Second))
	})
}
