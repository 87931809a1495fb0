package pawl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/wire"
)

// turn is the present turn: what the model was asked, what it replied, and whether that stands. It
// is what Decide reads most. Loops, policies and conditions read it through [State.Done],
// [State.Iterations], [State.Missed] and the like.
type turn struct {
	iteration int
	asides    int         // replies under purposes of the loop's own
	asked     ModelCalled // the latest request of a turn; before the first, with the system prompt of the run before
	thinking  ModelCalled // the model call in flight; zero: none is

	replied  purposeReply // the latest reply to a turn
	standing standing     // of that reply
	settled  bool         // nothing of the turn is left to do: no call is open, no reply is awaited
	complete *wire.Completion

	failures  map[string]*miss // of model calls that have not succeeded since, by judge's purpose or ownCalls
	fallback  int              // which model was asked last: zero the agent's own, or one of its fallbacks
	shortened bool             // results were left out of the turn, because it was too long
	cut       bool             // a reply of this iteration met its limit, and the model was asked for a longer one

	rejection *PlanRejected // the latest of this iteration; nil: there is none
	rejected  int           // iterations in a row that ended in rejection
	final     *finalAnswer  // nil: the model was not asked
}

// standing says whether the latest reply to a turn may be acted on.
type standing int

const (
	stands    standing = iota
	withdrawn          // a hook wants another in its place
	rejected           // the model has read why, and is to reply again
	refuted            // it claimed to be done, and the goal, a judge or a person says otherwise
)

// ownCalls is where the failures of calls other than those of judges are kept.
const ownCalls = ""

// miss is how a model call failed.
type miss struct {
	latest *ModelFailed // nil: what made it fail was dealt with
	tries  meter.Few    // failed attempts of one model in a row, by class; see [Class.tried]
}

func (s *State) foldTurn(event Event, iteration int) {
	switch e := event.(type) {
	case ModelCalled:
		s.modelCalled(&e, iteration)
	case ModelReplied:
		s.modelReplied(&e, iteration)
	case ModelFailed:
		s.modelFailed(&e)
	case PlanRejected:
		s.planRejected(&e)
	case HookDirected:
		s.direct(&e)
	}
}

// awaitsReply reports whether a model call is in flight.
func (s *State) awaitsReply() bool { return s.thinking.Purpose != "" }

// turnedDown reports whether the latest reply was rejected or refuted.
func (s *State) turnedDown() bool { return s.standing >= rejected }

// refute takes back that the latest reply is the answer, if it stands.
func (s *State) refute() {
	if s.standing == stands {
		s.standing = refuted
	}
	s.complete = nil
}

// refusing reports whether the open calls stand in a rejected reply and are being refused.
func (s *State) refusing() bool { return s.standing == rejected && s.HasOpen() && !s.looped() }

func (s *State) modelCalled(e *ModelCalled, iteration int) {
	s.unsent = false
	if e.Model == "" && e.Fallback != s.fallback {
		s.fallback = e.Fallback
		if f := s.failing().latest; f != nil { // the next model has all its attempts
			put(&s.failures, ownCalls, &miss{latest: f})
		}
	}
	s.priced = s.priced && s.declared().model(e.Model, e.Fallback).Price != nil
	if e.Says() {
		if e.View.Step != "" {
			s.window = window{} // of the input, the files alone stay
			s.talk.Bytes, s.talk.Images = s.attached()
			if s.instructions != "" { // they are said again
				s.talk.Bytes += s.size(InstructionsGiven{s.instructions}.Says()) + s.around()
			}
		}
		s.talk.Bytes += s.size(e.View.Prompt) + s.around()
	}
	if !e.View.Alone && e.Model == "" {
		s.cache.Send(s.time, e.Fallback, e.Long)
	}
	s.thinking = *e
	if e.Purpose != PurposeTurn {
		return
	}
	if iteration > s.iteration {
		s.iteration, s.rejection = iteration, nil
		s.standing, s.complete, s.final, s.cut = stands, nil, nil, false
	}
	if s.declared().systemOf(&e.View) != s.declared().systemOf(&s.asked.View) {
		s.prefix++
	}
	s.asked, s.settled = *e, false
	s.beginStep()
}

