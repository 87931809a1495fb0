package pawl

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/wire"
)

// messageBytes is what a message costs beyond its text in an estimate: roles,
// ids and framing, about eight tokens.
const messageBytes = 32

// around is what a message, call or result costs beyond its text.
func (s *State) around() int { return max(messageBytes, s.wire.Message) }

// size is what a text costs in an estimate: its bytes on the wire, if that is known.
func (s *State) size(text string) int {
	if s.wire == (Wire{}) {
		return len(text)
	}
	return wire.Quoted(text)
}

// weigh is what a part costs in an estimate.
func (s *State) weigh(p Part) int {
	switch p := p.(type) {
	case Text:
		return s.size(p.Text)
	case Thinking:
		return s.size(p.Text) + s.size(string(p.Opaque))
	case Citation:
		return s.size(p.Title) + s.size(p.URL) + s.size(p.Quote) + s.size(string(p.Opaque)) + s.around()
	case Call:
		return len(p.Tool) + s.size(string(p.Args)) + s.around()
	case ToolResult:
		return s.size(string(p.Content)) + s.around()
	case File:
		return p.weight(s)
	}
	return 0
}

func (s *State) applyModel(event Event) {
	switch e := event.(type) {
	case ModelFailed:
		if e.Class == ClassTooLong && e.Purpose == PurposeTurn {
			if n := s.thinking.usage.Input; s.tooLong == 0 || n < s.tooLong {
				s.tooLong = n
			}
		}
		s.thinking = reservation{}
		if e.Class != ClassNetwork || e.Usage != (Usage{}) {
			s.modelCalls++
		}
		s.book(e.Usage, e.Cost)
		if e.Purpose == PurposeFinal {
			s.finalAsked = true
			return
		}
		failure := e
		if e.Purpose.judges() {
			missed := miss{ModelFailed: e}
			if last, ok := s.missed[string(e.Purpose)]; ok {
				missed.tries = last.tries
			}
			missed.tries.Count(e.Class.tried())
			put(&s.missed, string(e.Purpose), &missed)
			return
		}
		s.failure, s.cut = &failure, s.cut || e.Class == ClassCut
		s.tries.Count(e.Class.tried())
	case PlanRejected:
		s.rejections, s.whyNot = e.Rejection, e.Feedback
		s.bytes += s.size(e.Feedback) + s.around()
		s.rejects, s.settled, s.withdrawn = len(s.open) > 0, false, false
		if e.Rejection >= maxRejections {
			s.rejected++
			s.settled = true
		}
		s.refuted = true
		s.answerStep(false)
	}
}

func (s *State) modelCalled(e ModelCalled, iteration int) {
	s.unsent = false
	if e.Model == "" && e.Fallback != s.fallback {
		s.fallback, s.tries = e.Fallback, meter.Few{}
	}
	s.priced = s.priced && s.declared().model(e.Model, e.Fallback).Price != nil
	if e.Says() {
		if e.View.Step != "" {
			s.lastInput, s.lastBytes, s.window = 0, 0, window{}
			s.bytes, s.images = s.attached()
		}
		s.bytes += s.size(e.View.Prompt) + s.around()
	}
	if !e.View.Alone && e.Model == "" {
		s.window.send(&e, s.time)
	}
	s.thinking, s.sentBytes = e.reservation(), s.bytes
	if e.Purpose != PurposeTurn {
		return
	}
	if iteration > s.iteration {
		s.iteration, s.attempt, s.rejections = iteration, 0, 0
		s.refuted, s.complete, s.finalAsked, s.final, s.cut = false, nil, false, nil, false
	}
	if system := s.declared().systemOf(&e.View); system != s.asked {
		s.asked = system
		s.prefix++
	}
	s.attempt, s.settled = e.Attempt, false
	s.beginStep(e.View)
}

func (s *State) modelReplied(e ModelReplied, iteration int) {
	if r := &s.thinking; r.bytes > 0 && !e.Estimated && e.Reply.Hosted == nil { // whose results are in no request
		g := s.meters.Of(r.auxiliary, r.fallback)
		g.Learn(e.Reply.Usage.Input, r.bytes, r.talk)
		s.meters.Set(g)
	}
	s.thinking = reservation{}
	if e.Purpose.judges() {
		delete(s.missed, string(e.Purpose))
	} else {
		s.failure, s.tries, s.shortened = nil, meter.Few{}, false
	}
	s.modelCalls++
	s.book(e.Reply.Usage, e.Cost)
	if e.Purpose == PurposeTurn {
		s.replyTurn(&e, iteration)
		return
	}
	put(&s.other, string(e.Purpose), &purposeReply{e.Reply, s.seq})
	if e.Purpose == PurposeFinal {
		s.land(e.Reply)
	}
}

