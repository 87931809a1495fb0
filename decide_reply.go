package pawl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/wire"
)

// Called is the intent to perform t, to be appended before the model is called.
func (m *Machine) Called(t Think) ModelCalled {
	return ModelCalled{Purpose: t.Purpose, Attempt: t.Attempt, Reserved: t.Estimate + t.Hosted.Input + t.MaxTokens, Cost: t.Cost, MaxTokens: t.MaxTokens, Bytes: t.Bytes, Fallback: t.Fallback, Model: t.Model, Effort: t.Effort, View: t.View, Long: t.Long}
}

// transcript is what a request shows of a run, the [ModelCalled] of the request
// included, and the places up to which other requests are likely to show the same.
type transcript interface {
	Messages(*State) (messages []Message, marks []int)
}

// Request materialises what t sends from the conversation so far, such as a
// transcript of package window; nil is an empty one.
func (m *Machine) Request(s *State, t Think, so transcript) Request {
	r := Request{
		Run: s.run, Purpose: t.Purpose, Attempt: t.Attempt, Turn: t.Iteration, Step: t.View.Step,
		System: m.system(t.View, m.shown(s)), MaxTokens: t.MaxTokens, Sampling: m.agent.Sampling, Long: t.Long,
	}
	if !t.View.Alone {
		r.Messages, r.Marks = so.Messages(s)
	}
	if t.View.Prompt != "" && (t.View.Alone || t.Purpose != PurposeTurn) {
		r.Messages = withPrompt(r.Messages, t.View.Prompt)
	}
	if m.declares(&t.View) {
		r.Tools = m.shown(s)
	}
	if len(r.Tools) > 0 {
		r.ToolChoice = t.View.ToolChoice
		if t.View.Bare {
			r.ToolChoice = choiceNone
		}
	}
	switch {
	case t.View.Output != "":
		r.Output = json.RawMessage(t.View.Output)
	case t.Purpose == PurposeTurn && m.agent.Strategy == StrategyNative && t.View.Step == "":
		r.Output = m.agent.Output
	}
	if t.Model != "" { // the knobs are the agent's model's
		r.Sampling = Sampling{}
	}
	r.Sampling.Effort = cmp.Or(t.Effort, r.Sampling.Effort)
	if d := s.declared(); d.systemOf(&t.View) != d.systemOf(&s.asked.View) {
		r.Messages = slices.Clone(r.Messages) // which others share
		for i, msg := range r.Messages {
			r.Messages[i] = msg.Moved()
		}
	}
	return r
}

// declares reports whether a request with a view has the tools: to call them, or because the
// calls of the conversation, the provider's cache and the thinking that is bound to them need them.
func (m *Machine) declares(v *View) bool {
	talks := !v.Alone && v.Step == ""
	return m.agent.Strategy == StrategyNative && !m.single && (!v.Bare || talks)
}

// systemOf names the system prompt of a request apart from the agent's own: by its text, or by
// the lack of the tools in it under the JSON strategy.
func (d *Declaration) systemOf(v *View) string {
	if d.Strategy == StrategyJSON && v.Bare {
		return "\x00" + v.System
	}
	return v.System
}

// Request rebuilds from the log what was sent for called, the latest entry of s,
// of a turn, and which model was asked. The agent is what the run recorded of it;
// the conversation has taken in all entries up to this one.
func (s Internals) Request(called ModelCalled, turn int, so transcript) (Request, ModelInfo) {
	d := s.Declaration()
	m := Machine{agent: Agent{Prompt: d.Prompt, Strategy: d.Strategy, Sampling: d.Sampling, Output: d.Output}, core: core(d.Tools)}
	m.single = d.Loop == SingleCall{}.Name()
	think := Think{
		Purpose: called.Purpose, View: called.View, Model: called.Model, MaxTokens: called.MaxTokens, Long: called.Long,
		Prepared: Prepared{Iteration: turn, Attempt: called.Attempt, Fallback: called.Fallback, Effort: called.Effort},
	}
	return m.Request(s.State, think, so), *d.model(think.Model, think.Fallback)
}

// withPrompt says something after the conversation. The conversation's own
// slice is shared and stays as it is.
func withPrompt(messages []Message, prompt string) []Message {
	out := append([]Message(nil), messages...)
	if n := len(out); n > 0 && out[n-1].Role == RoleUser {
		out[n-1].Parts = append(append([]Part(nil), out[n-1].Parts...), Text{prompt})
		return out
	}
	return append(out, Message{Role: RoleUser, Parts: []Part{Text{prompt}}})
}

