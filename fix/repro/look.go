package repro

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// Runs is in how many runs of its own, all of them, a new test must fail the same way.
const Runs = 5

// Check runs the tests once, before a model is asked for anything. The error says what to do if no new test
// could be run. While they run, seen is called with the number of packages that have ended, and of those that
// failed; nil: it is not called.
func (r *Repro) Check(ctx context.Context, seen func(packages, failed int)) (c Checked, err error) {
	err = r.Checking(seen, func() error {
		first, err := r.first(ctx)
		if err == nil {
			c.Passed, c.Open = first.Report.Passed, first.Report.Open()
		}
		return err
	})
	switch failed := c.Open; {
	case err != nil:
	case len(failed) > 0:
		c.Says = []string{"already failing, and left as they are: " + strings.Join(failed[:min(len(failed), 10)], ", ")}
	case c.Passed == 0:
		c.Says = []string{"the project has no test yet"}
	}
	return c, err
}

// first is what the tests said before the first edit, in this process or an earlier one.
func (r *Repro) first(ctx context.Context) (*project.Before, error) {
	return r.First(ctx, func(b *project.Before, _ testrun.Result) error {
		if b.Report.Passed > 0 {
			return nil
		}
		if err := testrun.NoPytest(b.Report, r.source.Test); err != nil {
			return err
		}
		for _, f := range b.Report.Failures {
			if f.Kind == gotest.KindBuild || f.Kind == gotest.KindSetup {
				return fmt.Errorf("no test can run, so none can fail for the bug: %s: %s", f.ID, f.Complaint(5))
			}
		}
		return nil
	})
}

// verdict is the data of an observation, and the basis of the goal's measure.
type verdict struct {
	project.Missing

	Test string `json:"test,omitempty"` // the identity of the new test that fails as it should
}

// looked is what the tests say of a state of the files.
type looked struct {
	verdict

	state, text string
	pkg, test   string // of the new test
}

// noTest stands among what is open for the test that there is not yet.
const noTest = "[new test]"

const wanted = "a new test that fails because of the bug"

// look runs the tests that the edits can affect, unless the edited files are as they were.
func (r *Repro) look(ctx context.Context) (*looked, error) {
	edited := r.Edited()
	state := r.Files.State(edited)
	if r.latest != nil && r.latest.state == state {
		return r.latest, nil
	}
	first, err := r.first(ctx)
	if err != nil {
		return nil, err
	}
	l := &looked{state: state}
	if len(edited) == 0 {
		l.Miss(noTest, wanted)
		l.text = "No test was added yet. Before any edit: " + first.Report.Summary(2000)
		r.latest = l
		return l, nil
	}
	now, lost, err := r.Again(ctx, first, r.Suite.Only(r.packages(edited)))
	if err != nil {
		return nil, err
	}
	for _, id := range lost {
		l.Miss(id, id+" passed before and does not pass now; leave the other tests as they are")
	}
	l.judge(first, now)
	if len(l.Open) == 0 {
		if err := r.repeat(ctx, l); err != nil {
			return nil, err
		}
	}
	l.text = now.Report.Summary(6000)
	r.latest = l
	return l, nil
}

