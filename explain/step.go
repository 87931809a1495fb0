package explain

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// step says what an entry of the run's own steps is.
func (f *fold) step(e pawl.Entry) told {
	switch event := e.Event.(type) {
	case pawl.ModelCalled:
		return f.think(event)
	case pawl.ModelReplied:
		t := told{step: "think", subject: "model call", why: "its beginning is not in the log"}
		t.outcome = f.replied(event, f.since(e))
		return t
	case pawl.ModelFailed:
		t := told{step: "think", subject: "model call", why: "its beginning is not in the log"}
		t.outcome = []Phrase{failure(event, f.since(e))}
		return t
	case pawl.Observed:
		return f.observed(event)
	case pawl.Measured:
		return told{step: "observe", subject: "the world", why: f.whyObserve(), outcome: []Phrase{f.measured(e, event)}}
	case pawl.RunPaused:
		t := told{step: "await", subject: Phrase(event.Status.String()), why: Phrase(said(event.Reason))}
		if !event.WakeAt.IsZero() {
			t.outcome = []Phrase{Phrase("it wants to go on at " + stamp(event.WakeAt))}
		}
		return t
	case pawl.RunStopped:
		return stopped(event)
	}
	if t, is := f.act(e); is {
		return t
	}
	if t, is := f.judged(e.Event); is {
		return t
	}
	return f.record(e.Event)
}

// since is how long the step took that an entry ends.
func (f *fold) since(e pawl.Entry) time.Duration {
	if f.in == nil {
		return 0
	}
	return e.Time.Sub(f.in.Time)
}

func stopped(e pawl.RunStopped) told {
	t := told{step: "finish", subject: Phrase(e.Status.String()), why: Phrase(said(e.Detail))}
	if e.Status != pawl.StatusPlanFailed { // there the leaf is the status
		t.why = phrasef("%s decided: ", name(e.Leaf)) + t.why
	}
	return t
}

// think says what a model is asked for, and why.
func (f *fold) think(c pawl.ModelCalled) told {
	t := told{step: "think", subject: Phrase(name(string(c.Purpose))), why: f.whyThink(c)}
	if c.View.Step != "" {
		t.subject = Phrase("step " + name(c.View.Step))
	}
	switch c.View.ToolChoice {
	case "":
	case "required":
		t.subject += ", which must call a tool"
	default:
		t.subject += Phrase(", which must call " + name(c.View.ToolChoice))
	}
	if c.Attempt > 1 {
		t.subject += phrasef(", attempt %d", c.Attempt)
	}
	if c.Model != "" {
		t.subject += Phrase(" by " + name(c.Model))
	} else {
		f.fallback = c.Fallback
	}
	if c.Waited > 0 {
		t.why += phrasef("; it waited %s for the rate of its provider", display.Lasting(c.Waited))
	}
	if c.Purpose == pawl.PurposeTurn {
		f.answered, f.rejected = nil, 0
	}
	f.lost = false
	return t
}

// purposes say why a model is called for something other than a turn.
var purposes = map[pawl.Purpose]Phrase{
	pawl.PurposeFinal:   "a ceiling was met: one last answer, without tools",
	pawl.PurposeSummary: "the conversation was to be shortened",
	pawl.PurposeJudge:   "a policy or the loop wanted a judgement",
	"judge.reflexion":   "to judge how the run is going",
	"judge.grounding":   "to hold the answer against what the tools said",
	"judge.steer":       "to judge the calls before they run",
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
		return phrasef("%s is asked instead: attempt %d failed (%v: %s)", name(f.model(&f.decl, &c).Name), failed.Attempt, failed.Class, said(failed.Message))
	case ok && failed.Purpose == c.Purpose:
		return phrasef("again: attempt %d failed (%v: %s)", failed.Attempt, failed.Class, said(failed.Message))
	case purposes[c.Purpose] != "":
		return purposes[c.Purpose]
	case strings.HasPrefix(string(c.Purpose), string(pawl.PurposeJudge)+"."):
		return "a policy wanted a judgement"
	case c.Purpose != pawl.PurposeTurn:
		return phrasef("the loop %s asked for it", name(f.decl.Loop))
	case f.rejected > 0 && f.rejected < maxStrikes:
		return phrasef("asked again: the reply was rejected (try %d of %d)", f.rejected+1, maxStrikes)
	}
	slices.SortFunc(f.answered, byNumber)
	switch answered := slices.Compact(f.answered); {
	case f.rejected > 0:
		return phrasef("%d replies in a row were rejected, so a new turn", f.rejected)
	case len(answered) == 1:
		return phrasef("%s has its result", name(answered[0]))
	case len(answered) > 1:
		return phrasef("%s have their results", names(answered, 4))
	case f.state.Iteration() == 0:
		return "the run begins"
	case c.View.Step != "":
		return "it is the next step"
	}
	return "the run goes on"
}

// maxStrikes is how many replies of one iteration the machine may reject.
const maxStrikes = 3

