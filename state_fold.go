package pawl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/wire"
)

// Fold takes in the next entry of the log. It is the only way a state changes.
// Fold is total: any entry leaves a state, and one that makes no sense (an answer
// to a call that does not exist) changes nothing but the place in the log. See
// [Internals.CheckNext].
func (s *State) Fold(e Entry) {
	if s.status == StatusRunning && s.seq > 0 {
		switch e.Event.(type) {
		case RunResumed, RunForked: // the run did not run in between
		default:
			c, _ := e.Event.(ModelCalled)
			s.elapsed += max(0, e.Time.Sub(s.time)-max(0, c.Waited))
		}
	}
	s.seq, s.run = e.Seq, e.Run
	if e.Time.After(s.time) {
		s.time = e.Time
	}
	s.idle = idle(e.Event, s.idle)
	switch ev := e.Event.(type) {
	case RunStarted, RunPaused, RunResumed, RunExtended, RunForked, RunStopped, CancelRequested:
		s.applyRun(ev)
	case ModelCalled:
		s.modelCalled(ev, e.Iteration)
	case ModelReplied:
		s.modelReplied(ev, e.Iteration)
	case ToolStarted:
		s.toolStarted(ev, e.Time)
	case ToolFinished:
		s.toolFinished(ev)
	case ModelFailed:
		s.modelFailed(&ev)
	case PlanRejected:
		s.planRejected(&ev)
	case ToolReused, ToolRefused, ToolDoubted, ToolSettled:
		s.applyTool(ev)
	case ApprovalRequested, ApprovalDecided, ApprovalExpired, ApprovalInvalidated,
		InputRequested, InputGiven, ClientToolRequested, ClientToolReturned:
		s.applyAsk(ev)
	default:
		s.applyMemo(ev)
	}
}

// idle counts the events in a row in which the machine only remembers or sees something.
func idle(event Event, before int) int {
	switch e := event.(type) {
	case Noted:
		if e.Given() {
			return before
		}
	case ProgressJudged, Reflected, Grounded, CausesFound, ContextCompacted, Observed, Measured:
	default:
		return 0
	}
	return before + 1
}

// CheckNext says whether e may follow s in a log: the next seq of the same
// run, a start first and only first, and a decision no later than the entry.
func (s Internals) CheckNext(e Entry) error {
	_, starts := e.Event.(RunStarted)
	switch {
	case e.Seq != s.seq+1:
		return fmt.Errorf("run %s: entry %d follows entry %d", e.Run, e.Seq, s.seq)
	case s.seq > 0 && e.Run != s.run:
		return fmt.Errorf("run %s: entry %d belongs to run %s", s.run, e.Seq, e.Run)
	case starts != (e.Seq == 1):
		return fmt.Errorf("run %s: entry %d is %s; run.started comes first and only first", e.Run, e.Seq, e.Type())
	case e.At >= e.Seq:
		return fmt.Errorf("run %s: entry %d was decided on entry %d, which comes after it", e.Run, e.Seq, e.At)
	}
	return nil
}

func (s *State) applyRun(event Event) {
	switch e := event.(type) {
	case RunStarted:
		s.begin(&e)
	case RunForked:
		s.fork(&e)
	case RunPaused:
		s.status, s.paused = e.Status, &e
		for _, c := range s.open { // a decision from now on is about the latest observation
			if c.Phase == PhaseAwaitingApproval && c.Requested > s.resumed && c.basis != s.look {
				c.basis = s.look
			}
		}
	case RunResumed:
		s.resume(&e)
	case RunExtended:
		s.finalAsked = false
		s.limits = s.limits.Merge(e.Limits)
		if e.Stop != "" {
			s.stop = e.Stop
		}
		s.take(e.Signal)
	case RunStopped:
		s.status, s.own, s.withheld = e.Status, e.Answer, e.Withheld
		s.verdict = Verdict{Holds: true, Status: e.Status, Condition: e.Condition, Leaf: e.Leaf, Detail: e.Detail}
	case CancelRequested:
		s.cancel = &e
		s.take(e.Signal)
	}
}

func (s *State) begin(e *RunStarted) {
	s.start, s.status, s.created = e, StatusRunning, s.time
	s.limits, s.stop = e.Declaration.Limits.withDefaults(), e.Declaration.Stop
	s.priced, s.wire = e.Declaration.priced(), e.Declaration.wires()
	s.epoch, s.owner = e.Epoch, e.Owner
	s.settled = true
	s.tainted = e.Untrusted || len(e.Files) > 0 || e.Declaration.foreign()
	if c := e.Continues; c != nil {
		s.tainted = s.tainted || c.Untrusted
		s.find(c.Found...)
		s.bytes, s.lastInput, s.lastBytes = max(0, c.Bytes), max(0, c.Input), max(0, c.Bytes)
	}
	if before := s.earlier; before != nil {
		s.asked, s.prefix = before.asked, before.prefix
		if !before.declared().begins(&e.Declaration) {
			s.prefix++
		}
	}
	if e.Continues == nil || e.Continues.By == "" { // else nobody has said anything since
		files, size := s.attached()
		s.bytes, s.images = s.bytes+files, size
		s.addInput(e.Input)
	}
}

