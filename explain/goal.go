package explain

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl/internal/meter"
)

// A Goal is how the goal of a run moved. Baseline and Latest are nil while the
// goal is not measured: before the first turn, and ever.
type Goal struct {
	Success  string   `json:"success"` // the success condition, as source
	Trend    string   `json:"trend"`   // of the latest turn: improving, flat, regressing or unknown
	Baseline *float64 `json:"baseline"`
	Latest   *float64 `json:"latest"`
	Fixed    []string `json:"fixed"` // since the baseline, by identity
	Broke    []string `json:"broke"`
}

// goal returns how a run's goal moved; nil: the run has none.
func (f *fold) goal() *Goal {
	if f.decl.Goal == "" {
		return nil
	}
	g := &Goal{Success: f.decl.Goal, Trend: string(f.trend), Fixed: []string{}, Broke: []string{}}
	if f.baseline != nil {
		g.Baseline, g.Latest = &f.baseline.Value, &f.measure.Value
		fixed, broke, _ := meter.Moved(f.baseline.Open, f.measure.Open)
		g.Fixed, g.Broke = append(g.Fixed, fixed...), append(g.Broke, broke...)
	}
	return g
}

func (r *Report) goal(b *strings.Builder) {
	g := r.Goal
	if g == nil || g.Latest == nil {
		return
	}
	p := phrasef("%s: the metric is %g", name(g.Success), *g.Latest)
	if *g.Baseline != *g.Latest {
		p += phrasef(", and was %g before the first turn", *g.Baseline)
	}
	switch meter.Trend(g.Trend) {
	case meter.Improving:
		p += "; the last turn improved it"
	case meter.Flat:
		p += "; the last turn left it as it was"
	case meter.Regressing:
		p += "; the last turn made it worse, or broke something"
	}
	if words := parts(g.Fixed, g.Broke, nil); len(words) > 0 {
		p += Phrase(". In all the run " + strings.Join(words, " and "))
	}
	fmt.Fprintf(b, "## The goal\n\n%s.\n\n", p.markdown())
}

// parts describes what was fixed, what was broken, and what became visible
// because a fault that hid it was fixed.
func parts(fixed, broke, shown []string) (list []string) {
	if len(fixed) > 0 {
		list = append(list, "fixed "+names(fixed, 5))
	}
	if len(broke) > 0 {
		list = append(list, "broke "+names(broke, 5))
	}
	if len(shown) > 0 {
		list = append(list, "showed "+names(shown, 5)+", hidden before")
	}
	return list
}