// Replied makes the event of a reply: its calls get the run's ids, its text is
// made valid, its usage is checked, and it is priced. A reply with neither text nor calls, and
// one that is asked for again at once, are errors: the attempt has failed.
func (m *Machine) Replied(s *State, t Think, r Reply) (ModelReplied, error) {
	content, n := r.adopt(m.adoptHosted(s, &t, &r))
	content += len(r.Hosted)
	r.Notes, r.Filter = nil, display.Short(wire.Text(r.Filter))
	if content == 0 && r.Stop != StopRefusal {
		return ModelReplied{}, &ModelError{Class: ClassEmpty, Message: "the reply has neither text nor calls", Usage: r.Usage}
	}
	e := ModelReplied{Purpose: t.Purpose}
	whole := r.Stop != StopRefusal && r.Stop != StopLength
	if whole && m.acts(&t) {
		if action, flaw := readJSONReply(r, n+1); flaw == "" || !t.View.Bare { // whose model has not read how to call a tool
			r, e.Malformed = action, flaw
		}
	}
	r.disarm()
	if whole && e.Malformed == "" && r.Stop != StopPause {
		e.Malformed = r.unchosen(t.View.ToolChoice)
	}
	if r.Stop = cmp.Or(r.Stop, StopEnd); r.Stop == StopEnd && hasCalls(r) {
		r.Stop = StopCalls
	}
	r.Usage, e.Estimated = checkUsage(r.Usage, t, content)
	if price := m.decl.model(t.Model, t.Fallback).Price; price != nil {
		e.Priced, e.Cost = true, price.Cost(r.Usage)
	}
	e.Reply = r
	if failed := m.asksAgain(s, t, &e); failed != nil {
		return ModelReplied{}, failed
	}
	return e, nil
}

// adoptHosted makes the hosted calls of a reply valid, and numbers those of a turn. It returns the
// number of the last call.
func (m *Machine) adoptHosted(s *State, t *Think, r *Reply) int {
	n := s.counter()
	r.Hosted = slices.Clone(r.Hosted)
	for i := range r.Hosted {
		h := &r.Hosted[i]
		if r.host(h, m.decl.tool(h.Call.Tool).MaxOutput); t.Purpose == PurposeTurn {
			n++
			h.Call.ID = callID(n)
		}
	}
	return n
}

// unchosen says what a reply lacks under a tool choice; empty: nothing. Ending the run by the
// builtin __complete__ is no call of a tool.
func (r *Reply) unchosen(choice string) string {
	called := len(r.Hosted) > 0
	for _, p := range r.Parts {
		c, is := p.(Call)
		if !is || c.Tool == completeTool {
			continue
		}
		if called = true; choice != choiceRequired && choice != "" && c.Tool != choice {
			return fmt.Sprintf("this turn must call %s and no other tool", choice)
		}
	}
	switch {
	case choice == "" || called:
		return ""
	case choice == choiceRequired:
		return "this turn must call a tool"
	}
	return "this turn must call " + choice
}

// acts reports whether the reply to t is an action of the JSON strategy.
func (m *Machine) acts(t *Think) bool {
	return m.agent.Strategy == StrategyJSON && t.Purpose == PurposeTurn && t.View.Step == ""
}

// adopt makes the parts of a reply valid and numbers its calls from n+1. It returns the bytes of text
// and calls, and the number of the last call.
func (r *Reply) adopt(n int) (content, last int) {
	parts := make([]Part, 0, len(r.Parts))
	for _, p := range r.Parts {
		switch p := p.(type) {
		case Text:
			p.Text = r.repair(p.Text)
			if strings.TrimSpace(p.Text) == "" {
				continue
			}
			content += len(p.Text)
			parts = append(parts, p)
		case Thinking:
			p.Text, p.Opaque, p.Moved = r.repair(p.Text), bytes.Clone(p.Opaque), false
			parts = append(parts, p)
		case Citation:
			p.Title, p.URL, p.Quote, p.Opaque = r.repair(p.Title), r.repair(p.URL), r.repair(p.Quote), bytes.Clone(p.Opaque)
			parts = append(parts, p)
		case Call:
			if r.Stop == StopRefusal {
				continue
			}
			if !utf8.Valid(p.Args) {
				p.Args = json.RawMessage(r.repair(string(p.Args)))
			}
			p.Tool, p.Ref, p.Args = r.repair(p.Tool), wire.Text(p.Ref), bytes.Clone(wire.Args(p.Args))
			if p.Ref == "" {
				p.Ref = wire.Text(p.ID)
			}
			if p.Ref != "" && slices.ContainsFunc(parts, p.repeats) {
				continue
			}
			content += len(p.Tool) + len(p.Args)
			n++
			if p.ID = callID(n); p.Ref == p.ID {
				p.Ref = ""
			}
			parts = append(parts, p)
		}
	}
	r.Parts = parts
	return content, n
}

// repeats reports whether a call of a reply is another part of it once more, with
// the provider's id, the tool and the arguments. Servers repeat a call in a last
// chunk, and give equal ids to calls that differ.
func (c Call) repeats(of Part) bool {
	o, ok := of.(Call)
	return ok && c.Ref == cmp.Or(o.Ref, o.ID) && c.Tool == o.Tool && wire.Equal(c.Args, o.Args)
}

