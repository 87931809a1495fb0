package progress

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// leaf returns the pattern in the verdict.
func (f finding) leaf(window, patience int) string {
	n := window
	switch f.pattern {
	case cycle:
		n = f.period
	case metricFlat:
		n = patience
	}
	return fmt.Sprintf("%s(%d)", f.pattern, n)
}

// detail describes what the run repeats.
func (f finding) detail(s *pawl.State, t *trail) string {
	last := t.turns[0].iteration
	switch f.pattern {
	case cycle:
		turns := make([]string, f.period)
		for i := range turns { // in their order
			u := t.turns[f.period-1-i]
			if turns[i] = calls(s, u.iteration); u.answer {
				turns[i] = "an answer that did not end the run"
			}
		}
		// A cycle has no beginning: describe it from its smallest turn,
		// whenever it was detected.
		first := slices.Index(turns, slices.Min(turns))
		turns = slices.Concat(turns[first:], turns[:first])
		if f.period == 2 {
			return fmt.Sprintf("%s and %s alternate, %s over, with the same outcomes", turns[0], turns[1], times(f.times))
		}
		return fmt.Sprintf("%s come round in turn, %d times over, with the same outcomes", list(turns), f.times)
	case sameFault:
		return fmt.Sprintf("%s failed in the same way %d times, whatever the arguments: %s", tools(s, last), f.times, fault(s, last))
	case monologue:
		return fmt.Sprintf("the model only talks: %d turns in a row called no tool and did not end the run", f.times)
	case sameThought:
		return fmt.Sprintf("%d turns in a row thought the same and found nothing new: %q", f.times, clip(thought(s, last)))
	case metricWorse:
		return fmt.Sprintf("the metric got worse %d times in a row, from %g to %g", f.times, t.base(f.turns).Value, t.latest())
	case metricFlat:
		return fmt.Sprintf("%d turns changed something and got the metric no further than %g; it is %g", f.times, t.base(f.turns).Value, t.latest())
	}
	if f.turns == cap(t.turns) { // the pattern may have begun earlier
		f.times = max(f.times, s.Stalled())
	}
	return fmt.Sprintf("%s was repeated %s with the same outcome", calls(s, last), times(f.times))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// latest returns the goal's latest value.
func (t *trail) latest() float64 {
	if m := t.base(0); m != nil {
		return m.Value
	}
	return 0
}

// advice returns the hint to the model against the pattern.
func (p pattern) advice() string {
	switch p {
	case sameFault:
		return "Read what the error says and fix its cause, or go another way."
	case monologue:
		return "To talk changes nothing: call a tool."
	case metricWorse:
		return "Take back what made it worse, and go another way."
	case metricFlat:
		return "Ask yourself whether the cause is elsewhere, and go another way."
	}
	return "Do something different: another tool, other arguments, or answer with what you have."
}

// turnCalls returns the calls of a turn in their order.
func turnCalls(s *pawl.State, iteration int) (all []pawl.CallState) {
	for c := range s.Recent() {
		if c.Iteration < iteration {
			break
		}
		if c.Iteration == iteration {
			all = append(all, c)
		}
	}
	slices.Reverse(all)
	return all
}

// calls returns the calls of a turn with their arguments, on one line.
func calls(s *pawl.State, iteration int) string {
	var all []string
	for _, c := range turnCalls(s, iteration) {
		all = append(all, c.Tool+"("+clip(string(c.Args))+")")
	}
	return list(all)
}

// tools returns the names of the tools a turn called.
func tools(s *pawl.State, iteration int) string {
	var all []string
	for _, c := range turnCalls(s, iteration) {
		if !slices.Contains(all, c.Tool) {
			all = append(all, c.Tool)
		}
	}
	return list(all)
}

// fault returns the error of the last failed call of a turn.
func fault(s *pawl.State, iteration int) string {
	text := ""
	for _, c := range turnCalls(s, iteration) {
		text = clip(c.Error)
		if text == "" {
			text = c.Status.String()
		}
	}
	return text
}

func thought(s *pawl.State, iteration int) string {
	text := ""
	for t := range s.Turns() {
		if t.Iteration == iteration {
			text = t.Thought
		}
	}
	return text
}

// samePlace reports whether the turns of a range that had results had the same.
func samePlace(s *pawl.State, from, to int) bool {
	var first string
	for i := from; i <= to; i++ {
		var b strings.Builder
		for _, c := range turnCalls(s, i) {
			if c.OK() && c.Effect != pawl.Write {
				fmt.Fprintf(&b, "%s\x00%s\x00", c.Tool, c.Result)
			}
		}
		switch came := b.String(); {
		case came == "":
		case first == "":
			first = came
		case came != first:
			return false
		}
	}
	return true
}

// list joins words for a sentence, and truncates a long list.
func list(words []string) string {
	const most = 4
	switch n := len(words); {
	case n == 0:
		return "the last turn"
	case n == 1:
		return words[0]
	case n > most:
		return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), n-most)
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// clip truncates a text for use in a sentence.
func clip(text string) string {
	const most = 120
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\ufffd")), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
