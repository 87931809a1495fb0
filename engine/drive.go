package engine

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
)

// drive performs steps until the run ends, parks, or breaks, or has taken as
// many as it was to. It is the only loop there is: a run that is resumed takes
// the same way as one that just began.
func (s *session) drive() error {
	for s.steps != 0 {
		s.steps-- // before the step: whoever drives on when it is left behind must not take it again
		done, err := s.step()
		switch {
		case err == errLeft:
			return err
		case err != nil:
			s.release()
			return err
		case done:
			return nil
		}
	}
	return s.leave()
}

// finish says that nobody drives the session any more, unless another
// goroutine has taken over.
func (s *session) finish(err error) {
	if err != errLeft {
		s.done(err)
	}
}

// step reads the mail, decides, and performs one step. It reports whether the
// run has been let go of.
func (s *session) step() (done bool, err error) {
	if s.state.Status().Ended() {
		return true, s.leave()
	}
	if asked, err := s.inquire(); asked || err != nil {
		return false, err
	}
	heard := s.state.Letter()
	s.readMail()
	if s.anew = s.anew && s.state.Letter() == heard; s.state.Waits(pawl.AwaitingApproval) {
		s.expire()
	}
	s.anew = false
	// What is to end need not be parked: resuming it would forget that.
	if _, cancelled := s.state.Cancelled(); !cancelled && s.parked() {
		reason := "shut down"
		if s.ctx.Err() != nil {
			reason = context.Cause(s.ctx).Error()
		}
		s.append(s.state.Seq(), s.state.Iteration(), pawl.RunPaused{Status: pawl.Paused, Reason: reason})
		return s.part()
	}
	if err := s.askHooks(); err != nil {
		return true, err
	}
	if asked, err := s.inquire(); asked || err != nil { // a cancel that is void kept it back
		return false, err
	}
	at := s.state.Seq()
	switch step := s.m.Decide(s.state).(type) {
	case pawl.Observe:
		err = s.observe(at)
	case pawl.Think:
		err = s.think(at, &step)
	case pawl.Act:
		err = s.act(at, step)
	default:
		return s.settle(at, step)
	}
	if err == nil {
		err = s.failed
	}
	return false, err
}

// inquire asks tools about lost calls and doubts, unless the run is to end or to be
// let go of. It comes before the mail is read: what a tool knows of a call counts
// more than what people say of it. It reports whether a tool was asked.
func (s *session) inquire() (asked bool, err error) {
	if !s.state.Waits(pawl.Lost) && !s.state.Waits(pawl.Doubted) {
		return false, nil
	}
	if err := s.askHooks(); err != nil {
		return false, err
	}
	_, over := s.state.Cancelled()
	if cancel, park := s.called(); over || cancel || park {
		return false, nil
	}
	return s.reconcile()
}

// settle takes a step that is no effect. It is kept out of line, since what it
// writes would otherwise stand on the stack of every effect in flight.
//
//go:noinline
func (s *session) settle(at uint64, step pawl.Step) (done bool, err error) {
	switch step := step.(type) {
	case pawl.Record:
		if len(step.Events) == 0 {
			return true, fmt.Errorf("run %s: the machine decided to record nothing at entry %d", s.lease.Run, at)
		}
		for _, e := range step.Events { // which code of the agent may have made, and kept
			own, err := copied(pawl.Entry{Event: e})
			if err != nil {
				return false, fmt.Errorf("run %s: %w", s.lease.Run, err)
			}
			s.append(at, s.state.Iteration(), own.Event)
		}
	case pawl.Await:
		s.append(at, s.state.Iteration(), pawl.RunPaused{Status: step.Status, Reason: step.Reason, WakeAt: step.Until})
		if decided, err := s.consult(); decided || err != nil {
			return false, err
		}
		return s.part()
	case pawl.Finish:
		v := step.Verdict
		s.endChildren()
		s.append(at, s.state.Iteration(), pawl.RunStopped{Status: v.Status, Condition: v.Condition, Leaf: v.Leaf, Detail: v.Detail, Answer: step.Answer})
		return true, s.leave()
	}
	return false, s.failed
}

// leave makes the end durable and gives the run up.
func (s *session) leave() error {
	defer s.release()
	if err := s.flush(); err != nil {
		return err
	}
	s.farewell()
	return nil
}

// part lets go of a run that is parked. A letter may have come since the mail
// was read, from somebody who found the run taken and relies on its owner; so
// the mailbox is looked into once more when others can take the run, and the
// run is taken back if there is something in it. It reports whether the run
// has been let go of.
func (s *session) part() (done bool, err error) {
	if err := s.leave(); err != nil {
		return true, err
	}
	if s.fetch(s.base) != nil || !s.awaited() && !s.childMail() {
		return true, nil // what cannot be read now is read when the run is resumed
	}
	if !s.regain() {
		return true, nil // whoever has it now reads the letter
	}
	s.append(s.state.Seq(), s.state.Iteration(), pawl.RunResumed{Owner: s.lease.Owner, Epoch: s.lease.Epoch})
	return false, nil
}

// awaited reports whether a letter waits that is worth taking the run back for.
// Who is to let go of his runs takes one back only to end it.
func (s *session) awaited() bool {
	s.mu.Lock()
	letters := s.inbox
	_, park := s.wanted()
	s.mu.Unlock()
	for _, l := range letters {
		if l.Kind == pawl.LetterChild && !park {
			return s.state.Waits(pawl.AwaitingChild)
		}
		if e := s.read(l); e != nil && (!park || l.Kind == pawl.LetterCancel) {
			return true
		}
	}
	return false
}