// asksAgain returns the failure as which a reply to a turn counts that is asked for again before
// anybody sees it; nil: it stands. These are a refusal, while there is another model to ask, and
// the first reply of an iteration that met its limit, if the model can have more room or think less.
func (m *Machine) asksAgain(s *State, t Think, e *ModelReplied) *ModelError {
	if t.Purpose != PurposeTurn || t.Attempt == 0 { // a person wrote it
		return nil
	}
	switch e.Reply.Stop {
	case StopRefusal:
		if t.Model != "" || t.Fallback >= len(m.decl.Fallback) {
			return nil
		}
		return &ModelError{Class: ClassRefused, Message: e.Reply.refusal(), Usage: e.Reply.Usage, Billed: true}
	case StopLength:
		longer := t
		m.room(&longer, true)
		longer = m.clamp(s, longer, e.Reply.Usage.Total(), e.Cost)
		if s.cut || longer.MaxTokens < t.MaxTokens || longer.MaxTokens == t.MaxTokens && longer.Effort == "" {
			return nil
		}
		why := fmt.Sprintf("the reply was cut off at %s tokens; asked again with up to %s", display.Group(t.MaxTokens), display.Group(longer.MaxTokens))
		if longer.Effort != "" {
			why += " and effort " + longer.Effort
		}
		return &ModelError{Class: ClassCut, Message: why, Usage: e.Reply.Usage, Billed: true}
	}
	return nil
}

// host makes a hosted call valid, with a result of at most so many bytes.
func (r *Reply) host(h *HostedCall, most int) {
	h.Call = Call{Tool: r.repair(h.Call.Tool), Args: bytes.Clone(wire.Args(h.Call.Args))}
	h.Error, h.Result = display.Short(r.repair(h.Error)), bytes.Clone(wire.Args(h.Result))
	if short, cut := display.Cut(wire.Plain(h.Result), most); h.Error != "" {
		h.Result = nil
	} else if cut {
		h.Result = wire.Quote(short)
	}
}

// checkUsage checks the reported usage. A provider that reports none is booked at
// the estimate; negative figures count as nothing.
func checkUsage(u Usage, t Think, content int) (Usage, bool) {
	u = u.sane()
	if u.Input == 0 && u.Output == 0 {
		return Usage{Input: t.Estimate, Output: min(textTokens(content), t.MaxTokens), Searches: u.Searches, Sessions: u.Sessions}, true
	}
	return u, false
}

// sane is the usage with every figure in its range.
func (u Usage) sane() Usage { return Usage(meter.Use(u).Sane()) }

// Failed makes the event of an attempt that brought no reply. When the provider
// had begun to work and has not said what it bills, the attempt is booked at the
// most that it may have cost; begun says so where its class does not. retryAt is
// when the engine means to try again.
func (m *Machine) Failed(s *State, t Think, err error, begun bool, retryAt time.Time) ModelFailed {
	me := asModelError(err)
	e := ModelFailed{Purpose: t.Purpose, Class: me.Class, Message: display.Short(wire.Text(me.Message)), Attempt: t.Attempt, RetryAt: retryAt, Usage: me.Usage.sane()}
	if e.Message == "" && me.Err != nil {
		e.Message = display.Short(wire.Text(me.Err.Error()))
	}
	info := m.decl.model(t.Model, t.Fallback)
	if !me.Billed && (begun || billable(me.Class)) {
		e.Usage.Output, e.Usage.Searches, e.Usage.Sessions = max(e.Usage.Output, t.MaxTokens), t.Hosted.Searches, t.Hosted.Sessions
		if e.Usage.Input == 0 {
			e.Usage.Input, e.Cost = t.Estimate+t.Hosted.Input, t.Cost
			return e
		}
	}
	if info.Price != nil {
		e.Cost = info.Price.Cost(e.Usage)
	}
	return e
}

// billable classes are those in which the provider had begun to work.
func billable(c Class) bool {
	return c == ClassTruncated || c == ClassCancelled || c == ClassLost || c == ClassEmpty
}

// repair makes a text of the reply valid, and marks the reply if it was not.
func (r *Reply) repair(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	r.Repaired = true
	return wire.Text(s)
}

// disarm turns arguments that were repaired into a text: their meaning is lost, so
// their call must not run.
func (r *Reply) disarm() {
	for i, p := range r.Parts {
		if c, ok := p.(Call); ok && r.Repaired && bytes.Contains(c.Args, []byte("\uFFFD")) {
			c.Args = wire.Quote(repaired + string(c.Args))
			r.Parts[i] = c
		}
	}
}

const repaired = "the arguments had bytes that are not UTF-8: "
