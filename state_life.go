package pawl

import (
	"cmp"
	"slices"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/usercode"
)

// life is where the run stands: what it began with, its clock, its limits, who owns it and how it
// ended. Decide reads it first, and before each step for the limits. Policies and conditions read
// the limits and the time; the engine, the heads of journals and reports read the rest.
type life struct {
	start   *RunStarted // with the declaration that is in force
	earlier *State      // of the run that this one continues; nil: none, or it is not known
	run     string
	seq     uint64
	time    time.Time // of the latest entry
	created time.Time
	elapsed time.Duration
	limits  Limits
	stop    string           // the stop condition, as source
	lease   Lease            // of the latest owner
	signal  int64            // the latest one that was taken in
	cancel  *CancelRequested // nil: nobody has asked the run to end
	paused  *RunPaused       // nil: it is not suspended
	stopped *RunStopped      // nil: it has not ended
}

// advance takes in the place of the entry in the log, and the time that the run has been running.
func (s *State) advance(e *Entry) {
	if s.Status() == StatusRunning && s.seq > 0 {
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
}

func (s *State) foldLife(event Event) {
	switch e := event.(type) {
	case RunStarted:
		s.begin(&e)
	case RunForked:
		s.fork(&e)
	case RunPaused:
		s.paused = &e
		for _, c := range s.open { // a decision from now on is about the latest observation
			if c.Phase == PhaseAwaitingApproval && c.Requested > s.resumed {
				c.basis = s.look
			}
		}
	case RunResumed:
		s.resume(&e)
	case RunExtended:
		s.askAgain()
		s.limits = s.limits.Merge(e.Limits)
		s.stop = cmp.Or(e.Stop, s.stop)
		s.take(e.Signal)
	case RunStopped:
		s.stopped, s.paused = &e, nil
	case CancelRequested:
		if e.Call == "" {
			s.cancel = &e
		} else if c := s.opened(e.Call); c != nil {
			c.Cancelled = "it was " + e.text()
		}
		s.take(e.Signal)
	}
}

func (s *State) begin(e *RunStarted) {
	s.start, s.created = e, s.time
	s.limits, s.stop = e.Declaration.Limits.withDefaults(), e.Declaration.Stop
	s.priced = e.Declaration.priced()
	s.lease = Lease{Epoch: e.Epoch, Owner: e.Owner}
	s.settled = true
	s.tainted = e.Untrusted || len(e.Files) > 0 || e.Declaration.foreign()
	if c := e.Continues; c != nil {
		s.tainted = s.tainted || c.Untrusted
		s.find(c.Found...)
		s.talk.Bytes = max(0, c.Bytes)
		s.counted = meter.Count{Input: max(0, c.Input), Bytes: s.talk.Bytes}
	}
	if before := s.earlier; before != nil {
		s.asked.View.System, s.asked.View.Bare, s.prefix = before.asked.View.System, before.asked.View.Bare, before.prefix
		if !before.declared().begins(&e.Declaration) {
			s.prefix++
		}
	}
	if e.Continues == nil || e.Continues.By == "" { // else nobody has said anything since
		files, size := s.attached()
		s.talk.Bytes, s.talk.Images = s.talk.Bytes+files, size
		s.addInput(e.Input)
	}
}

func (s *State) fork(e *RunForked) {
	s.paused, s.stopped, s.cancel = nil, nil, nil
	s.created, s.lease, s.signal = s.time, Lease{Epoch: e.Epoch, Owner: e.Owner}, 0
	if len(e.Labels) > 0 && s.start != nil {
		start := *s.start
		start.Labels, s.start = e.Labels, &start
	}
	delete(s.notes, importer+"\x00"+importNote)
	delete(s.notes, budgetNote)
	s.unwatch()
	s.reset()
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
	if status := s.Status(); status != StatusRunning { // else its owner died: what was asked and counted stands
		// A run at its limit has spent its last call on an answer; until a
		// limit is raised or a new turn begins, that one stands.
		landed := s.final
		s.cancel = nil
		s.reset()
		if status == StatusExhausted {
			s.final = landed
		}
	}
	s.paused, s.stopped = nil, nil
	s.lease, s.resumed = Lease{Epoch: e.Epoch, Owner: e.Owner}, s.seq
	if to := e.Changed; to != nil && s.start != nil {
		start := *s.start
		if len(start.Declaration.Differences(*to)) > 0 { // else it is the prices that changed
			s.unpermit()
		}
		if !start.Declaration.begins(to) {
			s.prefix++
		}
		start.Declaration = *to
		s.start, s.stop = &start, to.Stop
		s.priced, s.tainted, s.gathered = to.priced(), s.tainted || to.foreign(), nil
	}
	s.lose()
}

// reset resets what made the run end, so that resuming it is not stopped at
// once by the counters of the time before.
func (s *State) reset() {
	s.fallback, s.shortened, s.failures = 0, false, nil
	s.rejection, s.rejected, s.judged = nil, 0, nil
	s.askAgain()
	s.resetIterations = s.Iterations() - s.asides
	s.forgetSteps()
	for _, c := range s.open {
		c.denial = nil
	}
	if s.replied.seq != 0 && s.replied.Reply.Stop == StopRefusal {
		s.refute() // the turn is made again
	}
	if s.seen().blind > 0 { // it observes again before anything else
		again := *s.look
		again.blind = 0
		s.look, s.acted = &again, s.seq
	}
}

// lose marks whatever is in flight as lost and books a lost model call at its reservation.
func (s *State) lose() {
	if s.awaitsReply() {
		s.book(s.thinking.reserved(), s.thinking.Cost)
		s.modelCalls++
		s.thinking = ModelCalled{}
	}
	for _, c := range s.open {
		if c.Phase == PhaseStarted || c.Phase == PhaseAwaitingChild { // a new owner takes over child runs, too
			c.Phase = PhaseLost
		}
	}
}

func (s *State) take(letter int64) { s.signal = max(s.signal, letter) }

// Run is the run's id.
func (s *State) Run() string { return s.run }

// Seq is the seq of the last entry folded.
func (s *State) Seq() uint64 { return s.seq }

// Time is the time of the last entry folded.
func (s *State) Time() time.Time { return s.time }

// Status returns the run's status. A run that lost its owner is still StatusRunning here; see
// runs.EffectiveStatus.
func (s *State) Status() Status {
	switch {
	case s.paused != nil:
		return s.paused.Status
	case s.stopped != nil:
		return s.stopped.Status
	case s.start == nil:
		return 0
	}
	return StatusRunning
}

// Verdict returns how the run ended. While the run goes on, it does not hold.
func (s *State) Verdict() Verdict {
	e, ended := value(s.stopped)
	return Verdict{Holds: ended, Status: e.Status, Condition: e.Condition, Leaf: e.Leaf, Detail: e.Detail}
}

// end is how the run ended; the zero RunStopped while it goes on.
func (s *State) end() RunStopped {
	e, _ := value(s.stopped)
	return e
}

// Declaration is what the run began with; the zero Declaration before it began.
func (s *State) Declaration() Declaration { return usercode.Copy(*s.declared()) }

// Start is the run's first event, and whether there is one. It costs a copy of the whole
// declaration; [State.Head], [State.Input] and [State.Files] cost less.
func (s *State) Start() (RunStarted, bool) { return value(usercode.Copy(s.start)) }

// first is the run's first event, and declared its declaration, for those who only read them.
func (s *State) first() *RunStarted { return cmp.Or(s.start, &noStart) }

func (s *State) declared() *Declaration { return &s.first().Declaration }

var noStart RunStarted // a literal would take its room on the stack of each caller

// Limits are the limits in force, extensions included.
func (s *State) Limits() Limits { return s.limits }

// StopSource is the stop condition in force, as source; empty: none.
func (s *State) StopSource() string { return s.stop }

// Epoch is the fencing epoch of the run's latest owner, and Owner who that is.
func (s Internals) Epoch() uint64 { return s.lease.Epoch }

// Owner is who last owned the run.
func (s *State) Owner() string { return s.lease.Owner }

// Signal is the id of the last signal taken in.
func (s Internals) Signal() int64 { return s.signal }

// WakeAt is when to resume a suspended run; zero: only on request.
func (s *State) WakeAt() time.Time {
	if s.paused == nil {
		return time.Time{}
	}
	return s.paused.WakeAt
}

// Elapsed is the time the run has been running; waiting does not count.
func (s *State) Elapsed() time.Duration { return s.elapsed }

// Input is what the run was asked.
func (s *State) Input() string { return s.first().Input }

// Parent is the run that this one was begun by, as a child run; empty: none.
func (s *State) Parent() string { return s.first().Parent }

// Files are the files of the input, without their data.
func (s *State) Files() []File { return slices.Clone(s.first().Files) }

// Cancelled returns the verdict of a cancelled run, and whether it was
// cancelled.
func (s *State) Cancelled() (Verdict, bool) {
	if s.cancel == nil {
		return Verdict{}, false
	}
	return verdict(StatusCancelled, "cancelled", s.cancel.text()), true
}

// text says who cancelled the run or the call, and why.
func (e *CancelRequested) text() string {
	return "cancelled" + display.After(" by ", e.By) + display.After(": ", e.Reason)
}

// CancelledBy is who asked the run to end since it was resumed; empty: nobody did.
func (s Internals) CancelledBy() string {
	if s.cancel == nil {
		return ""
	}
	return s.cancel.By
}

// Next is the state in which a run begins that continues the run of s.
func (s Internals) Next() *State { return &State{facts: facts{life: life{earlier: s.Clone()}}} }

// Earlier returns the state of the run that this one continues, and whether there is one. A
// state that was folded from this run's log alone does not have it: the engine adds it to the
// states it drives and replays. Policies use it to know all that the model may read. Walking
// back costs O(runs).
func (s *State) Earlier() (*State, bool) { return s.earlier, s.earlier != nil }
