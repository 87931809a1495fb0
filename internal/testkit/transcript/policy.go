package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/pawltest"
)

// moves classifies a tool's calls: a refusing, asking or loosening policy.
type moves struct {
	tool    string
	to      pawl.Classification
	inPlace bool // writes into the step it was handed, as policies should not
}

// String prints the policy as it stands in the log.
func (p moves) String() string { return fmt.Sprintf("%v(%s)", p.to, p.tool) }

// Review moves the calls of the tool.
func (p moves) Review(s *pawl.State, step pawl.Step) pawl.Step {
	act, ok := step.(pawl.Act)
	if !ok {
		return step
	}
	if !p.inPlace {
		act.Calls = slices.Clone(act.Calls)
	}
	for i := range act.Calls {
		d := &act.Calls[i]
		switch {
		case d.Call.Tool != p.tool:
		case p.to == pawl.CallRun || d.Do < p.to:
			d.Do, d.Why = p.to, "the policy "+p.String()+" says so"
		}
	}
	return act
}

// clamps lowers what a reply may spend; a number below zero raises it.
type clamps int

// String prints the policy as it stands in the log.
func (p clamps) String() string { return fmt.Sprintf("clamp(%d)", int(p)) }

// Review lowers the clamp of every model call.
func (p clamps) Review(_ *pawl.State, step pawl.Step) pawl.Step {
	think, ok := step.(pawl.Think)
	switch {
	case !ok:
		return step
	case p < 0:
		think.MaxTokens = 1 << 30
	default:
		think.MaxTokens = min(think.MaxTokens, int(p))
	}
	return think
}

// flaps never agrees with another of its kind: each wants its own reason.
type flaps string

// String prints the policy as it stands in the log.
func (p flaps) String() string { return "flap(" + string(p) + ")" }

// Review gives every refusal its own reason.
func (p flaps) Review(_ *pawl.State, step pawl.Step) pawl.Step {
	act, ok := step.(pawl.Act)
	if !ok {
		return step
	}
	act.Calls = slices.Clone(act.Calls)
	for i := range act.Calls {
		act.Calls[i].Do, act.Calls[i].Why = pawl.CallRefuse, p.String()
	}
	return act
}

// reviewed is a third-party loop: it has every answer reviewed by a request of
// its own, notes the review, and goes on until one says "good".
type reviewed struct{}

// Name returns "review".
func (reviewed) Name() string { return "review" }

// Next asks for a draft, for a review, and notes it, in turns.
func (reviewed) Next(s *pawl.State) pawl.Step {
	if s.HasOpen() || !s.Done() {
		return pawl.ReAct{}.Next(s)
	}
	name := fmt.Sprintf("review-%d", s.Iteration())
	reply, ok := s.Replied(pawl.Purpose(name))
	if !ok {
		return pawl.Think{Purpose: pawl.Purpose(name), View: pawl.View{Prompt: "Is this good?", Bare: true}}
	}
	verdict, ok := s.Note("review", name)
	switch {
	case !ok:
		value, _ := json.Marshal(reply.Text()) // a Go string always marshals
		return pawl.Record{Events: []pawl.Event{pawl.Noted{By: "review", Name: name, Value: value}}}
	case string(verdict) == `"good"`:
		return pawl.ReAct{}.Next(s)
	}
	return pawl.Think{Purpose: pawl.PurposeTurn, View: pawl.View{Prompt: "The review says: " + reply.Text()}}
}

// scribble is a loop that records for ever and does nothing.
type scribble struct{}

// Name returns "scribble".
func (scribble) Name() string { return "scribble" }

// Next notes the number of the entry before.
func (scribble) Next(s *pawl.State) pawl.Step {
	return pawl.Record{Events: []pawl.Event{pawl.Noted{By: "scribble", Name: "n", Value: fmt.Append(nil, s.Seq())}}}
}

// objection is a hook that directs the same about every entry with a word.
type objection struct {
	name, word string
	direction  engine.Direction
}

func hook(words []string) (h objection, err error) {
	if len(words) < 3 {
		return h, fmt.Errorf("a hook has a name, cancel or retry, and a word")
	}
	h = objection{words[0], words[2], engine.Direction{Reason: strings.Join(words[3:], " ")}}
	switch words[1] {
	case "cancel":
		h.direction.Cancel = true
	case "retry":
		h.direction.Retry = true
	default:
		err = fmt.Errorf("no direction %q", words[1])
	}
	return h, err
}

// Name is the hook's name in the log.
func (h objection) Name() string { return h.name }

// Entry looks for the word in what transcripts show of the entry.
func (h objection) Entry(_ context.Context, _ *pawl.State, e pawl.Entry) engine.Direction {
	if strings.Contains(pawltest.Line(e), h.word) {
		return h.direction
	}
	return engine.Direction{}
}
