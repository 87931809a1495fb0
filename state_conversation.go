package pawl

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/usercode"
	"github.com/pawl-run/pawl/internal/wire"
)

// conversation is what was said in the run, apart from its turns, and what the model may know of
// it. Decide reads the questions and messages that are open and the tools that were found; loops,
// policies and conditions read the replies and the texts; the engine reads the prefix.
type conversation struct {
	inputs    []string                 // texts by people, in order
	followUps []InputGiven             // messages to read when the run would be done
	question  *InputRequested          // asked on behalf of no call; nil: none is open
	replies   map[string]*purposeReply // the latest by purpose, turns apart
	found     []string                 // tools that were deferred, in the order in which they were found
	prefix    int                      // how often what stands before the conversation has changed
	tainted   bool                     // the model may have read untrusted text
	meters    meter.Meters             // what models count
}

func (s *State) foldConversation(event Event) {
	switch e := event.(type) {
	case InputRequested:
		if c := s.hold(e.Call, PhaseAwaitingInput); c != nil {
			c.Reason, c.Expires, c.Requested, c.question, c.until = e.Question, e.Expires, s.seq, e.Key, c.Expires
			c.WakeAt, c.Awaits = e.WakeAt, e.Awaits
		} else {
			s.question = &e
		}
	case InputGiven:
		s.hear(&e)
	}
}

// addInput takes in what a person says; a final answer before it is no longer final.
func (s *State) addInput(text string) {
	s.inputs = append(s.inputs, text)
	s.talk.Bytes += s.size(text) + s.around()
	if s.replied.seq != 0 && s.settled && s.start != nil {
		s.refute()
	}
	s.complete = nil
}

func (s *State) hear(e *InputGiven) {
	s.take(e.Signal)
	switch {
	case e.After:
		s.followUps = append(s.followUps, *e)
	case s.question != nil && s.question.Call == e.Call:
		s.question = nil
		s.addInput(e.Text)
		s.reset()
	case e.Call == "":
		if len(s.followUps) > 0 && e.Signal == 0 {
			s.followUps = s.followUps[1:]
		}
		s.addInput(e.Text)
	default:
		s.inputs = append(s.inputs, e.Text)
		if c := s.opened(e.Call); c != nil && c.question != "" {
			c.Answers, c.By, c.Expires, c.Phase = maps.Clone(c.Answers), e.By, c.until, PhaseApproved // as when it first ran
			put(&c.Answers, c.question, e.Text)
			return
		}
		s.returned(e.Call, e.By, wire.Quote(e.Text), s.seq)
	}
}

// UserTexts yields the texts by people, oldest first: the inputs and answers of
// the runs that this one continues (see [State.Earlier]), then those of this
// run.
func (s *State) UserTexts() iter.Seq[string] {
	return func(yield func(string) bool) {
		var runs []*State
		for run := s; run != nil; run = run.earlier {
			runs = append(runs, run)
		}
		for _, run := range slices.Backward(runs) {
			for _, text := range run.inputs {
				if !yield(text) {
					return
				}
			}
		}
	}
}

// Text is what a search finds the run by: what people said in it, and its answer.
func (s *State) Text() string {
	text := strings.Join(s.inputs, "\n")
	if answer := s.Answer(); answer != "" {
		text += "\n" + answer
	}
	return text
}

// Prefix counts how often what stands before the conversation has changed, in this run and those
// that it continues: the system prompt or the tools. See [Thinking.Moved].
func (s Internals) Prefix() int { return s.prefix }

// Tainted reports whether the model has read untrusted text: the result of a tool labelled [Untrusted],
// an untrusted input, files of an input, the description of a tool that is [ToolInfo].Foreign, or any
// of these in a run that this one continues. A tainted run stays so, whatever is hidden from the model.
func (s *State) Tainted() bool { return s.tainted }

// foreign reports whether the model reads an untrusted description with its first request.
func (d *Declaration) foreign() bool {
	return slices.ContainsFunc(d.Tools, func(t ToolInfo) bool { return t.Foreign })
}

// Question is what the run itself, rather than one of its calls, asks a person,
// and whether it asks anything.
func (s *State) Question() (InputRequested, bool) { return value(s.question) }

// purposeReply is a reply, with the seq of its entry; zero: there is none.
type purposeReply struct {
	Reply
	seq       uint64
	malformed string // why its calls cannot be read
}

// Replied returns the latest reply made for a purpose. It is how a loop reads
// the answer to a Think with a tag of its own.
func (s *State) Replied(p Purpose) (Reply, bool) {
	r := s.repliedFor(p)
	return usercode.Copy(r.Reply), r.seq > 0
}

func (s *State) repliedFor(p Purpose) purposeReply {
	if p == PurposeTurn {
		return s.replied
	}
	r, _ := value(s.replies[string(p)])
	return r
}

// RepliedAt is the seq of the latest reply made for a purpose; zero: there is
// none. If it is lower for a judge than for the turn, the judge has not seen
// the turn.
func (s *State) RepliedAt(p Purpose) uint64 { return s.repliedFor(p).seq }

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
	if s.counted.Input > 0 {
		// What the run ended with has come to what its state counts.
		c.Input = s.counted.Input + textTokens(max(0, s.talk.Bytes-s.counted.Bytes)+len(s.Internals().UnspokenAnswer()))
	}
	return c
}

// UnspokenAnswer is the run's answer if the model did not give it in a turn: a
// final answer at a limit, or the loop's own answer. Empty: there is none.
func (s Internals) UnspokenAnswer() string {
	switch {
	case s.end().Answer != "" && s.end().Answer != s.LastText():
		return s.end().Answer
	case s.end().Answer == "" && s.complete == nil && !s.Done():
		return s.Answer()
	}
	return ""
}

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
			of, found = c.ID, c.Effect == Write && c.Phase.Unclear() && contentKey(c.Tool, c.args()) == content
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

// keyed separates the idempotency keys of this run's calls from those of
// another run with the same id. A derived id may have belonged to a run that
// was removed or is in another journal, and its calls are not this run's.
func (s *State) keyed() string { return s.run + display.After("-", s.first().Nonce) }
