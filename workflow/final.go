package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/excerpt"
)

// Final asks the model for an answer from the steps that are finished, when the workflow has
// reached a limit: the run ends as exhausted, with that answer. The request is made only if what is left of
// the limits allows it. Final is the last of a workflow's steps or of a graph's nodes, and does nothing when the others
// come to their end. Without it, a workflow at a limit has no answer, and a graph at its limit of rounds
// that of its latest node.
type Final struct {
	ID     string
	Prompt string // the model sees the outputs of the finished steps after it
}

func (f Final) step() common { return common{id: f.ID} }

// mostFinal bounds the bytes of each output that the model sees.
const mostFinal = 4 << 10

// cutFinal takes the last step off if it is a [Final].
func (c *compiler) cutFinal(steps []Step) []Step {
	if len(steps) == 0 {
		return steps
	}
	f, ok := steps[len(steps)-1].(Final)
	if !ok {
		return steps
	}
	c.name(f.ID)
	if strings.TrimSpace(f.Prompt) == "" {
		c.wrong(f.ID, "final", 0, "nothing is asked (say what to answer)")
	}
	c.loop.final, c.loop.asks = &f, true
	return steps[:len(steps)-1]
}

// misplaced reports a Final where it has no effect.
func (c *compiler) misplaced(steps []Step) {
	for _, s := range steps {
		if f, ok := s.(Final); ok {
			c.wrong(f.ID, "final", 0, "it is for the end of the whole (put it last, beside no branch or loop)")
		}
	}
}

// Final returns what the model is asked when the run has reached a limit, and whether it is.
func (l *Loop) Final(s *pawl.State) (pawl.View, bool) {
	if l.final == nil {
		return pawl.View{}, false
	}
	d := &data{loop: l, s: s}
	var b strings.Builder
	fmt.Fprintf(&b, "You have reached a limit and can do nothing more. %s\n\nInput: %s\n", l.final.Prompt, excerpt.Clip(s.Input(), mostFinal))
	for _, id := range l.order {
		v, err := d.outputOf(id)
		if err != nil || v == nil {
			continue
		}
		if text, err := asText(v); err == nil {
			fmt.Fprintf(&b, "\nStep %s is finished: %s\n", id, excerpt.Clip(text, mostFinal))
		}
	}
	return pawl.View{Prompt: b.String(), Alone: true, Bare: true}, true
}

// ordered lists the steps as they are written, those within others too.
func ordered(steps []Step) (ids []string) {
	for _, s := range steps {
		id := commonOf(s).id
		ids = append(ids, id)
		switch s := s.(type) {
		case While:
			ids = append(ids, ordered(s.Do)...)
		case Switch:
			for _, name := range slices.Sorted(maps.Keys(s.Cases)) {
				ids = append(ids, ordered(s.Cases[name])...)
			}
			ids = append(ids, ordered(s.Default)...)
		}
	}
	return ids
}
