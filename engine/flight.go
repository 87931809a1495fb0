package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
)

// A flight is an effect that runs on the goroutine that drives its run: one
// model call, one tool call, one observation. Nothing is handed over, which is
// what makes a turn cheap. If the effect does not come back when it is told to,
// it is left behind together with its goroutine, and another one drives the
// run on; the goroutine left behind unwinds, if ever it can, without touching
// anything.
type flight struct {
	effect    effect
	cancel    context.CancelCauseFunc
	deadline  time.Time
	limit     time.Duration
	grace     time.Duration // from being cut to being left behind
	sheltered bool          // parking lets it finish: a Write in progress
	cut       error         // why it was told to stop
	over      bool          // it came back, or was left behind
}

// effect is what flies.
type effect interface {
	// perform does the work. It touches nothing but itself.
	perform(context.Context)
	// record appends what came of it. cut is why it was told to stop, if it
	// was; left says that it has not come back, so that nothing of it may be read.
	record(s *session, cut error, left bool)
}

// errLeft unwinds a goroutine whose run is driven by another one now.
var errLeft = errors.New("left behind")

// Why an effect is told to stop.
var (
	errTimeout   = fmt.Errorf("the time is over: %w", context.DeadlineExceeded)
	errCancelled = fmt.Errorf("the run is being cancelled: %w", context.Canceled)
	errParked    = fmt.Errorf("the run is being parked: %w", context.Canceled)
)

// fly performs an effect and records what came of it. It returns errLeft when
// the effect was left behind and another goroutine drives the run.
func (s *session) fly(fl *flight) error {
	ctx, cancel := context.WithCancelCause(s.base)
	fl.cancel, fl.deadline = cancel, time.Now().Add(fl.limit)
	s.mu.Lock()
	s.flight = fl
	if s.watch == nil {
		s.watch = time.AfterFunc(fl.limit, s.ring)
	} else {
		s.watch.Reset(fl.limit)
	}
	s.mu.Unlock()
	s.interrupt() // what was wanted before the flight began is wanted still

	fl.effect.perform(ctx)

	s.mu.Lock()
	if fl.over {
		s.mu.Unlock()
		return errLeft
	}
	fl.over, s.flight = true, nil
	s.watch.Stop()
	s.mu.Unlock()
	cancel(nil)
	fl.effect.record(s, fl.cut, false)
	return nil
}

// ring is the flight's clock: at the deadline it tells the effect to stop, and
// when the grace is over too, it leaves it behind.
func (s *session) ring() {
	s.mu.Lock()
	defer s.mu.Unlock()
	fl := s.flight
	if fl == nil || fl.over {
		return
	}
	if wait := time.Until(fl.deadline); wait > 0 { // an alarm meant for an earlier flight
		s.watch.Reset(wait)
		return
	}
	if fl.cut == nil {
		s.stop(fl, errTimeout)
		return
	}
	fl.over, s.flight = true, nil
	go func() {
		fl.effect.record(s, fl.cut, true)
		s.finish(s.drive())
	}()
}

// stop tells a flight to stop. The session's lock is held.
func (s *session) stop(fl *flight, why error) {
	fl.cut = why
	fl.deadline = time.Now().Add(fl.grace)
	fl.cancel(why)
	s.watch.Reset(fl.grace)
}

// interrupt tells the effect in flight to stop if the outside wants the run
// cancelled or parked.
func (s *session) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	fl := s.flight
	if fl == nil || fl.over || fl.cut != nil {
		return
	}
	switch cancel, park := s.wanted(); {
	case cancel:
		s.stop(fl, errCancelled)
	case park && !fl.sheltered:
		s.stop(fl, errParked)
	}
}

// called says what the outside wants: that the run be cancelled, or that it be
// let go of.
func (s *session) called() (cancel, park bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted()
}

func (s *session) wanted() (cancel, park bool) {
	for _, l := range s.inbox {
		cancel = cancel || l.Kind == pawl.LetterCancel
	}
	return cancel, s.parking || s.fenced != nil || s.ctx.Err() != nil
}
