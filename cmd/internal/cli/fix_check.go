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

// openFix opens the first module of a project whose tests fail, before a model is asked. If all
// pass, it opens one of them, and returns how many tests passed in all.
func (a *app) openFix(ctx context.Context, dir string, model pawl.Model, o *testfix.Options) (*testfix.Fix, int, error) {
	modules := []string{""}
	if len(o.Test) == 0 {
		found, err := testfix.Modules(dir)
		if err != nil {
			return nil, 0, err
		}
		if len(found) > 0 {
			modules = found
		}
	}
	var green *testfix.Fix
	passed := 0
	for _, m := range modules {
		o.Module = m
		fix, c, err := a.checkFix(ctx, dir, model, o)
		if err != nil {
			return nil, 0, joinClose(err, green)
		}
		if len(modules) > 1 {
			a.sayCheck(m, c)
		}
		if len(c.Open) > 0 {
			return fix, 0, joinClose(nil, green)
		}
		passed += c.Passed
		if green == nil {
			green = fix
		} else if err := fix.Close(); err != nil {
			return nil, 0, joinClose(err, green)
		}
	}
	return green, passed, nil
}

func joinClose(err error, fix *testfix.Fix) error {
	if fix == nil {
		return err
	}
	return errors.Join(err, fix.Close())
}

func (a *app) sayCheck(module string, c testfix.Checked) {
	switch {
	case a.quiet:
	case len(c.Open) > 0:
		a.sayf("module %s: %s; this module is fixed, alone", module, failing(c))
	default:
		a.sayf("module %s: %s", module, passing(c.Passed))
	}
}

func failing(c testfix.Checked) string {
	if len(c.Open) == 1 {
		return "1 test fails"
	}
	return counted(len(c.Open), "test") + " fail"
}

func passing(n int) string {
	if n == 1 {
		return "1 test passes"
	}
	return counted(n, "test") + " pass"
}

// checkFix opens one module and runs its tests once.
func (a *app) checkFix(ctx context.Context, dir string, model pawl.Model, o *testfix.Options) (*testfix.Fix, testfix.Checked, error) {
	fix, err := testfix.New(ctx, dir, model, o)
	if err != nil {
		return nil, testfix.Checked{}, err
	}
	seen, stop := a.showCheck()
	c, err := fix.Check(ctx, seen)
	stop()
	if err != nil {
		return nil, c, errors.Join(err, fix.Close())
	}
	if a.quiet {
		return fix, c, nil
	}
	if c.Unbuilt != "" {
		a.sayf("does not build: %s", c.Unbuilt)
	}
	if len(c.Elsewhere) > 0 {
		a.sayf("left out, since they pass in the project and fail in the copy: %s; %s", strings.Join(c.Elsewhere, ", "), c.Why)
	}
	return fix, c, nil
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