// land takes in the last answer at a limit. Under the JSON strategy models give
// it as they gave every turn: as an action, whose input has the answer.
func (s *State) land(r Reply) {
	s.finalAsked, s.final = true, &completion{Answer: r.Text()}
	if s.declared().Strategy != StrategyJSON {
		return
	}
	r, malformed := readJSONReply(r, 0)
	if malformed != "" {
		return
	}
	if c, ok := r.Parts[len(r.Parts)-1].(Call); ok && c.Tool == completeTool {
		if done := wire.ReadCompletion(c.Args); done != nil && done.Answer != "" {
			s.final = done
			put(&s.notes, completeTool+"\x00completion", c.Args)
			return
		}
	}
	if thought := wire.Thought(r.Text()); thought != "" {
		s.final.Answer = thought
	}
}

func (s *State) replyTurn(e *ModelReplied, iteration int) {
	s.reply, s.malformed, s.replied = e.Reply, e.Malformed, s.seq
	if !e.Estimated && e.Reply.Hosted == nil {
		s.lastInput, s.lastBytes = max(0, e.Reply.Usage.Input), s.sentBytes
	}
	s.refuted, s.rejects, s.withdrawn, s.unsent = false, false, false, false
	s.missed = nil
	if e.Reply.Stop != StopRefusal { // which no model is shown
		s.exchanges.Add(meter.Exchange{Seq: s.seq, Calls: s.counter, Start: s.bytes, Maskable: s.maskable})
	}
	for _, h := range e.Reply.Hosted {
		s.host(h, iteration)
	}
	t := Turn{Iteration: iteration}
	var calls int
	var thinking string
	for _, p := range e.Reply.Parts {
		s.bytes += s.weigh(p)
		switch p := p.(type) {
		case Text:
			t.Thought += p.Text
		case Thinking:
			thinking += p.Text //nolint:modernize // there is one as a rule, which is then not copied
		case Call:
			calls++
			s.find(p.Tool) // by its name alone
		}
	}
	s.bytes += s.around()
	t.Thought = cmp.Or(t.Thought, thinking)
	t.Answer = calls == 0
	s.thought = 0
	if text := strings.TrimSpace(t.said(s.declared().Strategy)); text != "" {
		digest := wire.NewSum
		digest.Add([]byte(text))
		s.thought = uint64(digest)
	}
	n := len(s.turns)
	if n > 0 && s.turns[n-1].Iteration == t.Iteration {
		n-- // a clone keeps the one that this one replaces
		s.turns = s.turns[:n:n]
	}
	s.turns = append(s.turns, t)
	if calls == 0 {
		s.answerStep(e.Malformed == "" && e.Reply.Stop != StopPause && e.Reply.Stop != StopRefusal)
		if s.open, s.settled = s.open[:0], e.Malformed == ""; s.settled && e.Reply.Stop != StopPause && s.step == "" {
			s.leave(Track{Iteration: iteration, Thought: s.thought})
		}
		return
	}
	s.open, s.looped, s.batch, s.byLoop = s.open[:0], false, calls, false
	memory := make([]call, 0, calls)
	for _, p := range e.Reply.Parts {
		if c, ok := p.(Call); ok {
			memory = append(memory, newCall(c, iteration))
			s.open = append(s.open, &memory[len(memory)-1])
			s.counter = max(s.counter, callNumber(c.ID))
		}
	}
}

// host takes in a call that the provider has answered. What the model sees of it is in the reply.
func (s *State) host(h HostedCall, iteration int) {
	t, c := s.declared().tool(h.Call.Tool), newCall(h.Call, iteration)
	c.Phase, c.Effect = PhaseAnswered, Read
	c.ending = ending{Status: ToolOK, Ran: true, hosted: true, foreign: t.Trust == Untrusted || t.Hosted == (Usage{}), Result: h.Result, Error: h.Error}
	if h.Error != "" {
		c.Status = ToolFailed
	}
	s.calls, s.toolCalls = append(s.calls, &c), s.toolCalls+1
	s.counter, s.tainted = max(s.counter, callNumber(c.ID)), s.tainted || c.foreign
	s.tools.Count(c.Tool, true, c.ok(), 1)
}

