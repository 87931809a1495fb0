package explain

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// maxStrikes is how many replies of one iteration the machine may reject.
const maxStrikes = 3

// think says what a model is asked for, and why.
func (f *fold) think(d *Decision, first pawl.Event) {
	called, ok := first.(pawl.ModelCalled)
	switch {
	case !ok && f.editing:
		d.Subject, d.Why = Phrase("reply"+by(f.forked.By)), "it was edited"
	case !ok: // an outcome without its intent
		d.Subject, d.Why = "model call", "its beginning is not in the log"
	default:
		if d.Subject = Phrase(name(string(called.Purpose))); called.View.Step != "" {
			d.Subject = Phrase("step " + name(called.View.Step))
		}
		if called.Attempt > 1 {
			d.Subject += phrasef(", attempt %d", called.Attempt)
		}
		if called.Model != "" {
			d.Subject += Phrase(" by " + name(called.Model))
		}
		d.Why = f.whyThink(called)
		if called.Waited > 0 {
			d.Why += phrasef("; it waited %s for the rate of its provider", display.Lasting(called.Waited))
		}
		if called.Model == "" {
			f.fallback = called.Fallback
		}
		if called.Purpose == pawl.PurposeTurn {
			f.answered, f.causes, f.rejected = nil, nil, 0
		}
	}
	f.lost = false
}

// thought explains a model call's outcome.
func (f *fold) thought(d *Decision) {
	took := f.step[len(f.step)-1].Time.Sub(d.Time)
	for _, e := range f.step {
		switch e := e.Event.(type) {
		case pawl.ModelReplied:
			d.Outcome = append(d.Outcome, f.replied(e, took)...)
		case pawl.ModelFailed:
			d.Outcome = append(d.Outcome, failure(e, took))
		}
	}
	if len(d.Outcome) == 0 {
		called, _ := f.step[0].Event.(pawl.ModelCalled)
		d.Outcome = []Phrase{phrasef("the log has no outcome of it; %s tokens are reserved", display.Group(called.Reserved))}
	}
}

// whyThink returns the reason for a model call.
func (f *fold) whyThink(c pawl.ModelCalled) Phrase {
	failed, ok := f.state.Failure()
	if missed, _ := f.state.Missed(c.Purpose); missed.Class != 0 {
		failed, ok = missed, true
	}
	switch {
	case f.lost:
		return "again: the attempt before was lost with the run's owner"
	case ok && c.Model == "" && c.Fallback > f.fallback:
		return phrasef("%s is asked instead: attempt %d failed (%v: %s)", name(f.fallbackName(c.Fallback)), failed.Attempt, failed.Class, said(failed.Message))
	case ok && failed.Purpose == c.Purpose:
		return phrasef("again: attempt %d failed (%v: %s)", failed.Attempt, failed.Class, said(failed.Message))
	}
	if why := whyJudge(c.Purpose); why != "" {
		return why
	}
	switch c.Purpose {
	case pawl.PurposeFinal:
		return "a ceiling was met: one last answer, without tools"
	case pawl.PurposeSummary:
		return "the conversation was to be shortened"
	case pawl.PurposeTurn:
	default:
		return phrasef("the loop %s asked for it", name(f.decl.Loop))
	}
	causes := f.causes
	switch {
	case f.rejected > 0 && f.rejected < maxStrikes:
		return phrasef("asked again: the reply was rejected (try %d of %d)", f.rejected+1, maxStrikes)
	case f.rejected > 0:
		causes = append([]Phrase{phrasef("%d replies in a row were rejected, so a new turn", f.rejected)}, causes...)
	}
	slices.SortFunc(f.answered, byNumber)
	switch answered := slices.Compact(f.answered); len(answered) {
	case 0:
	case 1:
		causes = append([]Phrase{phrasef("%s has its result", name(answered[0]))}, causes...)
	default:
		causes = append([]Phrase{phrasef("%s have their results", names(answered, 4))}, causes...)
	}
	switch {
	case len(causes) > 0:
		return join(causes, "; ")
	case f.state.Iteration() == 0:
		return "the run begins"
	case c.View.Step != "":
		return "it is the next step"
	}
	return "the run goes on"
}

