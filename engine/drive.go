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
	for ; s.steps != 0; s.steps-- {
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
	s.readMail()
	if _, park := s.called(); park {
		reason := "shut down"
		if s.ctx.Err() != nil {
			reason = context.Cause(s.ctx).Error()
		}
		s.append(s.state.Seq(), s.state.Iteration(), pawl.RunPaused{Status: pawl.Paused, Reason: reason})
		return true, s.leave()
	}
	if err := s.askHooks(); err != nil {
		return true, err
	}
	at := s.state.Seq()
	switch step := s.m.Decide(s.state).(type) {
	case pawl.Observe:
		err = s.observe(at)
	case pawl.Think:
		err = s.think(at, step)
	case pawl.Act:
		err = s.act(at, step)
	case pawl.Record:
		if len(step.Events) == 0 {
			return true, fmt.Errorf("run %s: the machine decided to record nothing at entry %d", s.lease.Run, at)
		}
		s.append(at, s.state.Iteration(), step.Events...)
	case pawl.Await:
		s.append(at, s.state.Iteration(), pawl.RunPaused{Status: step.Status, Reason: step.Reason, WakeAt: step.Until})
		return true, s.leave()
	case pawl.Finish:
		v := step.Verdict
		s.append(at, s.state.Iteration(), pawl.RunStopped{Status: v.Status, Condition: v.Condition, Leaf: v.Leaf, Detail: v.Detail})
		return true, s.leave()
	}
	if err == nil {
		err = s.failed
	}
	return false, err
}

// leave makes the end durable and gives the run up.
func (s *session) leave() error {
	defer s.release()
	return s.flush()
}
