package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/figure"
	"github.com/pawl-run/pawl/internal/gauge"
)

// A Goal is how the goal of a run moved. Baseline and Latest are nil while the
// goal is not measured: before the first turn, and ever.
type Goal struct {
	Success  string     `json:"success"` // the success condition, as source
	Trend    string     `json:"trend"`   // of the latest change: improving, flat, regressing or unknown
	Baseline *float64   `json:"baseline"`
	Latest   *float64   `json:"latest"`
	Fixed    []string   `json:"fixed"` // since the baseline, by identity
	Broke    []string   `json:"broke"`
	Failed   []Approach `json:"failed"`
}

// An Approach is a turn that made the goal's measure worse or broke something.
// Calls are those of the turn before the measurement.
type Approach struct {
	Iteration int      `json:"iteration"`
	Calls     []string `json:"calls"`
	From      float64  `json:"from"`
	To        float64  `json:"to"`
	Broke     []string `json:"broke"`

	calls []phrase
}

// goal returns how a run's goal moved; nil: the run has none.
func goal(s *pawl.State) *Goal {
	source := s.Declaration().Goal
	if source == "" {
		return nil
	}
	g := &Goal{Success: source, Trend: string(gauge.Unknown), Fixed: []string{}, Broke: []string{}, Failed: []Approach{}}
	scale := gauge.ScaleOf(source)
	var first, last *gauge.Measure
	if base, ok := s.Baseline(); ok {
		first = reading(&base)
		last, g.Baseline = first, &first.Value
	}
	for _, t := range slices.Backward(slices.Collect(s.Tracks())) {
		now := reading(t.Measure)
		if now != nil && last != nil {
			trend := scale.Trend(*last, *now)
			if g.Trend = string(trend); trend == gauge.Regressing {
				_, broke, _ := gauge.Moved(last.Open, now.Open)
				g.Failed = append(g.Failed, Approach{Iteration: t.Iteration, From: last.Value, To: now.Value, Broke: nonNil(broke)})
			}
		}
		last = cmp.Or(reading(t.Drift), now, last) // the measure at the start of the next turn
	}
	if last != nil {
		g.Latest = &last.Value
	}
	if first != nil {
		fixed, broke, _ := gauge.Moved(first.Open, last.Open)
		g.Fixed, g.Broke = nonNil(fixed), nonNil(broke)
	}
	g.called(s)
	return g
}

func reading(m *pawl.Measured) *gauge.Measure {
	if m == nil {
		return nil
	}
	return &gauge.Measure{Value: unsigned(m.Value), Open: m.Open}
}

// called adds the calls of the failed approaches.
func (g *Goal) called(s *pawl.State) {
	at := map[int]*Approach{}
	for i := range g.Failed {
		at[g.Failed[i].Iteration] = &g.Failed[i]
	}
	if len(at) == 0 {
		return
	}
	for c := range s.Calls() {
		a := at[c.Iteration]
		if a == nil {
			continue
		}
		args := c.Args
		if c.Edited != nil {
			args = c.Edited
		}
		p := phrase(name(c.ID+" "+c.Tool)+" ") + changes(args)
		a.calls, a.Calls = append(a.calls, p), append(a.Calls, p.plain())
	}
}

func nonNil(words []string) []string {
	if words == nil {
		return []string{}
	}
	return words
}

// mostFailed is how many failed approaches a page shows, latest first.
const mostFailed = 5

func (r *Report) goal(b *strings.Builder) {
	g := r.Goal
	if g == nil || g.Latest == nil {
		return
	}
	p := phrasef("%s: the metric is %g", name(g.Success), *g.Latest)
	if g.Baseline != nil && *g.Baseline != *g.Latest {
		p += phrasef(", and was %g before the first turn", *g.Baseline)
	}
	switch gauge.Trend(g.Trend) {
	case gauge.Improving:
		p += "; the last turn improved it"
	case gauge.Flat:
		p += "; the last turn left it as it was"
	case gauge.Regressing:
		p += "; the last turn made it worse, or broke something"
	}
	if words := parts(g.Fixed, g.Broke, nil); len(words) > 0 {
		p += phrase(". In all the run " + strings.Join(words, " and "))
	}
	fmt.Fprintf(b, "## The goal\n\n%s.\n", p.markdown())
	failed := g.Failed
	if len(failed) > 0 {
		b.WriteString("\nTurns that made it worse, or broke something:\n\n")
	}
	if n := len(failed) - mostFailed; n > 0 && !r.opt.Full {
		fmt.Fprintf(b, "- … %s before these\n", figure.Count(n, "turn"))
		failed = failed[n:]
	}
	for _, a := range failed {
		p := phrasef("iteration %d, %s: metric %g → %g", a.Iteration, join(a.calls, ", "), a.From, a.To)
		if words := parts(nil, a.Broke, nil); len(words) > 0 {
			p += phrase("; " + words[0])
		}
		fmt.Fprintf(b, "- %s\n", p.markdown())
	}
	b.WriteString("\n")
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
