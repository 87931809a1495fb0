package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/testfix"
)

// openFix opens the first module of a project whose tests fail, before a model is asked. If all
// pass, it opens one of them.
func (a *app) openFix(ctx context.Context, dir string, model pawl.Model, o *testfix.Options) (*testfix.Fix, survey, error) {
	modules := []string{""}
	if len(o.Test) == 0 {
		found, err := testfix.Modules(dir)
		if err != nil {
			return nil, survey{}, err
		}
		if len(found) > 0 {
			modules = found
		}
	}
	var chosen *testfix.Fix
	var s survey
	began, red := time.Now(), false
	for _, m := range modules {
		if red && time.Since(began) > surveyTime {
			s.untested = append(s.untested, m)
			continue
		}
		o.Module = m
		fix, c, err := a.checkFix(ctx, dir, model, o)
		if err != nil {
			return nil, s, joinClose(err, chosen)
		}
		if len(modules) > 1 && !a.quiet {
			a.sayf("module %s: %s", m, checkText(c))
		}
		drop := fix
		switch fails := len(c.Open) > 0; {
		case fails && red:
			s.failing = append(s.failing, m)
		case fails:
			s.passed, red = 0, true
			chosen, drop = fix, chosen
		case chosen == nil:
			chosen, drop = fix, nil
		}
		if !red {
			s.passed += c.Passed
		}
		if drop != nil {
			if err := drop.Close(); err != nil {
				return nil, s, joinClose(err, chosen)
			}
		}
	}
	if red && len(modules) > 1 && !a.quiet {
		a.sayf("fixing module %s alone", cmp.Or(chosen.Source().Module, "."))
	}
	return chosen, s, nil
}

// survey is what is known of the tests of a project before its fix begins.
type survey struct {
	passed   int      // tests; zero: some fail
	failing  []string // modules whose tests fail as well
	untested []string
}

// surveyTime is how long modules are tested after one that fails.
const surveyTime = 2 * time.Minute

// say says which modules are left.
func (s survey) say(a *app) {
	if len(s.failing) > 0 {
		a.sayf("tests of other modules still fail: %s; run pawl fix again", strings.Join(s.failing, ", "))
	}
	if len(s.untested) > 0 {
		a.sayf("not tested: %s", strings.Join(s.untested, ", "))
	}
}

func joinClose(err error, fix *testfix.Fix) error {
	if fix == nil {
		return err
	}
	return errors.Join(err, fix.Close())
}

func checkText(c testfix.Checked) string {
	if len(c.Open) > 0 {
		return failing(c)
	}
	return passing(c.Passed)
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
