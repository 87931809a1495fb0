package pawl

import (
	"slices"

	"github.com/pawl-run/pawl/internal/display"
)

// Continues says which run's conversation a run goes on with, and from where.
// Nothing is copied: the messages are read from the log of that run, which may
// itself continue another. Iterations, tokens, dollars, calls and time are
// counted from zero. Package team says what holds after a handoff.
type Continues struct {
	Run   string `wire:"run"`
	Seq   uint64 `wire:"seq"`               // the last entry that belongs to it
	Bytes int    `wire:"bytes,omit"`        // of conversation, for the estimate of the first request
	Input int    `wire:"input_tokens,omit"` // tokens that a provider probably counts for it; zero: unknown

	Found     []string `wire:"found,omit"`     // the deferred tools that the model was shown
	Untrusted bool     `wire:"untrusted,omit"` // there is untrusted text in it; see [State.Tainted]

	By      string   `wire:"by,omit"`      // the agent that handed over; empty: a person goes on
	Reason  string   `wire:"reason,omit"`  // why it did
	Carry   string   `wire:"carry,omit"`   // what the model sees of the conversation: summary, last, or empty for all
	Summary string   `wire:"summary,omit"` // by the agent that handed over
	Legs    []string `wire:"legs,omit"`    // the runs before, since a person spoke
	Limits  Limits   `wire:"limits,omit"`  // of all legs together
	Used    Limits   `wire:"used,omit"`    // of them, by the legs before; Handoffs counts those of the thread
}

// Next is the state in which a run begins that continues the run of s.
func (s *State) Next() *State { return &State{facts: facts{earlier: s.Clone()}} }

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
func (s *State) UnspokenAnswer() string {
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
func (s *State) Continue(messages []Message) *Continues {
	c := &Continues{Run: s.run, Seq: s.seq, Untrusted: s.tainted, Found: slices.Clone(s.found)}
	for _, m := range messages {
		c.Bytes += s.around()
		for _, p := range m.Parts {
			c.Bytes += s.weigh(p)
		}
	}
	if s.lastInput > 0 {
		// What the run ended with has come to what its state counts.
		c.Input = s.lastInput + textTokens(max(0, s.bytes-s.lastBytes)+len(s.UnspokenAnswer()))
	}
	return c
}

// keyed separates the idempotency keys of this run's calls from those of
// another run with the same id. A derived id may have belonged to a run that
// was removed or is in another journal, and its calls are not this run's.
func (s *State) keyed() string { return s.run + display.After("-", s.first().Nonce) }
