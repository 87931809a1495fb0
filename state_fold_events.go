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

func (s *State) modelFailed(e *ModelFailed) {
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
	switch {
	case e.Purpose == PurposeFinal:
		s.finalAsked = true
	case e.Purpose.judges():
		missed := miss{ModelFailed: *e}
		if last, ok := s.missed[string(e.Purpose)]; ok {
			missed.tries = last.tries
		}
		missed.tries.Count(e.Class.tried())
		put(&s.missed, string(e.Purpose), &missed)
	default:
		s.failure, s.cut = e, s.cut || e.Class == ClassCut
		s.tries.Count(e.Class.tried())
	}
}

func (s *State) planRejected(e *PlanRejected) {
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
	if e.Purpose.own() {
		s.asides++
	}
	put(&s.other, string(e.Purpose), &purposeReply{e.Reply, s.seq})
	if e.Purpose == PurposeFinal {
		s.land(e.Reply)
	}
}

// land takes in the last answer at a limit. Under the JSON strategy models give
// it as they gave every turn: as an action, whose input has the answer.
func (s *State) land(r Reply) {
	s.finalAsked, s.final = true, &wire.Completion{Answer: r.Text()}
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
	s.open = s.open[:0]
	for _, p := range e.Reply.Parts {
		s.bytes += s.weigh(p)
		if c, ok := p.(Call); ok {
			s.find(c.Tool) // by its name alone
			s.open = append(s.open, newCall(c, iteration))
			s.counter = max(s.counter, callNumber(c.ID))
		}
	}
	s.bytes += s.around()
	s.addTurn(Turn{iteration, e.Reply.thought(), len(s.open) == 0})
	if len(s.open) > 0 {
		s.looped, s.batch, s.byLoop = false, len(s.open), false
		return
	}
	s.answerStep(e.Malformed == "" && e.Reply.Stop != StopPause && e.Reply.Stop != StopRefusal)
	if s.settled = e.Malformed == ""; s.settled && e.Reply.Stop != StopPause && s.step == "" {
		s.leave(Track{Iteration: iteration, Thought: s.thought})
	}
}

// thought is the text of a reply, or its thinking when there is no text.
func (r *Reply) thought() string {
	if text := r.Text(); text != "" {
		return text
	}
	var all strings.Builder
	for _, p := range r.Parts {
		if t, ok := p.(Thinking); ok {
			all.WriteString(t.Text)
		}
	}
	return all.String()
}

// addTurn adds a turn, in place of an earlier one of the iteration.
func (s *State) addTurn(t Turn) {
	s.thought = 0
	if text := strings.TrimSpace(t.said(s.declared().Strategy)); text != "" {
		digest := wire.NewSum
		digest.Add([]byte(text))
		s.thought = uint64(digest)
	}
	if n := len(s.turns); n > 0 && s.turns[n-1].Iteration == t.Iteration {
		s.turns = s.turns[: n-1 : n-1] // a clone keeps the one that this one replaces
	}
	s.turns = append(s.turns, t)
}

// host takes in a call that the provider has answered. What the model sees of it is in the reply.
func (s *State) host(h HostedCall, iteration int) {
	t, c := s.declared().tool(h.Call.Tool), newCall(h.Call, iteration)
	c.Phase, c.Effect = PhaseAnswered, Read
	c.hosted = true
	c.end(ending{Status: ToolOK, Ran: true, untrusted: t.Trust == Untrusted || t.Hosted == (Usage{}), Result: h.Result, Error: h.Error})
	if h.Error != "" {
		c.Status = ToolFailed
	}
	s.calls, s.toolCalls = append(s.calls, c), s.toolCalls+1
	s.counter, s.tainted = max(s.counter, callNumber(c.ID)), s.tainted || c.Trust == Untrusted
	s.tools.Count(c.Tool, true, c.OK(), 1)
}

func (s *State) applyTool(event Event) {
	switch e := event.(type) {
	case ToolReused:
		if c := s.opened(e.Call); c != nil {
			done := ending{Status: ToolOK}
			c.Of = e.Of
			if of := s.call(e.Of); of != nil {
				done.Result, done.untrusted, c.images = of.Result, of.Trust == Untrusted, of.images
			}
			s.answer(c, done)
		}
	case ToolRefused:
		if c := s.opened(e.Call); c != nil && (!e.NotRun || s.unstarted(c)) {
			s.answer(c, ending{Status: ToolFailed, Error: e.Why, rejected: s.rejects, notRun: e.NotRun,
				omitted: s.rejects && s.declared().Strategy == StrategyJSON})
		}
	case ToolDoubted:
		if c := s.hold(e.Call, PhaseInDoubt); c != nil {
			c.Reason, c.Requested = e.Why, s.seq
		}
	case ToolSettled:
		s.settle(&e)
	}
}

