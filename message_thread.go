package pawl

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// Continues says which run's conversation a run goes on with, and from where.
// Nothing is copied: the messages are read from the log of that run, which may
// itself continue another. Iterations, tokens, dollars, calls and time are
// counted from zero. Package team says what holds after a handoff.
type Continues struct {
	Run   string `json:"run"`
	Seq   uint64 `json:"seq"`                   // the last entry that belongs to it
	Bytes int    `json:"bytes,omitzero"`        // of conversation, for the estimate of the first request
	Input int    `json:"input_tokens,omitzero"` // tokens that a provider probably counts for it; zero: unknown

	Found     []string `json:"found,omitzero"`     // the deferred tools that the model was shown
	Untrusted bool     `json:"untrusted,omitzero"` // there is untrusted text in it; see [State.Tainted]

	By      string   `json:"by,omitzero"`      // the agent that handed over; empty: a person goes on
	Reason  string   `json:"reason,omitzero"`  // why it did
	Carry   string   `json:"carry,omitzero"`   // what the model sees of the conversation: summary, last, or empty for all
	Summary string   `json:"summary,omitzero"` // by the agent that handed over
	Legs    []string `json:"legs,omitzero"`    // the runs before, since a person spoke
	Limits  Limits   `json:"limits,omitzero"`  // of all legs together
	Used    Limits   `json:"used,omitzero"`    // of them, by the legs before; Handoffs counts those of the thread
}

// Next is the state in which a run begins that continues the run of s.
func (s Internals) Next() *State { return &State{facts: facts{earlier: s.Clone()}} }

// Earlier returns the state of the run that this one continues, and whether there is one. A
// state that was folded from this run's log alone does not have it: the engine adds it to the
// states it drives and replays. Policies use it to know all that the model may read. Walking
// back costs O(runs).
func (s *State) Earlier() (*State, bool) { return s.earlier, s.earlier != nil }

// unknownOutcome names an equal Write whose outcome is unknown, in this run or
// an earlier one, for people to read. Empty: there is none.
func (s *State) unknownOutcome(tool string, args []byte) string {
	var content string
	for run := s; run != nil; run = run.earlier {
		if len(run.unknown) == 0 && (run == s || len(run.open) == 0) {
			continue
		}
		if content == "" {
			content = contentKey(tool, args)
		}
		of, found := run.unknown[content]
		for i := 0; i < len(run.open) && run != s && !found; i++ { // nobody will settle them any more
			c := run.open[i]
			of, found = c.ID, c.Effect == Write && c.unclear() && contentKey(c.Tool, c.args()) == content
		}
		switch {
		case found && run == s:
			return of
		case found:
			return of + " of run " + run.run
		}
	}
	return ""
}

// unclear reports whether an open call may have taken place.
func (c *call) unclear() bool {
	return c.Phase == PhaseInDoubt || c.Phase == PhaseLost || c.Phase == PhaseStarted || c.Phase == PhaseAwaitingChild
}

// UnspokenAnswer is the run's answer if the model did not give it in a turn: a
// final answer at a limit, or the loop's own answer. Empty: there is none.
func (s Internals) UnspokenAnswer() string {
	switch {
	case s.own != "" && s.own != s.LastText():
		return s.own
	case s.own == "" && s.complete == nil && !s.Done():
		return s.Answer()
	}
	return ""
}

// Continue makes the link by which the next run continues this one, whose
// conversation consists of messages.
func (s Internals) Continue(messages []Message) *Continues {
	c := &Continues{Run: s.run, Seq: s.seq, Untrusted: s.tainted, Found: slices.Clone(s.found)}
	for _, m := range messages {
		c.Bytes += s.around()
		for _, p := range m.Parts {
			c.Bytes += s.weigh(p)
		}
	}
	if s.lastInput > 0 {
		// What the run ended with has come to what its state counts.
		c.Input = s.lastInput + textTokens(max(0, s.bytes-s.lastBytes)+len(s.Internals().UnspokenAnswer()))
	}
	return c
}

// keyed separates the idempotency keys of this run's calls from those of
// another run with the same id. A derived id may have belonged to a run that
// was removed or is in another journal, and its calls are not this run's.
func (s *State) keyed() string { return s.run + display.After("-", s.first().Nonce) }

// Answered reports whether a call has an answer, whether its reply was rejected, and whether the
// model reads only why the reply was rejected.
func (s Internals) Answered(id string) (answered, rejected, omitted bool) {
	c := cmp.Or(s.call(id), new(call))
	return c.Phase == PhaseAnswered, c.rejected, c.omitted
}

// Shown returns the result of a call as a model sees it, and whether the call exists. For a call
// without an answer, it is what the model would see if the run ended now. A note that is not empty
// replaces the result. The result shares memory with the State and must not be changed.
func (s Internals) Shown(id, note string) (ToolResult, bool) {
	of := s.call(id)
	if of == nil {
		return ToolResult{}, false
	}
	c := *of
	switch {
	case c.Phase != PhaseAnswered && c.unclear():
		c.replace(ending{Status: ToolUnknown, Error: "the run ended before the result of this call was known"})
	case c.Phase != PhaseAnswered:
		c.replace(ending{Error: "not run: the run ended first"})
	case note != "":
		c.replace(ending{Status: c.Status, Error: c.Error, Result: wire.Quote(note)})
	}
	r := ToolResult{Call: id, Ref: c.Ref, Tool: c.Tool, Content: c.Result, Failed: c.Status != ToolOK, Images: c.images}
	if r.Failed {
		r.Content = wire.Quote(c.failure())
	} else if c.Edited != nil {
		r.Content = wire.Quote(fmt.Sprintf("A person changed the arguments to %s before it was run. Result: %s", c.Edited, wire.Plain(c.Result)))
	}
	if r.Content == nil {
		r.Content = []byte("null")
	}
	if c.Trust == Untrusted {
		r.Content = wire.Quote(wire.Fence(c.Tool, r.Text()))
	}
	return r, true
}

// replace gives the call another answer, for one request to the model.
func (c *call) replace(with ending) {
	c.end(with)
	c.Edited, c.images = nil, nil
}

// fenceBytes is what a fence adds to a result.
var fenceBytes = len(wire.Fence("", ""))

// failure is what the model reads of a call that has no result.
func (c *call) failure() string {
	if c.notRun {
		return c.Error
	}
	text := cmp.Or(map[ToolStatus]string{ToolTimeout: "timed out", ToolCancelled: "cancelled", ToolUnknown: "outcome unknown"}[c.Status], "error")
	if c.Error != "" {
		text += ": " + c.Error
	}
	if c.Effect == Write && (c.Status == ToolTimeout || c.Status == ToolUnknown) {
		text += ". Nobody knows whether it took effect: find out before doing it again"
	}
	return text
}
