package window

import (
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// Review shortens the conversation before a turn whose request would be too long or too expensive,
// and after a model has refused a request for its length.
func (c compaction) Review(s *pawl.State, step pawl.Step) pawl.Step {
	if f, failed := s.Failure(); failed && f.Class == pawl.ClassTooLong {
		return c.refused(s, step)
	}
	t, ok := step.(pawl.Think)
	if !ok || t.Purpose != pawl.PurposeTurn || t.View.Step != "" || s.HasOpen() {
		return step // each step of a workflow begins without the history
	}
	w := s.Internals().Window()
	if long := c.lasting(s, t, w); long != t.Long { // else the step needs no copy
		t.Long = long
		step = t
	}
	p := c.byLimit(s, t, w)
	if c.answered(s, w) {
		if p.do == nothing {
			p.why = "price"
		}
		p = plan{do: summarise, why: p.why, keep: c.kept(w)}
	} else if p.do == nothing {
		p = c.byPrice(s, t, w)
	}
	return c.perform(s, step, w, p)
}

// answered reports whether the requested summary has arrived.
func (c compaction) answered(s *pawl.State, w meter.Window) bool {
	return s.RepliedAt(pawl.PurposeSummary) > max(s.RepliedAt(pawl.PurposeTurn), w.Compacted)
}

// kept is how many of the latest replies stay.
func (c compaction) kept(w meter.Window) int { return min(w.Exchanges, c.Keep) }

// perform turns a plan into a step.
func (c compaction) perform(s *pawl.State, step pawl.Step, w meter.Window, p plan) pawl.Step {
	old := w.Exchanges - p.keep
	e := pawl.ContextCompacted{From: w.Since(0), To: s.Seq(), Kept: p.keep, Why: p.why}
	if next := w.Since(old); next > 0 {
		e.To = next - 1
	}
	switch p.do {
	case nothing:
		return step
	case broken:
		return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusFailed, Condition: "context", Leaf: "context", Detail: p.why}}
	case mask:
		e.From, e.Kept = w.Since(w.Full()), 0
		e.Masked = s.Internals().MaskableCalls(old)
		return pawl.Record{Events: []pawl.Event{e}}
	case summarise:
		if c.answered(s, w) {
			reply, _ := s.Replied(pawl.PurposeSummary)
			e.Summary = written(s, old, reply)
			break
		}
		if missed, _ := s.Missed(pawl.PurposeSummary); missed.Class == 0 || missed.Class == pawl.ClassCancelled {
			return pawl.Think{Purpose: pawl.PurposeSummary, Model: c.name, MaxTokens: mostSummary,
				View: pawl.View{Prompt: summaryPrompt, Bare: c.name != ""}}
		}
	}
	if e.Summary == "" {
		e.Summary = local(s, old)
	}
	if e.From == 0 {
		e.From = 1
	}
	if p.do == shorten && p.bare < p.keep || old == 0 {
		e.Masked, e.To = s.Internals().MaskableCalls(w.Exchanges-p.bare), s.Seq()
	}
	return pawl.Record{Events: []pawl.Event{e}}
}

// refused shortens a conversation that a model has refused for its length, once and without a
// model. The request is sent again; if it is refused again, the run fails.
func (c compaction) refused(s *pawl.State, step pawl.Step) pawl.Step {
	w := s.Internals().Window()
	if w.Shortened || s.HasOpen() {
		return step
	}
	switch step := step.(type) {
	case pawl.Record:
		if e, ok := step.Events[0].(pawl.ContextCompacted); !ok || e.Why != "" {
			return step
		}
	case pawl.Finish:
		if step.Verdict.Status != pawl.StatusFailed || step.Verdict.Leaf != "model" {
			return step
		}
	default:
		return step
	}
	keep := c.kept(w)
	if saves := w.Before(w.Exchanges-keep) - w.Least + w.Maskable(w.Exchanges-keep); saves < w.Bytes/4 {
		keep = min(keep, 1) // the latest replies themselves are too long
	}
	bare := keep
	if w.Maskable(w.Exchanges) > 0 && w.Before(w.Exchanges-keep)-w.Least < w.Bytes/4 {
		bare = 0
	}
	if w.Before(w.Exchanges-keep) <= w.Least && w.Maskable(w.Exchanges-bare) == 0 {
		return step // nothing can be omitted
	}
	return c.perform(s, step, w, plan{do: shorten, why: fmt.Sprintf("too long for the model at about %d tokens", w.Refused), keep: keep, bare: bare})
}