// inStep reports whether the turn is a step of a workflow.
func (f *fold) inStep() bool {
	called, ok := f.step[0].Event.(pawl.ModelCalled)
	return ok && called.View.Step != ""
}

// fallbackName returns the name of the nth fallback.
func (f *fold) fallbackName(n int) string {
	if all := f.decl.Fallback; n <= len(all) {
		return all[n-1].Name
	}
	return fmt.Sprintf("fallback %d", n)
}

func join(parts []Phrase, sep Phrase) (out Phrase) {
	for i, p := range parts {
		if i > 0 {
			out += sep
		}
		out += p
	}
	return out
}

func (f *fold) replied(e pawl.ModelReplied, took time.Duration) (out []Phrase) {
	var thinking string
	var calls, cited []string
	for _, p := range e.Reply.Parts {
		switch p := p.(type) {
		case pawl.Thinking:
			thinking += p.Text
		case pawl.Call:
			calls = append(calls, p.ID+" "+p.Tool)
		case pawl.Citation:
			if source := cmp.Or(p.URL, p.Title); source != "" && !slices.Contains(cited, source) {
				cited = append(cited, source)
			}
		}
	}
	text := e.Reply.Text()
	if f.decl.Strategy == pawl.StrategyJSON && len(calls) > 0 {
		thinking, text = thinking+wire.Thought(text), "" // the text is the call, which is shown
	}
	if thinking != "" {
		out = append(out, Phrase("thought: "+said(thinking)))
	}
	if text != "" {
		out = append(out, Phrase("said: "+said(text)))
	}
	if len(cited) > 0 {
		out = append(out, Phrase("cited "+names(cited, 6)))
	}
	for _, h := range e.Reply.Hosted {
		what, came := "the provider ran "+h.Call.ID+" "+h.Call.Tool+" "+said(string(h.Call.Args)), ": "+said(wire.Plain(h.Result))
		if h.Error != "" {
			came = ", which failed: " + said(h.Error)
		}
		out = append(out, Phrase(what+came))
	}
	switch {
	case len(calls) > 0:
		out = append(out, Phrase("called "+names(calls, 6)))
	case e.Reply.Filter != "":
		out = append(out, Phrase("was stopped by the provider ("+said(e.Reply.Filter)+")"))
	case e.Reply.Stop == pawl.StopRefusal:
		out = append(out, "refused to answer")
	case e.Purpose == pawl.PurposeTurn && e.Reply.Stop == pawl.StopEnd && e.Malformed == "" && !f.inStep():
		out = append(out, "called no tool: this is its answer")
	}
	switch e.Reply.Stop {
	case pawl.StopLength:
		out = append(out, "was cut off at its token limit")
	case pawl.StopPause:
		out = append(out, "the provider paused the turn, to be sent again")
	}
	if e.Reply.Repaired {
		out = append(out, "had bytes that are not UTF-8, which are U+FFFD here")
	}
	if e.Malformed != "" {
		out = append(out, Phrase("cannot be used: "+said(e.Malformed)))
	}
	if byRules(f.decl) {
		return append(out, Phrase(display.Lasting(took)))
	}
	u := e.Reply.Usage
	cost := fmt.Sprintf("%s tokens in, %s out", display.Group(u.Input), display.Group(u.Output))
	if u.CacheRead > 0 {
		cost += fmt.Sprintf(" (%s from the cache)", display.Group(u.CacheRead))
	}
	if e.Estimated {
		cost += ", estimated"
	}
	if e.Priced {
		cost += ", " + dollars(pawl.Decimal(e.Cost))
	}
	return append(out, Phrase(cost+", "+display.Lasting(took)))
}

func failure(e pawl.ModelFailed, took time.Duration) Phrase {
	p := phrasef("failed after %s: %v: %s", display.Lasting(took), e.Class, said(e.Message))
	switch {
	case e.Class == pawl.ClassCancelled:
	case !e.Class.Transient():
		p += "; another attempt would not help"
	case !e.RetryAt.IsZero():
		p += Phrase("; to be tried again at " + stamp(e.RetryAt))
	}
	return p
}
