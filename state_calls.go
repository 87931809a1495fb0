package pawl

import (
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/wire"
)

// callList is the calls of the run. Decide reads those that are open, to classify them, and those
// before for equal calls and counts; loops, policies and conditions read all of them.
type callList struct {
	open    []*call           // of the latest batch, in call order; none once all are answered
	calls   []*call           // answered, in call order
	tools   meter.Tally       // how often each tool ran and succeeded
	unknown map[string]string // digest of a Write whose outcome stays unknown, to its call
	unsent  bool              // nothing has followed from the results of the latest batch
	steps   map[string]stepped
	at      string // the step of a loop that was begun last
}

func (s *State) foldCalls(event Event, at time.Time) {
	switch e := event.(type) {
	case ToolStarted:
		if c := s.opened(e.Call); c != nil {
			c.Phase, c.Attempt, c.Effect, c.Key, c.Started, c.Supervised = PhaseStarted, e.Attempt, e.Effect, e.Key, at, e.Supervised
		}
	case ToolFinished:
		s.toolFinished(&e)
	case ToolReused:
		s.toolReused(&e)
	case ToolRefused:
		s.toolRefused(&e)
	case ToolDoubted:
		if c := s.hold(e.Call, PhaseInDoubt); c != nil {
			c.Reason, c.Requested = e.Why, s.seq
		}
	case ToolSettled:
		s.settle(&e)
	case ClientToolRequested:
		if c := s.hold(e.Call, PhaseAwaitingClient); c != nil {
			c.Reason, c.Requested = "", s.seq
		}
	case ClientToolReturned:
		s.take(e.Signal)
		s.returned(e.Call, e.By, e.Result, s.seq)
	case ChildStarted:
		s.startChild(&e)
	case ChildStopped:
		s.stopChild(&e)
	}
}

func (s *State) toolFinished(e *ToolFinished) {
	s.acted = s.seq
	if c := s.opened(e.Call); c != nil {
		if e.Files != nil || e.Blob != "" {
			c.Files, c.Blob = e.Files, e.Blob
		}
		done := CallState{Status: e.Status, Result: e.Result, Error: e.Error, Ran: true}
		if e.Untrusted {
			done.Trust = Untrusted
		}
		s.answer(c, &done)
		c.finished = s.seq
	}
}

func (s *State) toolReused(e *ToolReused) {
	if c := s.opened(e.Call); c != nil {
		done := CallState{Status: ToolOK}
		c.Of = e.Of
		if of := s.call(e.Of); of != nil {
			done.Result, done.Trust, c.Files = of.Result, of.Trust, of.Files
		}
		s.answer(c, &done)
	}
}

func (s *State) toolRefused(e *ToolRefused) {
	c := s.opened(e.Call)
	if c == nil || e.NotRun && !s.unstarted(c) {
		return
	}
	refusing := s.refusing()
	s.answer(c, &CallState{Status: ToolFailed, Error: e.Why, Rejected: refusing, NotRun: e.NotRun,
		Omitted: refusing && s.declared().Strategy == StrategyJSON})
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
	s.acted, c.Files = s.seq, e.Files
	done := CallState{Status: ToolOK, Result: e.Result, Ran: true}
	if e.Error != "" || e.Status > ToolOK {
		done = CallState{Status: max(e.Status, ToolFailed), Error: e.Error, Ran: true}
	}
	s.answer(c, &done)
}

// host takes in a call that the provider has answered. What the model sees of it is in the reply.
func (s *State) host(h HostedCall, iteration int) {
	t, c := s.declared().tool(h.Call.Tool), newCall(h.Call, iteration)
	c.Phase, c.Effect, c.hosted = PhaseAnswered, Read, true
	c.end(&CallState{Status: ToolOK, Ran: true, Result: h.Result, Error: h.Error})
	if t.Trust == Untrusted || t.Hosted == (Usage{}) {
		c.Trust = Untrusted
	}
	if h.Error != "" {
		c.Status = ToolFailed
	}
	s.calls, s.tainted = append(s.calls, c), s.tainted || c.Trust == Untrusted
	s.tools.Count(c.Tool, true, c.OK(), 1)
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
		s.answer(c, &CallState{Status: ToolOK, Result: result, Ran: c.Attempt > 0})
	}
}