func (s *State) fork(e *RunForked) {
	s.status, s.verdict, s.paused, s.cancel, s.own, s.withheld = StatusRunning, Verdict{}, nil, nil, "", false
	s.created, s.epoch, s.owner, s.signal = s.time, e.Epoch, e.Owner, 0
	if len(e.Labels) > 0 && s.start != nil {
		start := *s.start
		start.Labels, s.start = e.Labels, &start
	}
	s.origin = imported{}
	delete(s.notes, budgetNote)
	s.unwatch()
	s.reset()
	s.grants = nil
	for _, c := range s.open { // the fork requests again, in its own name
		if c.Phase != PhaseAnswered && c.Phase != PhaseInDoubt && (c.Phase != PhaseLost || c.Child != "") {
			c.Phase = PhaseUndecided
			c.unapprove()
			c.Child, c.child = "", nil // whose run has another name, too
		}
	}
	if e.Input != "" {
		s.addInput(e.Input)
	}
}

func (s *State) resume(e *RunResumed) {
	if s.status != StatusRunning { // else its owner died: what was asked and counted stands
		// A run at its limit has spent its last call on an answer; until a
		// limit is raised or a new turn begins, that one stands.
		landed := s.finalAsked && s.status == StatusExhausted
		s.cancel = nil
		s.reset()
		s.finalAsked = landed
	}
	s.status, s.verdict, s.paused, s.own, s.withheld = StatusRunning, Verdict{}, nil, "", false
	s.epoch, s.owner, s.resumed = e.Epoch, e.Owner, s.seq
	if e.Changed != nil && s.start != nil {
		start := *s.start
		if len(start.Declaration.Differences(*e.Changed)) > 0 { // else it is the prices that changed
			s.grants = nil
		}
		start.Declaration, s.tainted = *e.Changed, s.tainted || e.Changed.foreign()
		s.gathered = nil
		if !s.start.Declaration.begins(e.Changed) {
			s.prefix++
		}
		s.start, s.priced, s.stop = &start, e.Changed.priced(), e.Changed.Stop
	}
	s.lose()
}

// addInput takes in what a person says; a final answer before it is no longer final.
func (s *State) addInput(text string) {
	s.inputs = append(s.inputs, text)
	s.bytes += s.size(text) + s.around()
	s.refuted = s.refuted || s.start != nil && s.replied != 0 && s.settled
	s.complete = nil
}

// reset resets what made the run end, so that resuming it is not stopped at
// once by the counters of the time before.
func (s *State) reset() {
	s.fallback, s.shortened, s.denied, s.missed = 0, false, nil, nil
	s.failure, s.tries, s.rejections, s.rejected, s.finalAsked, s.toolErrors, s.stalled = nil, meter.Few{}, 0, 0, false, 0, 0
	s.was.toolErrors, s.was.stalled, s.judged = 0, 0, nil
	s.resetIterations = s.Iterations() - s.asides
	s.forgetSteps()
	s.refuted = s.refuted || s.replied != 0 && s.reply.Stop == StopRefusal // the turn is made again
	if s.blind > 0 {
		s.blind, s.observed = 0, 0 // it observes again before anything else
	}
}

// lose marks whatever is in flight as lost and books a lost model call at its reservation.
func (s *State) lose() {
	if c := &s.thinking; c.made {
		s.book(c.usage, c.cost)
		s.modelCalls++
		s.thinking = reservation{}
	}
	for _, c := range s.open {
		if c.Phase == PhaseStarted || c.Phase == PhaseAwaitingChild { // a new owner takes over child runs, too
			c.Phase = PhaseLost
		}
	}
}

func (s *State) take(letter int64) { s.signal = max(s.signal, letter) }

// book adds a model call's cost, never less than nothing: a provider's figures
// are taken with care.
func (s *State) book(u Usage, dollars float64) {
	s.usage = s.usage.Add(u.sane())
	if dollars > 0 { // which no NaN is
		s.cost += min(dollars, 1e12)
	}
}

// opened returns the open call of an id; nil: there is none.
func (s *State) opened(id string) *call { return in(s.open, id) }