func (s *State) applyTool(event Event) {
	switch e := event.(type) {
	case ToolReused:
		if c := s.opened(e.Call); c != nil {
			done, m := ending{Status: ToolOK}, c.own()
			m.Of = e.Of
			if of := s.call(e.Of); of != nil {
				done.Result, done.foreign, m.images = of.Result, of.foreign, of.images
			}
			s.answer(c, done)
		}
	case ToolRefused:
		if c := s.opened(e.Call); c != nil && (!e.NotRun || s.unstarted(c)) {
			s.answer(c, ending{Status: ToolFailed, Error: e.Why, rejected: s.rejects, notRun: e.NotRun,
				omitted: s.rejects && s.declared().Strategy == StrategyJSON})
		}
	case ToolDoubted:
		if m := s.hold(e.Call, PhaseInDoubt); m != nil {
			m.Reason, m.requested = e.Why, s.seq
		}
	case ToolSettled:
		s.take(e.Signal)
		c := s.opened(e.Call)
		if c == nil {
			return
		}
		c.own().By = e.By
		if !e.Happened {
			c.Phase = PhaseApproved // it was approved, if it had to be, when it first ran
			return
		}
		s.acted = s.seq
		done := ending{Status: ToolOK, Result: e.Result, Ran: true}
		if e.Error != "" || e.Status > ToolOK {
			done = ending{Status: max(e.Status, ToolFailed), Error: e.Error, Ran: true}
		}
		s.answer(c, done)
	}
}

func (s *State) toolStarted(e ToolStarted, at time.Time) {
	begun := trial{e.Attempt, e.Effect, e.Key, at}
	if c := s.opened(e.Call); c != nil {
		c.Phase, c.trial = PhaseStarted, begun
		if e.Supervised != c.Supervised {
			c.own().Supervised = e.Supervised
		}
	}
}

func (s *State) toolFinished(e ToolFinished) {
	s.acted = s.seq
	if c := s.opened(e.Call); c != nil {
		if e.Images != nil || e.Blob != "" {
			m := c.own()
			m.images, m.blob = e.Images, e.Blob
		}
		s.answer(c, ending{Status: e.Status, Result: e.Result, Error: e.Error, Ran: true, foreign: e.Untrusted, seq: s.seq})
	}
}

// hold puts an open call into a phase. What it returns of the call is to be
// changed; nil: no such call is open.
func (s *State) hold(id string, phase Phase) *matter {
	c := s.opened(id)
	if c == nil {
		return nil
	}
	c.Phase = phase
	return c.own()
}

// returned answers an open call with what somebody outside gave.
func (s *State) returned(id, by string, result json.RawMessage, seq uint64) {
	if c := s.opened(id); c != nil {
		c.own().By, s.acted = by, seq
		s.answer(c, ending{Status: ToolOK, Result: result, Ran: c.Attempt > 0})
	}
}

func (s *State) applyAsk(event Event) {
	switch e := event.(type) {
	case ApprovalRequested:
		if m := s.hold(e.Call, PhaseAwaitingApproval); m != nil {
			m.Reason, m.Expires, m.requested, m.changed = e.Reason, e.Expires, s.seq, nil
			m.digest, m.token, m.preconditions, m.basis = e.Digest, e.TokenHash, e.Preconditions, s.look
		}
	case ApprovalDecided:
		s.take(e.Signal)
		if c := s.opened(e.Call); c != nil {
			s.decide(c, &e, s.seq)
		}
	case ApprovalExpired:
		if c := s.opened(e.Call); c != nil {
			c.Phase = PhaseUndecided
			c.unapproved()
		}
	case ApprovalInvalidated:
		c := s.opened(e.Call)
		if c == nil || s.changed(c) == nil {
			s.acted = s.seq // the world is not what was seen of it
		}
		forget := func() {
			if c := s.call(e.Call); c != nil {
				s.grants = slices.DeleteFunc(s.grants, func(g grant) bool { return g.covers(c.Tool, c.args()) })
			}
		}
		forget() // with the arguments that the approver made of it
		if c != nil {
			void := c.approved
			c.Phase = PhaseUndecided
			m := c.unapproved()
			m.changed = e.Changed
			if void {
				m.voided++
			}
		}
		forget()
	case InputRequested:
		if m := s.hold(e.Call, PhaseAwaitingInput); m != nil {
			m.Reason, m.Expires, m.requested, m.question, m.until = e.Question, e.Expires, s.seq, e.Key, m.Expires
		} else {
			s.question = &e
		}
	case InputGiven:
		s.take(e.Signal)
		switch {
		case e.After:
			s.followUps = append(s.followUps, e)
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
				m := c.own()
				m.answers, m.By, m.Expires, c.Phase = maps.Clone(m.answers), e.By, m.until, PhaseApproved // as when it first ran
				put(&m.answers, m.question, e.Text)
				return
			}
			s.returned(e.Call, e.By, wire.Quote(e.Text), s.seq)
		}
	case ClientToolRequested:
		if m := s.hold(e.Call, PhaseAwaitingClient); m != nil {
			m.Reason, m.requested = "", s.seq
		}
	case ClientToolReturned:
		s.take(e.Signal)
		s.returned(e.Call, e.By, e.Result, s.seq)
	}
}