func (s *State) foldApprovals(event Event) {
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
		if c := s.hold(e.Call, PhaseUndecided); c != nil {
			c.unapprove()
		}
	case ApprovalInvalidated:
		s.invalidate(&e)
	}
}

// decide takes in a decision about an open call. One that nobody was asked for
// rests on a standing permission.
func (s *State) decide(c *call, e *ApprovalDecided, seq uint64) {
	c.By = e.By
	if !e.Approved {
		c.Phase, c.denial = PhaseUndecided, e
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
	} else if !asked {
		c.Preconditions = e.Preconditions
	}
}

func (s *State) invalidate(e *ApprovalInvalidated) {
	c := s.opened(e.Call)
	if c == nil || s.changed(c) == nil {
		s.acted = s.seq // the world is not what was seen of it
	}
	if c != nil {
		void := c.approved
		c.Phase = PhaseUndecided
		c.unapprove()
		c.Changed = e.Changed
		if void {
			c.voided++
		}
	}
}

// unpermit takes back what standing permissions covered and has not begun.
func (s *State) unpermit() {
	for _, c := range s.open {
		if c.approved && c.digest == "" && c.Attempt == 0 {
			c.Phase = PhaseUndecided
			c.unapprove()
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

// answer closes a call with what with says of its end; the turn is over when it was the last.
func (s *State) answer(c *call, with *CallState) {
	c.Phase = PhaseAnswered
	if c.end(with); with.Trust == Untrusted || (c.Ran || c.OK()) && s.declared().tool(c.Tool).Trust == Untrusted {
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
	s.closeBatch()
}

// count books an answered call once, or takes it back with by = -1.
func (s *State) count(c *call, by int) {
	s.talk = s.talk.Plus(c.talk(s), by)
	there := c.OK() && c.Of == "" && s.declared().tool(c.Tool).Client // at the client
	if c.Ran || c.OK() {
		s.tools.Count(c.Tool, c.Ran || there, c.OK(), by)
	}
}

// counter is how many calls there are, for their ids.
func (s *State) counter() int { return len(s.calls) + len(s.open) }

// newBatch makes a call that is opened now, with the others of its batch.
func (s *State) newBatch(of Call, iteration int, byLoop bool) *call {
	c := newCall(of, iteration)
	c.batch, c.byLoop = s.seq, byLoop
	return c
}

// looped reports whether the open calls are the loop's, not the model's.
func (s *State) looped() bool { return len(s.open) > 0 && s.open[0].byLoop }

// closeBatch moves the answered calls to the archive. Those of the model end its turn.
func (s *State) closeBatch() {
	rejected, looped, batch := s.refusing(), s.looped(), s.open
	s.calls, s.open = append(s.calls, batch...), s.open[:0]
	s.unsent = !rejected
	if !rejected && !looped { // a loop's calls are no turn of the model's, which could fail at it or repeat itself
		s.leave(s.trackOf(batch))
		s.settled, s.rejected = true, 0
	}
}

// openBatch takes closeBatch back. It is rare, so that it may cost O(calls).
func (s *State) openBatch() {
	s.open = nil
	for _, c := range s.unsentCalls() {
		s.open = append(s.open, new(*c))
	}
	s.calls, s.unsent, s.gathered = slices.Clip(s.calls[:len(s.calls)-len(s.open)]), false, nil
	s.settled = s.settled && s.looped()
}

// lastBatch are the calls that were answered last, and opened at once. Those that the provider ran
// are in no batch.
func (s *State) lastBatch() []*call {
	from := len(s.calls)
	for from > 0 && s.calls[from-1].batch > 0 && s.calls[from-1].batch == s.calls[len(s.calls)-1].batch {
		from--
	}
	return slices.Clip(s.calls[from:])
}

// unsentCalls are the calls of a closed batch whose results no model has seen.
func (s *State) unsentCalls() []*call {
	if !s.unsent {
		return nil
	}
	return s.lastBatch()
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

// call returns the call of an id; nil: there is none.
func (s *State) call(id string) *call {
	if c := s.opened(id); c != nil {
		return c
	}
	if n := callNumber(id); n > 0 && n <= len(s.calls) {
		return s.calls[n-1]
	}
	return nil
}

// Call returns a call by its id. It costs O(calls of the present turn).
func (s *State) Call(id string) (c CallState, ok bool) {
	if of := s.call(id); of != nil {
		return of.state(), true
	}
	return c, false
}

// Peek returns a call by its id without a copy; nil: there is none. The call shares memory with the
// State and must not be changed.
func (s Internals) Peek(id string) *CallState {
	if c := s.call(id); c != nil {
		return &c.CallState
	}
	return nil
}

// Open yields the calls of the present turn that are not all answered yet, in order.
func (s *State) Open() iter.Seq[CallState] { return states(s.open, nil) }

// Calls yields every call so far, in order.
func (s *State) Calls() iter.Seq[CallState] { return states(s.calls, s.open) }

// states yields the calls of both lists as others see them.
func states(first, then []*call) iter.Seq[CallState] {
	return func(yield func(CallState) bool) {
		for _, list := range [...][]*call{first, then} {
			for _, c := range list {
				if !yield(c.state()) {
					return
				}
			}
		}
	}
}

// Recent yields every call so far, latest first.
func (s *State) Recent() iter.Seq[CallState] { return s.latest(func(*call) bool { return true }) }

// latest yields the calls that are wanted, latest first.
func (s *State) latest(want func(*call) bool) iter.Seq[CallState] {
	return func(yield func(CallState) bool) {
		for _, list := range [...][]*call{s.open, s.calls} {
			for _, c := range slices.Backward(list) {
				if want(c) && !yield(c.state()) {
					return
				}
			}
		}
	}
}

// HasOpen reports whether calls are open.
func (s *State) HasOpen() bool { return len(s.open) > 0 }

// Waits reports whether an open call stands in the given phase.
func (s *State) Waits(in Phase) bool {
	return slices.ContainsFunc(s.open, func(c *call) bool { return c.Phase == in })
}

// ran reports whether a call of the present turn ran.
func (s *State) ran() bool { return slices.ContainsFunc(s.open, func(c *call) bool { return c.Ran }) }

// Succeeded counts the calls of a tool that succeeded.
func (s *State) Succeeded(tool string) int { return s.tools.Of(tool).Succeeded }

// SuccessfulCalls yields the calls of a tool that succeeded, latest first. It
// costs O(calls) when run to the end.
func (s *State) SuccessfulCalls(tool string) iter.Seq[CallState] {
	return s.latest(func(c *call) bool { return c.Tool == tool && c.OK() })
}

// ToolCalls counts the calls that ran, here or at a client.
func (s *State) ToolCalls() int { return s.tools.Ran() }

// equal returns the id of a call of this run with the same content (see
// contentKey) whose result may answer another one: an Idempotent call that
// succeeded. It runs only when such a call is about to run, so that folding a
// log need not compute the content of every call.
func (s *State) equal(content string) string {
	told := func(c *call) bool { return c.Ran && c.OK() && c.Effect == Idempotent }
	for _, c := range slices.Backward(s.open) {
		if told(c) && contentKey(c.Tool, c.args()) == content {
			return c.ID
		}
	}
	return s.gather("\x00equal", func() any { return map[string]string{} }, func(made any, c *call) {
		if told(c) {
			made.(map[string]string)[contentKey(c.Tool, c.args())] = c.ID
		}
	}).(map[string]string)[content]
}

// contentKey names a call by what it does: tool and canonical arguments.
func contentKey(tool string, args []byte) string { return wire.Digest([]byte(tool), canonical(args)) }

// canonical is a document in its canonical form, or as it is if it has none.
func canonical(raw []byte) []byte {
	if b, err := wire.Canonical(raw); err == nil {
		return b
	}
	return raw
}

func callID(n int) string { return "c_" + strconv.Itoa(n) }

func callNumber(id string) int {
	digits, ok := strings.CutPrefix(id, "c_")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return 0
	}
	return n
}
