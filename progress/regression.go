package progress

import (
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// regression returns the hint for the model if the last turn of a run made the goal's
// measure worse, and reports whether it did. That turn may be an exempt one.
func regression(s *pawl.State) (pawl.ProgressJudged, bool) {
	t := follow(s, make([]turn, 0, 2), 2, true)
	if len(t.turns) == 0 {
		return pawl.ProgressJudged{}, false
	}
	last, before := t.turns[0], t.base(1)
	if last.measure == nil || before == nil || t.scale.Trend(*before, *last.measure) != meter.Regressing {
		return pawl.ProgressJudged{}, false
	}
	what := fmt.Sprintf("took the metric from %g to %g", before.Value, last.measure.Value)
	if _, broke, _ := meter.Moved(before.Open, last.measure.Open); len(broke) > 0 {
		what = "broke " + list(broke)
		if before.Value != last.measure.Value {
			what += fmt.Sprintf(" (the metric went from %g to %g)", before.Value, last.measure.Value)
		}
	}
	detail := fmt.Sprintf("turn %d, %s, %s", last.iteration, calls(s, last.iteration), what)
	return pawl.ProgressJudged{Judgement: pawl.JudgedRegressed, Detail: detail, Streak: last.iteration,
		Hint: fmt.Sprintf("Your last turn (%s) %s. Unless you mean to fix that next, undo it or go another way.", tools(s, last.iteration), what)}, true
}