// packages are the import paths of the packages that edited files belong to: a test file belongs to
// no other, and neither does test data.
func (r *Repro) packages(edited []string) []string {
	var out []string
	for _, name := range edited {
		dir, _, _ := strings.Cut(path.Dir(name)+"/", "/testdata/")
		if dir = strings.TrimSuffix(dir, "/"); strings.HasPrefix(name, "testdata/") {
			dir = "."
		}
		if p := path.Join(r.Suite.Module, dir); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// judge says what is missing, and otherwise which test is to be repeated.
func (l *looked) judge(first *project.Before, now testrun.Result) {
	was := map[string]bool{}
	for _, p := range first.Report.Packages {
		for _, t := range p.Tests {
			was[p.Path+"\x00"+top(t.Name)] = true
		}
	}
	failed := first.Report.Open()
	for _, f := range now.Report.Failures {
		isNew := f.Test != "" && !was[f.Package+"\x00"+top(f.Test)]
		switch {
		case slices.Contains(failed, f.ID), f.Test != "" && !isNew:
		case f.Kind == gotest.KindTest && isNew && asserts(f, now.Pytest):
			if l.test == "" {
				l.pkg, l.test = f.Package, top(f.Test)
			}
		default:
			l.Miss(f.ID, f.ID+" "+unfit(f, now.Pytest))
		}
	}
	if len(l.Open) > 0 || l.test != "" {
		return
	}
	l.Miss(noTest, wanted)
	for _, p := range now.Report.Packages {
		for _, t := range p.Tests {
			if was[p.Path+"\x00"+top(t.Name)] || strings.Contains(t.Name, "/") {
				continue
			}
			switch t.Status {
			case gotest.StatusPass:
				l.Miss(p.ID(t.Name), p.ID(t.Name)+" passes, so it does not show the bug")
			case gotest.StatusSkip:
				l.Miss(p.ID(t.Name), p.ID(t.Name)+" was skipped, so it shows nothing")
			}
		}
	}
}

// top is the name of a test without those of its subtests, cases or parameters.
func top(name string) string {
	name, _, _ = strings.Cut(name, "/")
	name, _, _ = strings.Cut(name, "[")
	return name
}

// unfit says why a failure is not that of a test that shows a bug.
func unfit(f gotest.Failure, pytest bool) string {
	why := map[gotest.Kind]string{
		gotest.KindBuild: "does not build, so nothing is shown: " + f.Complaint(5), gotest.KindSetup: "does not build, so nothing is shown: " + f.Complaint(5),
		gotest.KindPanic:   "panics; catch it in the test and fail by an assertion",
		gotest.KindTimeout: "does not end; wait in the test with a time-out and fail by an assertion",
		gotest.KindRace:    "is a data race, which a test cannot show in every run",
	}[f.Kind]
	if pytest && f.Kind == gotest.KindTest {
		why = "fails by an error and not by an assertion; if the error is the bug, catch it and call pytest.fail"
	}
	return cmp.Or(why, "did not run to its end")
}

// pytestAssertion is how pytest shows what an assertion said, or pytest.fail.
var pytestAssertion = regexp.MustCompile(`(?m)^E +(assert |AssertionError|Failed: )|^[^\n]*: (AssertionError|Failed)$`)

// asserts reports whether a test failed by its own assertion. In Go nothing else makes a test fail that
// runs to its end.
func asserts(f gotest.Failure, pytest bool) bool {
	return !pytest || pytestAssertion.MatchString(f.Output)
}

// repeat runs the new test alone, several times. What it fails by must be the same.
func (r *Repro) repeat(ctx context.Context, l *looked) error {
	l.Test = r.identity(l.pkg, l.test)
	before := ""
	for i := range Runs {
		now, err := r.Suite.Once(ctx, r.Suite.Only([]string{l.pkg}), r.pattern(l.pkg, l.test))
		if err != nil {
			return err
		}
		ways := signature(now.Report.Failures)
		if ways == "" || i > 0 && ways != before {
			l.Miss(l.Test, fmt.Sprintf("%s fails by chance: run %d of %d alone differed; make it fail in every run",
				l.Test, i+1, Runs))
			return nil
		}
		before = ways
	}
	return nil
}

// pattern picks one test.
func (r *Repro) pattern(pkg, test string) string {
	if testrun.IsGoTest(r.source.Test) {
		return "^" + regexp.QuoteMeta(test) + "$"
	}
	return r.identity(pkg, test)
}

func (r *Repro) identity(pkg, test string) string {
	if testrun.IsGoTest(r.source.Test) {
		return pkg + "." + test
	}
	return pkg + "::" + test
}

// signature is by what a test fails: which of its cases, and where. It is empty unless all of it are
// failures of tests.
func signature(failures []gotest.Failure) string {
	var b strings.Builder
	for _, f := range failures {
		if f.Kind != gotest.KindTest {
			return ""
		}
		fmt.Fprintf(&b, "%s", f.ID)
		if len(f.Locations) > 0 {
			fmt.Fprintf(&b, " %v", f.Locations[0])
		}
		b.WriteString("\n")
	}
	return b.String()
}
