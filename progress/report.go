package progress

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/gauge"
)

// Trend is where a goal is going.
type Trend int

// The trends. To break anything is a regression, whatever else was fixed; to
// take away what hid other faults, as who mends a build does, is none.
const (
	Unknown    Trend = Trend(gauge.Unknown) // it was not measured twice
	Improving  Trend = Trend(gauge.Improving)
	Flat       Trend = Trend(gauge.Flat)
	Regressing Trend = Trend(gauge.Regressing)
)

// String returns the trend's name: unknown, improving, flat or regressing.
func (t Trend) String() string { return gauge.Trend(t).String() }

// A Report says how the goal of a run moved. Without a goal, or before it is
// measured, it is empty and its Trend Unknown.
type Report struct {
	Trend    Trend         // from the measure before the last to the last
	Baseline *pawl.Measure // before the first turn; nil: not measured
	Latest   *pawl.Measure // nil: not measured
	Fixed    []string      // open at the baseline and not now
	Broke    []string      // open now and not at the baseline, nor hidden by what was
	Changes  []Change      // turn by turn, oldest first
}

// A Change is what a turn did to the goal: the one before a measure, since the
// next one was not made yet when it was taken.
type Change struct {
	Iteration int
	Calls     []string // what the turn called, as "tool({…})"
	From, To  pawl.Measure
	Fixed     []string // what was open before and is not after it
	Broke     []string
	Shown     []string // what only shows since something that hid it is fixed
	Trend     Trend
}

// Failed are the approaches that failed: the turns that made it worse or broke
// something.
func (r Report) Failed() (failed []Change) {
	for _, c := range r.Changes {
		if c.Trend == Regressing {
			failed = append(failed, c)
		}
	}
	return failed
}

// Of reads off a state how the goal moved. It costs O(turns and calls).
func Of(s *pawl.State) Report {
	r := Report{Trend: Unknown}
	if base, ok := s.Baseline(); ok {
		r.Baseline, r.Latest = &base, &base
	}
	called := map[int][]string{}
	for c := range s.Calls() {
		called[c.Iteration] = append(called[c.Iteration], c.Tool+"("+clip(string(c.Args))+")")
	}
	scale := gauge.ScaleOf(s.Declaration().Goal)
	for _, t := range slices.Backward(slices.Collect(s.Tracks())) {
		if t.Measure != nil && r.Latest != nil {
			from, to := reading(r.Latest), reading(t.Measure)
			c := Change{Iteration: t.Iteration, Calls: called[t.Iteration], From: *r.Latest, To: *t.Measure, Trend: Trend(scale.Trend(*from, *to))}
			c.Fixed, c.Broke, c.Shown = gauge.Moved(from.Open, to.Open)
			r.Trend = c.Trend
			r.Changes = append(r.Changes, c)
		}
		r.Latest = cmp.Or(t.Drift, t.Measure, r.Latest) // what the next turn begins at
	}
	if r.Baseline != nil {
		r.Fixed, r.Broke, _ = gauge.Moved(r.Baseline.Open, r.Latest.Open)
	}
	return r
}

// regression is what the model is told when its last turn made the goal's
// measure worse, and whether it did.
func (t *trail) regression(s *pawl.State) (pawl.ProgressJudged, bool) {
	last, before := t.turns[0], t.base(1)
	if last.measure == nil || before == nil || t.scale.Trend(*before, *last.measure) != gauge.Regressing {
		return pawl.ProgressJudged{}, false
	}
	what := fmt.Sprintf("took the metric from %g to %g", before.Value, last.measure.Value)
	if _, broke, _ := gauge.Moved(before.Open, last.measure.Open); len(broke) > 0 {
		what = "broke " + list(broke)
		if before.Value != last.measure.Value {
			what += fmt.Sprintf(" (the metric went from %g to %g)", before.Value, last.measure.Value)
		}
	}
	detail := fmt.Sprintf("turn %d, %s, %s", last.iteration, calls(s, last.iteration), what)
	return pawl.ProgressJudged{Judgement: pawl.Regressed, Detail: detail, Streak: last.iteration,
		Hint: fmt.Sprintf("Your last turn (%s) %s. Unless you mean to mend that next, undo it or go another way.", tools(s, last.iteration), what)}, true
}