func (s *State) modelFailed(e *ModelFailed) {
	if e.Class == ClassTooLong && e.Purpose == PurposeTurn {
		if n := s.thinking.reserved().Input; s.tooLong == 0 || n < s.tooLong {
			s.tooLong = n
		}
	}
	s.thinking = ModelCalled{}
	if e.Class != ClassNetwork || e.Usage != (Usage{}) {
		s.modelCalls++
	}
	s.book(e.Usage, e.Cost)
	if e.Purpose == PurposeFinal {
		s.final = &finalAnswer{Completion: cmp.Or(s.final, &finalAnswer{}).Completion}
		return
	}
	by := ownCalls
	if e.Purpose.judges() {
		by = string(e.Purpose)
	} else {
		s.cut = s.cut || e.Class == ClassCut
	}
	now := miss{latest: e}
	if before, ok := s.failures[by]; ok {
		now.tries = before.tries
	}
	now.tries.Count(e.Class.tried())
	put(&s.failures, by, &now)
}

func (s *State) modelReplied(e *ModelReplied, iteration int) {
	if r := &s.thinking; r.Bytes > 0 && !e.Estimated && e.Reply.Hosted == nil { // whose results are in no request
		g := s.meters.Of(r.Model, r.Fallback)
		g.Learn(e.Reply.Usage.Input, r.Bytes, r.talks())
		s.meters.Set(g)
	}
	s.thinking = ModelCalled{}
	s.modelCalls++
	s.book(e.Reply.Usage, e.Cost)
	switch {
	case e.Purpose.judges():
		delete(s.failures, string(e.Purpose))
	case e.Purpose == PurposeTurn:
		s.failures, s.shortened = nil, false
		s.replyTurn(e, iteration)
		return
	default:
		delete(s.failures, ownCalls)
		s.shortened = false
	}
	if e.Purpose.own() {
		s.asides++
	}
	put(&s.replies, string(e.Purpose), &purposeReply{e.Reply, s.seq, e.Malformed})
	if e.Purpose == PurposeFinal {
		s.land(e.Reply)
	}
}

// A finalAnswer is the last answer at a limit, empty if the model gave none. It stands until a new turn
// begins, also when the limit is raised and it may be asked for again.
type finalAnswer struct {
	wire.Completion
	again bool
}

// completion is the answer as a call of __complete__ would give it; nil: there is none.
func (f *finalAnswer) completion() *wire.Completion {
	if f == nil {
		return nil
	}
	return &f.Completion
}

// askAgain lets the last answer be asked for again.
func (s *State) askAgain() {
	if s.final != nil {
		s.final = &finalAnswer{s.final.Completion, true}
	}
}

// land takes in the last answer at a limit. Under the JSON strategy models give
// it as they gave every turn: as an action, whose input has the answer.
func (s *State) land(r Reply) {
	s.final = &finalAnswer{Completion: wire.Completion{Answer: r.Text()}}
	if s.declared().Strategy != StrategyJSON {
		return
	}
	r, malformed := readJSONReply(r, 0)
	if malformed != "" {
		return
	}
	if c, ok := r.Parts[len(r.Parts)-1].(Call); ok && c.Tool == completeTool {
		if done := wire.ReadCompletion(c.Args); done != nil && done.Answer != "" {
			s.final.Completion = *done
			put(&s.notes, completeTool+"\x00completion", c.Args)
			return
		}
	}
	if thought := wire.Thought(r.Text()); thought != "" {
		s.final.Answer = thought
	}
}

func (s *State) replyTurn(e *ModelReplied, iteration int) {
	reply := &e.Reply
	s.replied, s.standing, s.unsent = purposeReply{e.Reply, s.seq, e.Malformed}, stands, false
	if !e.Estimated && reply.Hosted == nil {
		s.counted = meter.Count{Input: max(0, reply.Usage.Input), Bytes: s.talk.Bytes}
	}
	if reply.Stop != StopRefusal { // which no model is shown
		s.exchanges.Add(meter.Exchange{Seq: s.seq, Calls: s.counter(), Start: s.talk.Bytes, Maskable: s.talk.Maskable})
	}
	for _, h := range reply.Hosted {
		s.host(h, iteration)
	}
	s.open = s.open[:0]
	for _, p := range reply.Parts {
		s.talk.Bytes += s.weigh(p)
		if c, ok := p.(Call); ok {
			s.find(c.Tool) // by its name alone
			s.open = append(s.open, s.newBatch(c, iteration, false))
		}
	}
	s.talk.Bytes += s.around()
	if n := len(s.turns); n > 0 && s.turns[n-1].Iteration == iteration {
		s.turns = s.turns[: n-1 : n-1] // a clone keeps the one that this one replaces
	}
	s.turns = append(s.turns, Turn{iteration, reply.thought(), len(s.open) == 0})
	if len(s.open) > 0 {
		return
	}
	s.settled = e.Malformed == ""
	paused := reply.Stop == StopPause
	s.answerStep(s.settled && !paused && reply.Stop != StopRefusal)
	if s.settled && !paused && s.asked.View.Step == "" {
		s.leave(Track{Iteration: iteration, Thought: s.thought()})
	}
}

