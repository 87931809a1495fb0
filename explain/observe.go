package explain

import (
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// observe says why the run observes.
func (f *fold) observe(d *Decision) {
	d.Subject = "the world"
	switch {
	case len(f.acted) > 0:
		d.Why = phrasef("after %s, which may have changed it", names(f.acted, 4))
	case f.state.Iteration() == 0:
		d.Why = "before the first turn"
	case f.back:
		d.Why = "since the run was resumed"
	case f.state.Done():
		d.Why = "since the model says that it is done"
	default:
		d.Why = "to see where it stands"
	}
	f.acted, f.back = nil, false
}

// observed explains an observation and its effect on the goal.
func (f *fold) observed(d *Decision) {
	measured := false
	for _, e := range f.step {
		switch e := e.Event.(type) {
		case pawl.Observed:
			f.looked(e)
			if e.Text != "" {
				d.Outcome = append(d.Outcome, Phrase("saw: "+said(e.Text)))
			}
		case pawl.Measured:
			measured = true
			p := f.measured(d.Iteration, e)
			d.Outcome = append(d.Outcome, p)
			f.because(p)
		}
	}
	if goal := f.decl.Goal; goal != "" && !measured {
		d.Outcome = append(d.Outcome, phrasef("the goal %s could not be measured", name(goal)))
	}
}

// measured describes how the goal moved, by its number and by the names of the
// open items, so that fixing one thing and breaking another shows.
func (f *fold) measured(iteration int, e pawl.Measured) Phrase {
	before := f.measure
	switch {
	case before == nil:
		f.baseline = &e
	case iteration > f.turn: // else something but the run moved it
		f.trend = meter.ScaleOf(f.decl.Goal).Trend(meter.Measure(*before), meter.Measure(e))
	}
	f.measure, f.turn = &e, iteration
	f.weighed(before, e)
	if before == nil {
		p := phrasef("metric is %g", e.Value)
		if len(e.Open) > 0 {
			p += Phrase("; open: " + names(e.Open, 5))
		}
		return p
	}
	fixed, broke, shown := meter.Moved(before.Open, e.Open)
	p := phrasef("metric went %g → %g", before.Value, e.Value)
	if before.Value == e.Value {
		p = phrasef("metric is still %g", e.Value)
	}
	if words := parts(fixed, broke, shown); len(words) > 0 {
		p += Phrase(": " + strings.Join(words, "; "))
	}
	return p
}
