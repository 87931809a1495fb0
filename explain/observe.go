package explain

import (
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/gauge"
)

// observe explains an observation and its effect on the goal.
func (f *fold) observe(d *Decision) {
	d.Step, d.subject = "observe", "the world"
	switch {
	case len(f.acted) > 0:
		d.why = phrasef("after %s, which may have changed it", names(f.acted, 4))
	case f.before.Iteration() == 0:
		d.why = "before the first turn"
	case f.back:
		d.why = "since the run was resumed"
	case f.before.Done():
		d.why = "since the model says that it is done"
	default:
		d.why = "to see where it stands"
	}
	measured := false
	for _, e := range f.step {
		switch e := e.Event.(type) {
		case pawl.Observed:
			f.looked(e)
			if e.Text != "" {
				d.outcome = append(d.outcome, phrase("saw: "+said(e.Text)))
			}
		case pawl.Measured:
			measured = true
			e.Value = unsigned(e.Value)
			p := f.measured(e, &d.tally)
			d.outcome = append(d.outcome, p)
			f.because(p)
		}
	}
	if goal := f.decl.Goal; goal != "" && !measured {
		d.outcome = append(d.outcome, phrasef("the goal %s could not be measured", name(goal)))
	}
	f.acted, f.back = nil, false
}

// unsigned replaces the negative zero that old logs have where a metric counts
// down to zero.
func unsigned(v float64) float64 {
	if v == 0 {
		return 0
	}
	return v
}

// measured describes how the goal moved, by its number and by the names of the
// open items, so that fixing one thing and breaking another shows.
func (f *fold) measured(e pawl.Measured, t *tally) phrase {
	before := f.measure
	f.measure = &e
	f.weighed(before, e)
	if t.metric = true; before == nil {
		p := phrasef("metric is %g", e.Value)
		if len(e.Open) > 0 {
			p += phrase("; open: " + names(e.Open, 5))
		}
		t.from, t.to = e.Value, e.Value
		return p
	}
	t.from, t.to = before.Value, e.Value
	fixed, broke, shown := gauge.Moved(before.Open, e.Open)
	t.broke += len(broke)
	p := phrasef("metric went %g → %g", before.Value, e.Value)
	if before.Value == e.Value {
		p = phrasef("metric is still %g", e.Value)
	}
	if words := parts(fixed, broke, shown); len(words) > 0 {
		p += phrase(": " + strings.Join(words, "; "))
	}
	return p
}