func (s *State) planRejected(e *PlanRejected) {
	s.rejection, s.standing, s.settled = e, rejected, false
	s.talk.Bytes += s.size(e.Feedback) + s.around()
	if e.Rejection >= maxRejections {
		s.rejected++
		s.settled = true
	}
	s.answerStep(false)
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

// thought is the digest of what was thought in the latest turn; zero: nothing was.
func (s *State) thought() uint64 {
	n := len(s.turns)
	if n == 0 {
		return 0
	}
	text := strings.TrimSpace(s.turns[n-1].said(s.declared().Strategy))
	if text == "" {
		return 0
	}
	digest := wire.NewSum
	digest.Add([]byte(text))
	return uint64(digest)
}

// The directions of a hook that ask for a retry, as they stand in the log.
const (
	directRetry = "retry"
	refuseRetry = "retry refused"
)

// Retry returns the event for a hook that wants to repeat what e records: the reply to a turn,
// which is asked for again like a rejected one, or a Read or Idempotent call, which runs again
// with the same key, at most twice. Both are possible only while nothing has followed from e.
// Otherwise the event says why the retry is refused, and changes nothing.
func (s Internals) Retry(hook, reason string, e Entry) HookDirected {
	d := HookDirected{Hook: hook, Direction: directRetry, Reason: reason, Entry: e.Seq}
	if done, ok := e.Event.(ToolFinished); ok {
		d.Call = done.Call
	}
	if d.Refused = s.keeps(&d); d.Refused != "" {
		d.Direction = refuseRetry
	}
	return d
}

// keeps says why what d is about is not made again; empty: it is.
func (s *State) keeps(d *HookDirected) string {
	if d.Call == "" {
		return s.keepsReply(d.Entry)
	}
	c := s.call(d.Call)
	switch {
	case c == nil || c.Phase != PhaseAnswered || c.finished != d.Entry:
		return "it is not the call's latest result"
	case c.Child != "":
		return "the call is a run of its own, which is not made again"
	case c.Effect != Read && c.Effect != Idempotent:
		return fmt.Sprintf("only a call whose effect is %v or %v is run again", Read, Idempotent)
	case c.Retries >= maxRetries:
		return fmt.Sprintf("the call was run again %d times", c.Retries)
	case s.opened(d.Call) == nil && in(s.unsentCalls(), d.Call) == nil:
		return "the model has been told the result"
	}
	return ""
}

// keepsReply is keeps for a reply.
func (s *State) keepsReply(seq uint64) string {
	switch {
	case s.replied.seq == 0 || seq != s.replied.seq:
		return "only the latest reply to a turn, or the result of a call, is made again"
	case s.standing != stands || s.awaitsReply():
		return "the model is asked again as it is"
	case s.begun() || len(s.open) == 0 && hasCalls(s.replied.Reply):
		return "calls of the reply were acted on"
	}
	return ""
}

// direct does what a hook wants, if it can be done.
func (s *State) direct(d *HookDirected) {
	if d.Direction != directRetry || s.keeps(d) != "" {
		return
	}
	if d.Call == "" {
		why := d.Reason
		if why == "" {
			why = "the hook " + d.Hook + " turned it down"
		}
		if was := s.replied.malformed; was != "" {
			why = was + "; " + why
		}
		s.replied.malformed, s.standing, s.settled = why, withdrawn, false
		return
	}
	if s.opened(d.Call) == nil {
		s.openBatch()
	}
	c := s.opened(d.Call)
	s.count(c, -1)
	c.end(&CallState{})
	c.Phase, c.Files, c.Blob = PhaseApproved, nil, "" // it was approved, if it had to be, when it first ran
	c.Retries++
}

// Iteration is the turn the run is in, from 1; zero before the first.
func (s *State) Iteration() int { return s.iteration }

// Iterations counts the turns that are over, their calls answered, and the replies under
// purposes of the loop's own.
func (s *State) Iterations() int {
	if s.iteration > 0 && !s.settled {
		return s.iterations() - 1
	}
	return s.iterations()
}

// iterations is what the limit counts.
func (s *State) iterations() int { return s.iteration + s.asides }

// Done reports whether the latest turn is a final answer: a reply that calls nothing or
// hands in its answer with __complete__, was not rejected, and was not refuted by the goal.
// [State.Answer] is that answer. A loop of several steps may take it as the end of a step.
func (s *State) Done() bool {
	if s.replied.seq == 0 || !s.settled || s.standing != stands || s.awaitsReply() {
		return false
	}
	return s.complete != nil || s.asked.View.Step == "" && s.replied.Reply.answers()
}

// LastText is the text of the latest turn's reply.
func (s *State) LastText() string { return s.replied.Reply.Text() }

// answers reports whether the reply is a whole answer: the model neither calls a tool, nor pauses, nor refuses.
func (r *Reply) answers() bool {
	return r.Stop != StopPause && r.Stop != StopRefusal && !hasCalls(*r)
}

func hasCalls(r Reply) bool {
	return slices.ContainsFunc(r.Parts, func(p Part) bool { _, is := p.(Call); return is })
}

// Rejected reports whether the latest turn's reply was rejected.
func (s *State) Rejected() bool { return s.standing == rejected }

// RejectedIterations counts the latest iterations in a row without a usable reply.
func (s *State) RejectedIterations() int { return s.rejected }

// LastRejection is why the latest rejected reply was rejected.
func (s *State) LastRejection() string {
	r, _ := value(s.rejection)
	return r.Feedback
}

// Answer is the run's answer: the loop's own, the model's final answer, the
// argument of __complete__, or the final answer at a limit. Empty: there is
// none yet.
func (s *State) Answer() string {
	switch {
	case s.end().Answer != "" || s.end().Withheld:
		return s.end().Answer
	case s.complete != nil:
		return s.complete.Answer
	case s.Done():
		return s.LastText()
	case s.final != nil:
		return s.final.Answer
	}
	return ""
}

// InFlight reports whether a model call or a tool is running: the log has its intent and not
// its outcome.
func (s *State) InFlight() bool { return s.awaitsReply() || s.Waits(PhaseStarted) }

// Failure is the last model call's failure, unless one has succeeded since.
func (s *State) Failure() (ModelFailed, bool) { return value(s.failing().latest) }

// failing is how the latest model call that is no judge's failed; the zero miss: it has not.
func (s *State) failing() *miss { return cmp.Or(s.failures[ownCalls], &noMiss) }

var noMiss miss

// Missed is the latest failure of a judge's call in the present turn, unless a
// later attempt succeeded; its Class is zero when there is none. The run goes
// on without the judge. A policy may ask again while final is false; asking
// after a final failure ends the run.
func (s *State) Missed(p Purpose) (f ModelFailed, final bool) {
	m := s.failures[string(p)]
	if m == nil || !p.judges() {
		return ModelFailed{}, false
	}
	f = *m.latest
	late := f.RetryAt.Sub(s.time) > patience || s.exhausts(f.Class, m.tries.Of(f.Class.tried()))
	return f, f.Class != ClassCancelled && (late || !f.Class.Transient())
}

// Tries counts the failed attempts in a row at the present model call.
func (s Internals) Tries() int { return s.failing().tries.Total() }

// tried returns the number under which failures of a class are counted. All permanent classes
// have the number 0. An attempt that was cancelled, or whose reply was cut, is not counted: -1.
func (c Class) tried() int {
	switch {
	case c == ClassCancelled, c == ClassCut:
		return -1
	case c.Transient():
		return int(c)
	}
	return 0
}

// exhausts reports whether n failures of a class are all that a model call may
// have. Empty replies have a lower limit: a model that returns nothing rarely
// returns something for the same request.
func (s *State) exhausts(c Class, n int) bool {
	return n >= s.limits.Attempts || c == ClassEmpty && n >= maxEmpty
}

// attempts says how often a model call failed with a class, and how often at all.
func (s *State) attempts(c Class) string {
	n, all := s.failing().tries.Of(c.tried()), s.failing().tries.Total()
	if n < all {
		return fmt.Sprintf("%d of %d attempts", n, all)
	}
	return display.Said(all, "1 attempt", "%d attempts")
}
