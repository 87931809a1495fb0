package guard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// Review checks the text that a model is about to read, the calls it makes, and
// the final answer.
func (g *Guard) Review(s *pawl.State, step pawl.Step) pawl.Step {
	if again := g.again(s, step); again != nil {
		return again
	}
	switch step := step.(type) {
	case pawl.Think:
		return g.reads(s, step)
	case pawl.Act:
		return g.acts(s, step)
	case pawl.Finish:
		return g.ends(s, step)
	}
	return step
}

// Inherited reports that the guard also applies to sub-agents.
func (g *Guard) Inherited(*pawl.State, string) bool { return true }

// again rejects the latest reply if a Retry rule matches it, and asks the model
// again where the reply could end the run; nil: neither.
func (g *Guard) again(s *pawl.State, step pawl.Step) pawl.Step {
	retries := slices.ContainsFunc(g.rules, func(r Rule) bool { return r.do == Retry })
	reply, replied := s.Replied(pawl.PurposeTurn)
	finish, ends := step.(pawl.Finish)
	if !retries || !replied || ends && finish.Verdict.Status != pawl.StatusSuccess {
		return nil
	}
	texts := []string{reply.Text()}
	for _, p := range reply.Parts {
		if c, ok := p.(pawl.Call); ok {
			texts = append(texts, plain(c.Args))
		}
	}
	var reasons []string
	for _, text := range texts {
		for _, hit := range g.found(text, inReply) {
			if why := hit.instead(); hit.do == Retry && !slices.Contains(reasons, why) {
				reasons = append(reasons, why)
			}
		}
	}
	if rejection, ok := s.Reject(reasons); ok {
		return rejection
	}
	if ends && finish.Answer == "" && reasons != nil && len(texts) == 1 && !s.Done() {
		return pawl.Think{Purpose: pawl.PurposeTurn} // the success condition still holds, but the answer was rejected
	}
	return nil
}

// instead returns the reason for a rejection, for the model.
func (f finding) instead() string {
	if f.said != nil {
		return "it speaks of " + strings.Join(f.said, ", ") + ", which is not allowed here; reply without that"
	}
	return fmt.Sprintf("it holds what is blocked: %v; leave that out", f)
}

// look is a text to check, with a name for it.
type look struct {
	what  string
	text  string
	where places
}

// reads checks the text that the model has not read yet: before its first reply
// the input and the conversation it continues, later the results of its latest
// calls. Observations and answers are checked before each turn until newer ones
// replace them.
func (g *Guard) reads(s *pawl.State, step pawl.Step) pawl.Step {
	reply, replied := s.Replied(pawl.PurposeTurn)
	looks, heard := earlier(s, !replied)
	n, last := -heard, ""
	for text := range s.UserTexts() {
		if n++; n == 1 && !replied {
			looks = append(looks, look{"the input", text, inInput})
		}
		last = text
	}
	if n > 1 {
		looks = append(looks, look{fmt.Sprintf("what was said %d", n), last, inInput})
	}
	if replied {
		for _, p := range reply.Parts {
			if made, ok := p.(pawl.Call); ok {
				c, _ := s.Call(made.ID)
				looks = append(looks, look{"the result of " + c.ID + " (" + c.Tool + ")", plain(c.Result) + "\n" + c.Error, inResult})
			}
		}
	}
	if seen := s.Seen(); seen != "" {
		looks = append(looks, look{"the observation", seen, inResult})
	}
	for _, l := range looks {
		if stop := g.judge(s, l); stop != nil {
			return stop
		}
	}
	return step
}