// unapproved takes an approval back, with what the approver made of the arguments.
func (c *call) unapproved() *matter {
	m := c.own()
	m.Reason, m.Edited, m.approved, m.decided, m.digest, m.token, m.preconditions = "", nil, false, 0, "", "", nil
	m.editedPreconditions, m.basis, m.Expires = nil, nil, time.Time{}
	return m
}

// decide takes in a decision about an open call. One that nobody was asked for
// rests on what was approved for the run.
func (s *State) decide(c *call, e *ApprovalDecided, seq uint64) {
	m := c.own()
	m.By = e.By
	if !e.Approved {
		c.Phase, s.denied = PhaseUndecided, e
		c.Error = "this call was denied" // not by a person: --approvals deny is none
		c.Error += display.After(": ", e.Reason) + "; it was not run"
		return
	}
	asked := c.Phase == PhaseAwaitingApproval
	c.Phase, m.Edited, m.approved = PhaseApproved, e.Args, true
	if asked {
		m.decided = seq
	}
	if e.Args != nil {
		m.editedPreconditions = e.Preconditions
	}
	if !e.ForRun {
		return
	}
	if asked {
		t := s.declared().tool(c.Tool)
		free := slices.DeleteFunc(slices.Clone(e.Free), func(name string) bool { return t == nil || slices.Contains(t.Reaches, name) })
		s.grants = append(s.grants, grant{contentKey(c.Tool, wire.Without(c.args(), free)), free, cmp.Or(e.Times, -1), m})
	} else if i := s.granted(c.Tool, c.args()); i >= 0 {
		s.grants[i].left--
		m.preconditions = (&call{matter: s.grants[i].matter}).relied()
	}
}

func (s *State) applyMemo(event Event) {
	switch e := event.(type) {
	case Observed:
		s.sameObservation = s.observed > s.acted
		s.observed, s.look = s.seq, &look{Observed: e}
		if s.blind++; !e.Failed {
			s.blind = 0
		} else {
			s.measured = false // what was measured before says nothing of now
		}
		s.bytes += s.size(e.Text) + s.around()
	case Measured:
		s.metric, s.measured, s.openIDs = e.Value, true, e.Open
		if s.look != nil {
			s.look = &look{s.look.Observed, (*meter.Measure)(&e)}
		}
		switch {
		case s.HasOpen() && (!s.sameObservation || s.ran()): // the turn is not over
			return
		case s.track.Iteration == 0:
			s.baseline = &e
			return
		case s.sameObservation:
			s.track.Drift = &e
		default: // it belongs to the action before it
			s.track.Measure = &e
		}
	case Reflected:
		s.confidence, s.confident = min(max(e.Confidence, 0), 1), true
		s.bytes += s.size(e.Hint)
	case Grounded:
		s.bytes += s.size(e.Hint)
		if !e.OK {
			s.refuted, s.complete = true, nil
		}
	case ProgressJudged:
		s.judged = &e
		s.bytes += s.size(e.Hint)
		if e.Judgement == JudgedRefuted {
			s.refuted, s.complete = true, nil
		}
	case Noted:
		put(&s.notes, e.By+"\x00"+e.Name, e.Value)
		s.take(e.Signal)
		if e.Imported() {
			s.signal, s.origin = 0, imported{}
			_ = json.Unmarshal(e.Value, &s.origin) // what is no such note says nothing
			s.unwatch()
		}
		if e.By == looper && e.Name == callsNote {
			s.openCalls(e.Value)
		}
		if e.By == finds {
			var names []string
			_ = json.Unmarshal(e.Value, &names) // which is the machine's own
			s.find(names...)
		}
		if e.By != completeTool {
			return
		}
		if done := wire.ReadCompletion(e.Value); done != nil {
			s.complete = done
			if done.Sure {
				s.confidence, s.confident = done.Confidence, true
			}
		}
	case MemoryStored:
		put(&s.notes, "\x00memory\x00"+e.Key, e.Value)
	case ContextCompacted:
		s.meters.Part()
		if e.Why != "" {
			s.compact(&e, s.seq)
		} else { // as the machine itself does, which does not count what stands in their place
			for _, id := range e.Masked {
				if c := s.call(id); c != nil {
					s.bytes -= len(c.Result)
				}
			}
		}
		if s.failure != nil && s.failure.Class == ClassTooLong {
			s.failure, s.shortened = nil, true
		}
	case ChildStarted:
		s.startChild(&e)
	case ChildStopped:
		s.stopChild(&e)
	case HookDirected:
		s.direct(&e)
	}
}

// unwatch forgets who supervised the calls that are open, in a copy of a log: the
// run that was exported or forked may have gone on, and who kept records of its
// calls may have been told to forget.
func (s *State) unwatch() {
	for _, c := range s.open {
		if c.Supervised != "" {
			c.own().Supervised = ""
		}
	}
}
