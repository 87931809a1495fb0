package refactor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// before is what the tests and the metric said before the first edit.
type before struct {
	project.Before

	Value float64 `json:"value"` // of the metric
}

// A Baseline is what the tests and the metric said before the first edit.
type Baseline struct {
	Passed int
	Flaky  []string // identities of tests that failed once and passed once
	Value  float64  // of the metric
}

// ErrRed says that a project cannot be refactored, since its tests do not pass.
var ErrRed = errors.New("a refactoring begins with passing tests, since they show what the code does")

// Check runs the tests and the metric once, before a model is asked for anything. If the tests do not pass, or
// none runs, the error is [ErrRed] and says what to do. While they run, seen is called with the number of
// packages that have ended, and of those that failed; nil: it is not called.
func (r *Refactor) Check(ctx context.Context, seen func(packages, failed int)) (Baseline, error) {
	r.Running.Lock()
	defer r.Running.Unlock()
	r.Suite.Seen = seen
	first, err := r.first(ctx)
	r.Suite.Seen = nil
	if err != nil {
		return Baseline{}, err
	}
	return Baseline{first.Report.Passed, first.Flaky, first.Value}, nil
}

// first is what the tests said before the first edit, in this process or an earlier one.
func (r *Refactor) first(ctx context.Context) (*before, error) {
	r.Mu.Lock()
	known := r.memory.First
	r.Mu.Unlock()
	if known != nil {
		return known, nil
	}
	base, err := r.Baseline(ctx)
	if err != nil {
		return nil, err
	}
	first := &before{Before: base}
	if err := red(first.Report, r.source.Test); err != nil {
		return nil, err
	}
	if first.Value, err = r.value(ctx); err != nil {
		return nil, err
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.memory.First = first
	return first, r.save()
}

// red says why the tests are no basis for a refactoring.
func red(report gotest.Report, test []string) error {
	failed := report.Open()
	switch {
	case len(failed) > 0:
		shown := strings.Join(failed[:min(len(failed), 5)], ", ")
		if more := len(failed) - 5; more > 0 {
			shown += fmt.Sprintf(" and %d more", more)
		}
		if err := testrun.NoPytest(report, test); err != nil {
			return err
		}
		return fmt.Errorf("tests fail: %s: %w; fix them first, as with pawl fix", shown, ErrRed)
	case report.Passed == 0:
		return fmt.Errorf("no test ran: %w; write some first", ErrRed)
	}
	return nil
}

// What may be open beside tests.
const (
	openChange = "[change]"
	openMetric = "[metric]"
	openDone   = "[finished]"
)

// verdict is the data of an observation, and the basis of the goal's measure.
type verdict struct {
	project.Missing

	Was float64 `json:"was"` // the metric before the first edit
	Now float64 `json:"now"`
}

// looked is what is known of a state of the files.
type looked struct {
	verdict // without what the model says of it

	state string
	text  string
}

// kept reports whether the state does what the code did, as far as is known.
func (l *looked) kept() bool {
	return !slices.ContainsFunc(l.Open, func(id string) bool { return id != openMetric && id != openChange })
}

// verdict adds to what is known of a state whether the model has called it finished.
func (r *Refactor) verdict(l *looked) verdict {
	v := l.verdict
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if !slices.Contains(v.Open, openChange) && r.memory.Finished != l.state && !r.nothing(v) {
		v.Open, v.Why = slices.Clip(v.Open), slices.Clip(v.Why)
		v.Miss(openDone, "call finished when the goal is reached")
	}
	return v
}

// nothing reports whether there is nothing to be refactored by rules.
func (r *Refactor) nothing(v verdict) bool { return r.source.Metric == Places && v.Was == 0 }

// look finds out what is known of the state of the files, and marks it, so that it can be returned to.
func (r *Refactor) look(ctx context.Context) (*looked, error) {
	state := r.state()
	l := r.known[state]
	if l == nil {
		var err error
		if l, err = r.lookAt(ctx, state); err != nil {
			return nil, err
		}
		r.known[state] = l
	}
	score := -math.MaxFloat64
	if l.kept() {
		score = -l.Now
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return l, r.Tree.Mark(ctx, score)
}

// lookAt runs the tests and what else tells whether the code does what it did.
func (r *Refactor) lookAt(ctx context.Context, state string) (*looked, error) {
	first, err := r.first(ctx)
	if err != nil {
		return nil, err
	}
	l := &looked{state: state}
	l.Was, l.Now = first.Value, first.Value
	edits := r.edits()
	if len(edits) == 0 {
		l.text = "Nothing was changed yet. " + first.Report.Summary(2000)
		if !r.nothing(l.verdict) {
			l.Miss(openChange, "a change towards the goal")
		}
	} else if err := r.judge(ctx, l, first, edits); err != nil {
		return nil, err
	}
	return l, nil
}

// state digests the files that differ.
func (r *Refactor) state() string {
	var names []string
	for _, e := range r.edits() {
		names = append(names, e.name)
	}
	return r.Files.State(names)
}

// judge finds out what is open in a state.
func (r *Refactor) judge(ctx context.Context, l *looked, first *before, edits []edit) error {
	now, err := r.Suite.Once(ctx, r.Suite.Argv, "")
	if err != nil {
		return err
	}
	broken := r.broken(first, now)
	if len(broken) > 0 { // by chance, perhaps
		second, err := r.Suite.Once(ctx, r.Suite.Argv, "")
		if err != nil {
			return err
		}
		if again := r.broken(first, second); len(again) < len(broken) {
			broken, now = again, second
		}
	}
	now = now.Without(first.Flaky)
	l.text = now.Report.Summary(6000)
	for _, id := range broken {
		l.Miss(id, id+" passed before and does not pass now")
	}
	for _, f := range now.Report.Failures {
		if !slices.Contains(broken, f.ID) {
			l.Miss(f.ID, f.ID+" fails")
		}
	}
	if len(l.Open) > 0 {
		return nil // the rest would only say the same
	}
	if r.golang() {
		if err := r.judgeGo(ctx, l, first, edits); err != nil {
			return err
		}
	}
	if l.Now, err = r.value(ctx); err != nil {
		l.Miss(openMetric, "the measure cannot be taken any more: "+err.Error())
		return nil //nolint:nilerr // the model reads it
	}
	if !(l.Now < l.Was) {
		l.Miss(openMetric, fmt.Sprintf("%s must become less: they were %v and are %v", metricWords[r.source.Metric], l.Was, l.Now))
	}
	return nil
}

// broken lists what passed at first and does not pass now, in order. A test that is gone counts.
func (r *Refactor) broken(first *before, now testrun.Result) []string {
	broken := slices.Concat(gotest.Lost(first.Report, now.Report), gotest.NotRun(first.Report, now.Report))
	broken = slices.DeleteFunc(broken, func(id string) bool { return slices.Contains(first.Flaky, id) })
	slices.Sort(broken)
	return slices.Compact(broken)
}

// judgeGo finds out what is open of what only Go can say.
func (r *Refactor) judgeGo(ctx context.Context, l *looked, first *before, edits []edit) error {
	if !r.source.AllowAPI {
		changes, err := r.apiChanges(ctx, edits)
		if err != nil {
			return err
		}
		for _, c := range changes {
			l.Miss("[api] "+c, "the exported API changes: "+c)
		}
	}
	was, err := r.asWas(ctx, edits)
	if err != nil {
		return err
	}
	for _, f := range was.report.Without(first.Flaky).Failures {
		l.Miss(f.ID, f.ID+" fails on the code as it was, so it does not describe what that did")
	}
	for _, e := range edits {
		if e.test || !isGo(e.name) || e.old == nil {
			continue
		}
		now := ""
		if e.now != nil {
			now = *e.now
		}
		if lines := r.untested(was, e.name, *e.old, now, edits); len(lines) > 0 {
			place := e.name + ":" + spans(lines)
			l.Miss("[untested] "+place, place+" (of the file as it was) is changed, and no test executes it; undo, add a test of it first, and change it then")
		}
	}
	return nil
}

// Value returns the metric of the copy as it is now.
func (r *Refactor) Value(ctx context.Context) (float64, error) {
	r.Running.Lock()
	defer r.Running.Unlock()
	return r.value(ctx)
}