func (s *State) settle(e *ToolSettled) {
	s.take(e.Signal)
	c := s.opened(e.Call)
	if c == nil {
		return
	}
	c.By = e.By
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

func (s *State) toolStarted(e ToolStarted, at time.Time) {
	if c := s.opened(e.Call); c != nil {
		c.Phase, c.Attempt, c.Effect, c.Key, c.Started, c.Supervised = PhaseStarted, e.Attempt, e.Effect, e.Key, at, e.Supervised
	}
}

func (s *State) toolFinished(e ToolFinished) {
	s.acted = s.seq
	if c := s.opened(e.Call); c != nil {
		if e.Images != nil || e.Blob != "" {
			c.images, c.Blob = e.Images, e.Blob
		}
		s.answer(c, ending{Status: e.Status, Result: e.Result, Error: e.Error, Ran: true, untrusted: e.Untrusted, finished: s.seq})
	}
}

// hold puts an open call into a phase, and returns it; nil: no such call is open.
func (s *State) hold(id string, phase Phase) *call {
	c := s.opened(id)
	if c != nil {
		c.Phase = phase
	}
	return c
}

// returned answers an open call with what somebody outside gave.
func (s *State) returned(id, by string, result json.RawMessage, seq uint64) {
	if c := s.opened(id); c != nil {
		c.By, s.acted = by, seq
		s.answer(c, ending{Status: ToolOK, Result: result, Ran: c.Attempt > 0})
	}
}

func (s *State) applyAsk(event Event) {
	switch e := event.(type) {
	case ApprovalRequested:
		if c := s.hold(e.Call, PhaseAwaitingApproval); c != nil {
			c.Reason, c.Expires, c.Requested, c.Changed = e.Reason, e.Expires, s.seq, nil
			c.digest, c.TokenHash, c.Preconditions, c.basis = e.Digest, e.TokenHash, e.Preconditions, s.look
		}
	case ApprovalDecided:
		s.take(e.Signal)
		if c := s.opened(e.Call); c != nil {
			s.decide(c, &e, s.seq)
		}
	case ApprovalExpired:
		if c := s.opened(e.Call); c != nil {
			c.Phase = PhaseUndecided
			c.unapprove()
		}
	case ApprovalInvalidated:
		s.invalidate(&e)
	case InputRequested:
		if c := s.hold(e.Call, PhaseAwaitingInput); c != nil {
			c.Reason, c.Expires, c.Requested, c.question, c.until = e.Question, e.Expires, s.seq, e.Key, c.Expires
			c.WakeAt = e.WakeAt
		} else {
			s.question = &e
		}
	case InputGiven:
		s.hear(&e)
	case ClientToolRequested:
		if c := s.hold(e.Call, PhaseAwaitingClient); c != nil {
			c.Reason, c.Requested = "", s.seq
		}
	case ClientToolReturned:
		s.take(e.Signal)
		s.returned(e.Call, e.By, e.Result, s.seq)
	}
}

func (s *State) invalidate(e *ApprovalInvalidated) {
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
		c.unapprove()
		c.Changed = e.Changed
		if void {
			c.voided++
		}
	}
	forget()
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

// unapprove takes an approval back, with what the approver made of the arguments.
func (c *call) unapprove() {
	c.Reason, c.Edited, c.approved, c.decided, c.digest, c.TokenHash, c.Preconditions = "", nil, false, 0, "", "", nil
	c.editedPreconditions, c.basis, c.Expires = nil, nil, time.Time{}
}

// decide takes in a decision about an open call. One that nobody was asked for
// rests on what was approved for the run.
func (s *State) decide(c *call, e *ApprovalDecided, seq uint64) {
	c.By = e.By
	if !e.Approved {
		c.Phase, s.denied = PhaseUndecided, e
		c.Error = "this call was denied" // not by a person: --approvals deny is none
		c.Error += display.After(": ", e.Reason) + "; it was not run"
		return
	}
	asked := c.Phase == PhaseAwaitingApproval
	c.Phase, c.Edited, c.approved = PhaseApproved, e.Args, true
	if asked {
		c.decided = seq
	}
	if e.Args != nil {
		c.editedPreconditions = e.Preconditions
	}
	if !e.ForRun {
		return
	}
	if asked {
		t := s.declared().tool(c.Tool)
		free := slices.DeleteFunc(slices.Clone(e.Free), func(name string) bool { return t == nil || slices.Contains(t.Reaches, name) })
		s.grants = append(s.grants, grant{contentKey(c.Tool, wire.Without(c.args(), free)), free, cmp.Or(e.Times, -1), c.By, c.relied()})
	} else if i := s.granted(c.Tool, c.args()); i >= 0 {
		s.grants[i].left--
		c.Preconditions = s.grants[i].relied
	}
}

func (s *State) applyMemo(event Event) {
	switch e := event.(type) {
	case Observed:
		s.see(&e)
	case Measured:
		s.measure(&e)
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
		s.note(&e)
	case MemoryStored:
		put(&s.notes, "\x00memory\x00"+e.Key, e.Value)
	case ContextCompacted:
		s.compact(&e)
	case ChildStarted:
		s.startChild(&e)
	case ChildStopped:
		s.stopChild(&e)
	case HookDirected:
		s.direct(&e)
	}
}

func (s *State) see(e *Observed) {
	s.sameObservation = s.observed > s.acted
	s.observed, s.look = s.seq, &look{Observed: *e}
	if s.blind++; !e.Failed {
		s.blind = 0
	} else {
		s.measured = false // what was measured before says nothing of now
	}
	s.bytes += s.size(e.Text) + s.around()
}

func (s *State) measure(e *Measured) {
	s.metric, s.measured, s.openIDs = e.Value, true, e.Open
	if s.look != nil {
		s.look = &look{s.look.Observed, (*meter.Measure)(e)}
	}
	switch {
	case s.HasOpen() && (!s.sameObservation || s.ran()): // the turn is not over
		return
	case s.track.Iteration == 0:
		s.baseline = e
		return
	case s.sameObservation:
		s.track.Drift = e
	default: // it belongs to the action before it
		s.track.Measure = e
	}
}

func (s *State) note(e *Noted) {
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
}

// unwatch forgets who supervised the calls that are open, in a copy of a log: the
// run that was exported or forked may have gone on, and who kept records of its
// calls may have been told to forget.
func (s *State) unwatch() {
	for _, c := range s.open {
		c.Supervised = ""
	}
}
