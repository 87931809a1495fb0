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

// The trends. Breaking anything is a regression, whatever else was fixed.
// Revealing faults that another fault had hidden, as fixing a build does, is
// not.
const (
	Unknown    Trend = Trend(gauge.Unknown) // the goal was not measured twice
	Improving  Trend = Trend(gauge.Improving)
	Flat       Trend = Trend(gauge.Flat)
	Regressing Trend = Trend(gauge.Regressing)
)

// String returns the trend's name: unknown, improving, flat or regressing.
func (t Trend) String() string { return gauge.Trend(t).String() }

// A Report shows how the goal of a run moved. Without a goal, or before it is
// measured, the report is empty and its Trend Unknown.
type Report struct {
	Trend    Trend          // between the last two measures
	Baseline *pawl.Measured // before the first turn; nil: not measured
	Latest   *pawl.Measured // nil: not measured
	Fixed    []string       // open at the baseline and not now
	Broke    []string       // open now, and neither open nor hidden at the baseline
	Changes  []Change       // turn by turn, oldest first
}

// A Change is the effect of a turn on the goal, whose measure it precedes.
type Change struct {
	Iteration int
	Calls     []string // what the turn called, as "tool({…})"
	From, To  pawl.Measured
	Fixed     []string // open before the turn and not after it
	Broke     []string
	Shown     []string // visible since a fault that hid it is fixed
	Trend     Trend
}

// Failed returns the changes that made the measure worse or broke something.
func (r Report) Failed() (failed []Change) {
	for _, c := range r.Changes {
		if c.Trend == Regressing {
			failed = append(failed, c)
		}
	}
	return failed
}

// Of returns how the goal of a run moved. It costs O(turns and calls).
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
			from, to := (*gauge.Measure)(r.Latest), (*gauge.Measure)(t.Measure)
			c := Change{Iteration: t.Iteration, Calls: called[t.Iteration], From: *r.Latest, To: *t.Measure, Trend: Trend(scale.Trend(*from, *to))}
			c.Fixed, c.Broke, c.Shown = gauge.Moved(from.Open, to.Open)
			r.Trend = c.Trend
			r.Changes = append(r.Changes, c)
		}
		r.Latest = cmp.Or(t.Drift, t.Measure, r.Latest) // the measure at the start of the next turn
	}
	if r.Baseline != nil {
		r.Fixed, r.Broke, _ = gauge.Moved(r.Baseline.Open, r.Latest.Open)
	}
	return r
}

// regression returns the hint for the model if its last turn made the goal's
// measure worse, and reports whether it did.
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
	return pawl.ProgressJudged{Judgement: pawl.JudgedRegressed, Detail: detail, Streak: last.iteration,
		Hint: fmt.Sprintf("Your last turn (%s) %s. Unless you mean to mend that next, undo it or go another way.", tools(s, last.iteration), what)}, true
}