// earlier returns the texts of earlier runs of the thread that the model reads:
// those runs may have had no guard, or a guard may have ended them first. heard
// is the number of texts from people.
func earlier(s *pawl.State, looking bool) (looks []look, heard int) {
	before, ok := s.Earlier()
	for text := range before.UserTexts() {
		if heard++; looking {
			looks = append(looks, look{fmt.Sprintf("what was said %d in the thread", heard), text, inInput})
		}
	}
	for ; ok && looking; before, ok = before.Earlier() {
		for c := range before.Calls() {
			looks = append(looks, look{fmt.Sprintf("the result of %s (%s) of run %s", c.ID, c.Tool, before.Run()), plain(c.Result) + "\n" + c.Error, inResult})
		}
		if seen := before.Seen(); seen != "" {
			looks = append(looks, look{"the observation of run " + before.Run(), seen, inResult})
		}
	}
	return looks, heard
}

// judge returns the step for a text; nil: none.
func (g *Guard) judge(s *pawl.State, l look) pawl.Step {
	for _, hit := range g.found(l.text, l.where) {
		if hit.blocks() {
			return g.failed(l.what, hit, "")
		}
		if note := g.note(s, l.what, hit); note != nil {
			return note
		}
	}
	return nil
}

// failed returns the step that ends the run.
func (g *Guard) failed(what string, hit finding, instead string) pawl.Step {
	return pawl.Finish{Answer: instead, Verdict: pawl.Verdict{
		Holds: true, Status: pawl.StatusFailed, Condition: "guard", Leaf: "guard", Detail: fmt.Sprintf("%s holds what is blocked: %v", what, hit),
	}}
}

// note returns the step that records a warning; nil: it is recorded already.
func (g *Guard) note(s *pawl.State, what string, hit finding) pawl.Step {
	name := what + ": " + hit.rule
	value, err := json.Marshal(map[string]any{"found": hit.kinds, "in": what, "rule": hit.rule})
	if old, ok := s.Note(g.name, name); err != nil || ok && string(old) == string(value) {
		return nil
	}
	return pawl.Record{Events: []pawl.Event{pawl.Noted{By: g.name, Name: name, Value: value}}}
}

// acts refuses calls with blocked arguments, and every call of a reply with
// blocked text.
func (g *Guard) acts(s *pawl.State, step pawl.Act) pawl.Step {
	reply, _ := s.Replied(pawl.PurposeTurn)
	why := ""
	for _, hit := range g.found(reply.Text(), inReply) {
		if hit.blocks() {
			why = fmt.Sprintf("the reply it stands in holds what is blocked: %v", hit)
		} else if note := g.note(s, fmt.Sprintf("reply %d", s.Iteration()), hit); note != nil {
			return note
		}
	}
	refused := false
	for i := range step.Calls {
		d := &step.Calls[i]
		blocked := why
		for _, hit := range g.found(plain(d.Call.Args), inReply) {
			if hit.blocks() {
				blocked = fmt.Sprintf("its arguments hold what is blocked: %v; leave that out", hit)
			} else if note := g.note(s, "the arguments of "+d.Call.ID, hit); note != nil {
				return note
			}
		}
		if blocked != "" && d.Do < pawl.CallRefuse {
			d.Do, d.Why, refused = pawl.CallRefuse, "not run: "+blocked, true
		}
	}
	if refused {
		return pawl.Act{Calls: step.Calls}
	}
	return step
}

// ends withholds a final answer with blocked text.
func (g *Guard) ends(s *pawl.State, step pawl.Finish) pawl.Step {
	answer := step.Answer
	answer = cmp.Or(answer, s.Answer())
	for _, hit := range g.found(answer, inReply) {
		if ended := step.Verdict.Status; hit.blocks() && (ended == pawl.StatusSuccess || ended == pawl.StatusExhausted) {
			return g.failed("the answer", hit, fmt.Sprintf("(withheld: it holds %v)", hit))
		}
		if note := g.note(s, "the answer", hit); note != nil { // also for an answer that may not be withheld
			return note
		}
	}
	return step
}

// plain returns the keys, strings and numbers of a JSON document, one per line.
// A key precedes its value, so nothing in either is missed.
func plain(raw json.RawMessage) string {
	if text := wire.Plain(raw); text != string(raw) {
		return text
	}
	var b strings.Builder
	wire.Scalars(raw, func(_ byte, text string) { b.WriteString(text + "\n") })
	return b.String()
}