// in returns the call of an id in a list; nil: it is not there.
func in(calls []*call, id string) *call {
	for _, c := range calls {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// answer closes a call with an ending; the turn is over when it was the last.
func (s *State) answer(c *call, with ending) {
	c.Phase = PhaseAnswered
	if c.end(with); with.untrusted || (c.Ran || c.OK()) && s.declared().tool(c.Tool).Trust == Untrusted {
		c.Trust, s.tainted = Untrusted, true
	}
	s.count(c, 1)
	if c.Ran && c.Effect == Write && (c.Status == ToolTimeout || c.Status == ToolUnknown) {
		put(&s.unknown, contentKey(c.Tool, c.args()), c.ID)
	}
	for _, o := range s.open {
		if o.Phase != PhaseAnswered {
			return
		}
	}
	s.closeTurn()
}

// count books an answered call once, or takes it back with by = -1.
func (s *State) count(c *call, by int) {
	s.bytes += by * c.weight(s)
	s.maskable += by * c.maskable()
	s.images += by * c.pictures()
	s.shots += by * len(c.images)
	if c.Ran || c.OK() {
		s.tools.Count(c.Tool, c.Ran, c.OK(), by)
	}
	if c.Ran || c.OK() && c.Of == "" && s.declared().tool(c.Tool).Client { // there it ran
		s.toolCalls += by
	}
}

// closeTurn moves the answered calls to the archive and judges the turn.
func (s *State) closeTurn() {
	turn := s.open
	s.calls, s.open = append(s.calls, turn...), s.open[:0]
	if s.rejects {
		s.rejects = false
		return
	}
	if s.looped { // it is no turn of the model's, which can neither fail at it nor repeat itself
		s.looped, s.unsent = false, true
		return
	}
	s.settled, s.rejected, s.unsent = true, 0, true
	s.was = s.tempo
	track, ok, failed := s.trackOf(turn)
	switch {
	case ok:
		s.toolErrors = 0
	case failed:
		s.toolErrors++
	}
	s.leave(track)
	switch {
	case track.Exempt:
	case track.Outcome == s.last:
		s.stalled++
	default:
		s.stalled, s.last = 0, track.Outcome
	}
}

// trackOf is the track of a turn that has just ended, and whether a call of it succeeded, and whether one failed.
func (s *State) trackOf(turn []*call) (t Track, ok, failed bool) {
	t = Track{Iteration: s.iteration, Thought: s.thought, Exempt: true}
	sums := wire.NewTurn()
	for _, c := range turn {
		switch {
		case c.OK():
			ok = true
			t.Changed = t.Changed || c.Ran && c.Effect > Read
		case !c.notRun:
			failed = true
		}
		if !s.declared().tool(c.Tool).Exempt {
			t.Exempt = false
			sums.Add(c.Tool, c.Args, byte(c.Status), c.Result, c.Error, !c.OK() && !c.notRun && !ok)
		}
	}
	if !t.Exempt {
		t.Calls, t.Outcome = uint64(sums.Did), uint64(sums.All)
	}
	if sums.Fault != wire.NewSum && !ok {
		t.Fault = uint64(sums.Fault)
	}
	return t, ok, failed
}

// leave keeps a turn's track. A turn that is closed again leaves another.
func (s *State) leave(t Track) {
	if s.track.Iteration > 0 && s.track.Iteration != t.Iteration {
		s.trail = append(s.trail, s.track)
	}
	s.track = t
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
	case s.replied == 0 || seq != s.replied:
		return "only the latest reply to a turn, or the result of a call, is made again"
	case s.withdrawn || s.refuted || s.thinking.made:
		return "the model is asked again as it is"
	case s.begun() || len(s.open) == 0 && hasCalls(s.reply):
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
		if s.malformed != "" {
			why = s.malformed + "; " + why
		}
		s.malformed, s.withdrawn, s.settled = why, true, false
		return
	}
	if s.opened(d.Call) == nil {
		s.openTurn()
	}
	c := s.opened(d.Call)
	s.count(c, -1)
	c.end(ending{})
	c.Phase, c.images, c.Blob = PhaseApproved, nil, "" // it was approved, if it had to be, when it first ran
	c.Retries++
}

// unsentCalls are the calls of a closed turn whose results no model has seen.
func (s *State) unsentCalls() []*call {
	if !s.unsent {
		return nil
	}
	return slices.Clip(s.calls[max(0, len(s.calls)-s.batch):])
}

// openTurn takes closeTurn back. It is rare, so that it may cost O(calls).
func (s *State) openTurn() {
	s.open = nil
	for _, c := range s.unsentCalls() {
		s.open = append(s.open, new(*c))
	}
	s.calls, s.unsent, s.gathered = slices.Clip(s.calls[:len(s.calls)-len(s.open)]), false, nil
	if s.looped = s.byLoop; s.looped {
		return // which closing it left alone, too
	}
	s.settled = false
	s.tempo = s.was
}

// contentKey names a call by what it does: tool and canonical arguments.
func contentKey(tool string, args []byte) string {
	return wire.Digest([]byte(tool), canonical(args))
}

// canonical is a document in its canonical form, or as it is if it has none.
func canonical(raw []byte) []byte {
	if b, err := wire.Canonical(raw); err == nil {
		return b
	}
	return raw
}

func callID(n int) string {
	return "c_" + strconv.Itoa(n)
}

func callNumber(id string) int {
	digits, ok := strings.CutPrefix(id, "c_")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return 0
	}
	return n
}
