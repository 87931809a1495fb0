package refactor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// What agents in a copy have in common.
type (
	Options = project.Options // the choices that New leaves; the tests have names, as those of go test and pytest
	Checked = project.Checked // what the tests said before the first edit
	Outcome = project.Outcome // what a run came to; its Facts are [Facts]
	Diff    = project.Diff    // what a run changed
)

// A Refactor is one refactoring: its working copy, the agent that works there, and the outcome. Its
// methods are safe for concurrent use; only one process at a time may have it open.
type Refactor struct {
	project.Work[finished]

	source Source
	latest *looked // guarded by Running
}

// New makes a working copy of the project in dir and prepares an agent that refactors it towards the goal with
// the model, until the metric is less. It runs nothing and does not touch the project.
func New(ctx context.Context, dir, goal string, metric Metric, model pawl.Model, o *Options) (*Refactor, error) {
	if goal = strings.TrimSpace(goal); goal == "" {
		return nil, errors.New("the goal is empty; say what to refactor")
	}
	r := &Refactor{}
	source, err := r.Begin(ctx, dir, model, o, project.Kept, "it is not known which of them pass")
	if err != nil {
		return nil, err
	}
	if metric, err = metric.or(testrun.IsGoTest(source.Test)); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.source = Source{Source: source, Goal: goal, Metric: metric}
	return r, nil
}

// Open reopens the working copy of an earlier process. The limits override the agent's own.
func Open(s Source, model pawl.Model, l pawl.Limits) (*Refactor, error) {
	r := &Refactor{source: s}
	err := r.Reopen(s.Source, model, l, project.Kept)
	return r, err
}

// Input is the agent's task.
func (r *Refactor) Input() string { return "Refactor this project: " + r.source.Goal }

// Source says how to make the agent again. It is also in Agent.Source.
func (r *Refactor) Source() Source { return r.source }

// errRed says that a project cannot be refactored, since its tests do not pass.
var errRed = errors.New("a refactoring begins with passing tests, since they show what the code does")

// Check runs the tests and the metric once, before a model is asked for anything. If some tests do not pass, or
// none runs, the error says what to do. While they run, seen is called with the number of packages that have ended,
// and of those that failed; nil: it is not called.
func (r *Refactor) Check(ctx context.Context, seen func(packages, failed int)) (c Checked, err error) {
	err = r.Checking(seen, func() error {
		first, err := r.first(ctx)
		if err == nil {
			c.Passed = first.Report.Passed
		}
		return err
	})
	if err == nil {
		c.Says = append([]string{project.Passing(c.Passed)}, r.SaysFlaky()...)
	}
	return c, err
}

// first is what the tests said before the first edit, in this process or an earlier one.
func (r *Refactor) first(ctx context.Context) (*project.Before, error) {
	return r.First(ctx, func(b *project.Before, _ testrun.Result) (err error) {
		switch failed := b.Report.Open(); {
		case len(failed) > 0:
			if err := testrun.NoPytest(b.Report, r.source.Test); err != nil {
				return err
			}
			shown := strings.Join(failed[:min(len(failed), 5)], ", ")
			return fmt.Errorf("%d tests fail, such as %s: %w; fix them first with pawl fix", len(failed), shown, errRed)
		case b.Report.Passed == 0:
			return fmt.Errorf("no test ran: %w; write some first", errRed)
		}
		b.Value, err = r.value(ctx)
		return err
	})
}

// verdict is the data of an observation, and the basis of the goal's measure.
type verdict struct {
	project.Missing

	Was float64 `json:"was"` // the metric before the first edit
	Now float64 `json:"now"`
}

// looked is what is known of a state of the files.
type looked struct {
	verdict // without what the model says of it

	state, text string
	changed     bool // some files differ from the project
}

// look runs the tests and takes the metric, unless the files are as they were.
func (r *Refactor) look(ctx context.Context) (*looked, error) {
	state := r.Files.State(r.Edited())
	if r.latest != nil && r.latest.state == state {
		return r.latest, nil
	}
	first, err := r.first(ctx)
	if err != nil {
		return nil, err
	}
	d, err := r.Diff()
	if err != nil {
		return nil, err
	}
	l := &looked{state: state, changed: !d.Empty()}
	l.Was, l.Now = first.Value, first.Value
	if l.changed {
		if err := r.judge(ctx, l, first); err != nil {
			return nil, err
		}
	} else {
		l.text = "Nothing was changed yet. " + first.Report.Summary(2000)
		l.Miss("[change]", "a change towards the goal")
	}
	r.latest = l
	return l, nil
}

// judge finds out what is open in a state.
func (r *Refactor) judge(ctx context.Context, l *looked, first *project.Before) error {
	now, lost, err := r.Again(ctx, first, r.Suite.Argv)
	if err != nil {
		return err
	}
	l.text = now.Report.Summary(6000)
	for _, id := range slices.Concat(lost, gotest.NotRun(first.Report, now.Report)) {
		l.Miss(id, id+" passed before and does not pass now")
	}
	for _, f := range now.Report.Failures {
		l.Miss(f.ID, f.ID+" fails")
	}
	if len(l.Open) > 0 {
		return nil // the metric would only say the same
	}
	if l.Now, err = r.value(ctx); err != nil {
		l.Miss("[metric]", "the measure cannot be taken any more: "+err.Error())
		return nil //nolint:nilerr // the model reads it
	}
	if l.Now >= l.Was {
		l.Miss("[metric]", fmt.Sprintf("%s must become less: %v before, %v now", r.source.Metric.Counts(), l.Was, l.Now))
	}
	return nil
}

// Facts are the facts of an outcome.
type Facts struct {
	Metric Measured `json:"metric"`
	Tests  []string `json:"tests"` // files to which tests were added
}

// Measured is what must have become less.
type Measured struct {
	Name   string   `json:"name"`
	Before float64  `json:"before"`
	After  *float64 `json:"after"` // nil: the run was no success
}

// Finish returns the outcome. It changes nothing.
func (r *Refactor) Finish(ctx context.Context, status pawl.Status) (o Outcome, err error) {
	r.Running.Lock()
	defer r.Running.Unlock()
	facts := Facts{Measured{Name: r.source.Metric.Name}, []string{}}
	if first := r.Known().First; first != nil {
		facts.Metric.Before = first.Value
	}
	if status == pawl.StatusSuccess {
		after, wrong := r.value(ctx)
		if err = wrong; err == nil {
			o.Diff, err = r.Diff()
		}
		facts.Metric.After, facts.Tests = &after, append(facts.Tests, o.Diff.Tests()...)
		o.Says = []string{fmt.Sprintf("%s: %v before, %v now", r.source.Metric.Counts(), facts.Metric.Before, after)}
	}
	o.Facts = facts
	return o, err
}

// A Source says where a run's agent came from: enough to make it again, given the model. Agent.Source
// of this package's agents holds it as JSON.
type Source struct {
	project.Source

	Goal   string `json:"goal"` // what is to be refactored
	Metric Metric `json:"metric"`
}

// ParseSource reads what Source.String wrote. The second result is false for the source of another
// kind of agent; the error is about a source of this kind.
func ParseSource(text string) (Source, bool, error) {
	return project.ParseSource[Source](text, "refactor")
}

// String writes the source as JSON.
func (s Source) String() string { return project.SourceText("refactor", s) }