// replied lists what is in a reply.
func (f *fold) replied(e pawl.ModelReplied, took time.Duration) (out []Phrase) {
	var calls, cited []string
	text, thinking := e.Reply.Text(), ""
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
	if f.decl.Strategy == pawl.StrategyJSON && len(calls) > 0 {
		thinking, text = thinking+wire.Thought(text), "" // the text is the call, which is shown
	}
	add := func(is bool, p Phrase) {
		if is {
			out = append(out, p)
		}
	}
	add(thinking != "", Phrase("thought: "+said(thinking)))
	add(text != "", Phrase("said: "+said(text)))
	add(len(cited) > 0, Phrase("cited "+names(cited, 6)))
	for _, h := range e.Reply.Hosted {
		came := ": " + said(wire.Plain(h.Result))
		if h.Error != "" {
			came = ", which failed: " + said(h.Error)
		}
		add(true, Phrase("the provider ran "+name(h.Call.ID+" "+h.Call.Tool)+" "+data(h.Call.Args)+came))
	}
	inStep := f.flight != nil && f.flight.Event.(pawl.ModelCalled).View.Step != ""
	switch {
	case len(calls) > 0:
		add(true, Phrase("called "+names(calls, 6)))
	case e.Reply.Filter != "":
		add(true, Phrase("was stopped by the provider ("+said(e.Reply.Filter)+")"))
	case e.Reply.Stop == pawl.StopRefusal:
		add(true, "refused to answer")
	case e.Purpose == pawl.PurposeTurn && e.Reply.Stop == pawl.StopEnd && e.Malformed == "" && !inStep:
		add(true, "called no tool: this is its answer")
	}
	add(e.Reply.Stop == pawl.StopLength, "was cut off at its token limit")
	add(e.Reply.Stop == pawl.StopPause, "the provider paused the turn, to be sent again")
	add(e.Reply.Repaired, "had bytes that are not UTF-8, which are U+FFFD here")
	add(e.Malformed != "", Phrase("cannot be used: "+said(e.Malformed)))
	if byRules(&f.decl) {
		return append(out, Phrase(display.Lasting(took)))
	}
	return append(out, usage(e)+Phrase(", "+display.Lasting(took)))
}

func usage(e pawl.ModelReplied) Phrase {
	u := e.Reply.Usage
	p := phrasef("%s tokens in, %s out", display.Group(u.Input), display.Group(u.Output))
	if u.CacheRead > 0 {
		p += phrasef(" (%s from the cache)", display.Group(u.CacheRead))
	}
	if e.Estimated {
		p += ", estimated"
	}
	if e.Priced {
		p += Phrase(", " + dollars(pawl.Decimal(e.Cost)))
	}
	return p
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

// record explains facts that the machine recorded.
func (f *fold) record(event pawl.Event) (t told) {
	t.step = "record"
	switch e := event.(type) {
	case pawl.PlanRejected:
		f.rejected = e.Rejection
		t.subject, t.why = "reply rejected", phrasef("try %d of %d", e.Rejection, maxStrikes)
		for _, reason := range e.Reasons[:min(3, len(e.Reasons))] {
			t.why += Phrase(": " + said(reason))
		}
		if more := len(e.Reasons) - 3; more > 0 {
			t.why += phrasef(" and %d more", more)
		}
	case pawl.InputGiven:
		t.subject, t.why = "the model now reads a message"+by(e.By), Phrase(said(e.Text))
	case pawl.InputRequested:
		t.subject, t.why = "a question to a person", Phrase("a person is asked: "+said(e.Question))
	case pawl.ContextCompacted:
		t.subject, t.why = "the conversation is shortened", shortened(e)
	case pawl.Noted:
		return noted(e)
	default:
		t.subject = Phrase(name(pawl.Entry{Event: event}.Type()))
	}
	return t
}

// shortening says why a conversation was shortened, by the word in the log.
var shortening = map[string]Phrase{
	"":      "",
	"price": "carrying it on would have cost more: ",
	"pause": "the provider's cache had lost it, so that it cost nothing: ",
	"tools": "tools were found, so that the provider's cache had nothing of it anyway: ",
}

func shortened(e pawl.ContextCompacted) Phrase {
	why, known := shortening[e.Why]
	if !known {
		why = Phrase(said(e.Why) + ": ")
	}
	left := Phrase(display.Count(len(e.Masked), "result") + " left out")
	switch {
	case e.Summary == "":
		return why + left
	case len(e.Masked) == 0:
		return why + phrasef("entries %d to %d are shown as a summary", e.From, e.To)
	}
	return why + phrasef("entries %d to %d are shown as a summary, %s", e.From, e.To, left)
}

// noted explains a note by who wrote it.
func noted(e pawl.Noted) told {
	t := told{step: "record", subject: Phrase("a note " + name(e.Name)), why: phrasef("%s noted %s", name(e.By), data(e.Value))}
	switch e.By {
	case "no_progress": // where it counts its hints and questions
		t.why = ""
	case "__loop__":
		var calls []struct{ Call, Tool, Step string }
		if json.Unmarshal(e.Value, &calls) != nil || len(calls) == 0 {
			break
		}
		var steps, tools []string
		for _, c := range calls {
			steps, tools = append(steps, cmp.Or(c.Step, c.Call)), append(tools, c.Tool)
		}
		t.subject, t.why = Phrase("steps "+names(steps, 6)), Phrase("it is known what comes next: "+names(tools, 6))
	case "judge.steer":
		var r struct{ Verdict, Reason string }
		if json.Unmarshal(e.Value, &r) == nil && r.Verdict != "" {
			t.subject, t.why = Phrase("a verdict on "+name(e.Name)), phrasef("%s: %s", name(r.Verdict), said(r.Reason))
		}
	case "judge.reflexion", "judge.grounding", "judge.causal":
		t.why = "" // the entry before says it
	case "__budget__":
		var over struct{ Detail string }
		_ = json.Unmarshal(e.Value, &over)
		t.subject, t.why = "a budget refuses the next model call", Phrase(said(over.Detail))
	}
	return t
}
