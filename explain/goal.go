package explain

import (
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
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

// whyObserve says why the run observes.
func (f *fold) whyObserve() (why Phrase) {
	if f.in != nil { // it is said already
		return ""
	}
	switch {
	case len(f.acted) > 0:
		why = phrasef("after %s, which may have changed it", names(f.acted, 4))
	case f.state.Iteration() == 0:
		why = "before the first turn"
	case f.state.Done():
		why = "since the model says that it is done"
	default:
		why = "to see where it stands"
	}
	f.acted = nil
	return why
}

// observed explains an observation.
func (f *fold) observed(e pawl.Observed) told {
	t := told{step: "observe", subject: "the world", why: f.whyObserve()}
	if e.Text != "" {
		t.outcome = []Phrase{Phrase("saw: " + said(e.Text))}
	}
	return t
}

// measured describes how the goal moved, by its number and by the names of the
// open items, so that fixing one thing and breaking another shows.
func (f *fold) measured(entry pawl.Entry, e pawl.Measured) Phrase {
	before := f.measure
	switch {
	case before == nil:
		f.baseline = &e
	case entry.Iteration > f.turn: // else something but the run moved it
		f.trend = meter.ScaleOf(f.decl.Goal).Trend(meter.Measure(*before), meter.Measure(e))
	}
	f.measure, f.turn, f.weighed = &e, entry.Iteration, entry.Seq
	if before == nil {
		if len(e.Open) > 0 {
			return phrasef("metric is %g; open: %s", e.Value, names(e.Open, 5))
		}
		return phrasef("metric is %g", e.Value)
	}
	p := phrasef("metric went %g → %g", before.Value, e.Value)
	if before.Value == e.Value {
		p = phrasef("metric is still %g", e.Value)
	}
	if words := moved(meter.Moved(before.Open, e.Open)); len(words) > 0 {
		p += Phrase(": " + strings.Join(words, "; "))
	}
	return p
}

// moved describes what was fixed, what was broken, and what became visible
// because a fault that hid it was fixed.
func moved(fixed, broke, shown []string) (list []string) {
	for _, of := range []struct {
		words string
		ids   []string
		after string
	}{{"fixed ", fixed, ""}, {"broke ", broke, ""}, {"showed ", shown, ", hidden before"}} {
		if len(of.ids) > 0 {
			list = append(list, of.words+names(of.ids, 5)+of.after)
		}
	}
	return list
}

// byRules reports whether an agent's model is a program of rules. It counts one
// token a call, since zero would mean "unknown". The number means nothing.
func byRules(d *pawl.Declaration) bool { return d.ModelInfo.Name == "mechanic" }

// noticed explains a notice.
func noticed(e pawl.NoticeGiven) told {
	t := told{step: "notice", subject: Phrase("of " + name(e.About)), why: Phrase(said(e.Text))}
	if e.Told {
		t.outcome = []Phrase{"the model reads it"}
	}
	return t
}

// judged explains what policies say of the run; false: the event is none of theirs.
func (f *fold) judged(event pawl.Event) (t told, is bool) {
	t.step = "record"
	hint := ""
	switch e := event.(type) {
	case pawl.NoticeGiven:
		return noticed(e), true
	case pawl.ProgressJudged:
		t.subject, t.why, hint = judgements[e.Judgement], Phrase(said(e.Detail)), e.Hint
	case pawl.Reflected:
		t.subject, t.why, hint = "a judgement", phrasef("confidence %.2f%s", e.Confidence, by(e.By)), e.Hint
		if e.Text != "" {
			t.why += Phrase(": " + said(e.Text))
		}
	case pawl.Grounded:
		t.subject, t.why, hint = "the answer is grounded", "nothing unsupported was found"+by(e.By), e.Hint
		found := by(e.By)
		if found != "" {
			found = ", found" + found
		}
		switch {
		case !e.OK:
			t.subject, t.why = "the answer is not grounded", Phrase("unsupported: "+names(e.Claims, 5))+found
		case len(e.Claims) > 0:
			t.subject, t.why = "the answer has unsupported values", Phrase("in no tool result, input or prompt: "+names(e.Claims, 5))+found
		}
	case pawl.CausesFound:
		f.Causes = e.Graph
		t.subject, t.why = "what led to what", "see the graph of causes"
		if c, ok := readCauses(e.Graph); ok {
			t.why = phrasef("results were used %s, %s, %s", display.Count(len(c.Edges), "time"), display.Count(len(c.Cycles), "circle"), display.Count(len(c.Contradictions), "contradiction"))
		}
	default:
		return t, false
	}
	if hint != "" {
		t.why += Phrase("; the model reads: " + said(hint))
	}
	return t, true
}

var judgements = map[pawl.Judgement]Phrase{
	pawl.JudgedRefuted:   "the goal refutes the claim to be done",
	pawl.JudgedRepeating: "the run gets nowhere",
	pawl.JudgedHinted:    "a hint, because the run gets nowhere",
	pawl.JudgedRegressed: "the last turn made it worse",
}

// causes is a graph of causes, as far as a page shows it.
type causes struct {
	Nodes []struct{ ID, Tool string }
	Edges []struct {
		From, To string
		Values   []string
	}
	Cycles         []struct{ Calls []string }
	Contradictions []struct{ Tool, First, Then, Was, Is string }
}

// readCauses reads a graph; false: it cannot be shown.
func readCauses(raw json.RawMessage) (c causes, ok bool) {
	return c, json.Unmarshal(raw, &c) == nil && c.Nodes != nil
}

// lines lists what the graph shows: contradictions, circles, and which result went where.
func (c *causes) lines() (all []Phrase) {
	tools := map[string]string{}
	for _, n := range c.Nodes {
		tools[n.ID] = n.Tool
	}
	label := func(id string) string {
		if tool := tools[id]; tool != "" {
			return name(id + " " + tool)
		}
		return "the answer"
	}
	for _, k := range c.Contradictions {
		all = append(all, phrasef("%s and %s contradict each other, and nothing was changed between: %s, then %s", label(k.First), label(k.Then), said(k.Was), said(k.Is)))
	}
	for _, k := range c.Cycles {
		steps := make([]string, len(k.Calls))
		for i, id := range k.Calls {
			steps[i] = label(id)
		}
		all = append(all, Phrase("in a circle: "+strings.Join(steps, " → ")))
	}
	for _, k := range c.Edges {
		all = append(all, phrasef("%s → %s: %s", label(k.From), label(k.To), names(k.Values, 5)))
	}
	return all
}

// plan says who approved the plan of a run in plan mode; empty: the run is in
// no such mode. The names are those of package approval, a sibling.
func plan(s *pawl.State) (text Phrase) {
	for _, p := range s.Declaration().PolicyInfo {
		if p.Kind != "plan" {
			continue
		}
		text = "no plan was approved, so only tools that read could run"
		for c := range s.SuccessfulCalls("present_plan") { // the first one lifted the mode
			text = phrasef("the plan %s was approved%s", name(c.ID), by(c.By))
		}
	}
	return text
}

// text describes the goal for people; empty: it was never measured.
func (g *Goal) text() Phrase {
	if g == nil || g.Latest == nil {
		return ""
	}
	p := phrasef("%s: the metric is %g", name(g.Success), *g.Latest)
	if *g.Baseline != *g.Latest {
		p += phrasef(", and was %g before the first turn", *g.Baseline)
	}
	p += map[meter.Trend]Phrase{
		meter.Improving: "; the last turn improved it", meter.Flat: "; the last turn left it as it was", meter.Regressing: "; the last turn made it worse, or broke something",
	}[meter.Trend(g.Trend)]
	if words := moved(g.Fixed, g.Broke, nil); len(words) > 0 {
		p += Phrase(". In all the run " + strings.Join(words, " and "))
	}
	return p + "."
}
