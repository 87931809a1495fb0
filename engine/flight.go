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
	ctx       *effectContext
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

// fly performs an effect from now on and records what came of it. It returns
// errLeft when the effect was left behind and another goroutine drives the run.
func (s *session) fly(fl *flight, now time.Time) error {
	fl.ctx = &effectContext{Context: s.base}
	fl.deadline = now.Add(fl.limit)
	s.mu.Lock()
	s.flight = fl
	s.ringAt(fl.deadline, fl.limit)
	s.heed() // what was wanted before the flight began is wanted still
	s.mu.Unlock()

	fl.effect.perform(fl.ctx)

	s.mu.Lock()
	if fl.over {
		s.mu.Unlock()
		return errLeft
	}
	fl.over, s.flight = true, nil
	s.mu.Unlock()
	fl.ctx.cancel(nil)
	fl.effect.record(s, fl.cut, false)
	return nil
}

// ringAt sets the flights' clock, unless it rings before that anyway. It is not
// stopped between flights: nearly all end long before their deadline, and
// setting it twice a turn costs more than having it ring in vain.
func (s *session) ringAt(at time.Time, wait time.Duration) {
	if !s.rings.IsZero() && !at.Before(s.rings) {
		return
	}
	s.rings = at
	if s.watch == nil {
		s.watch = time.AfterFunc(wait, s.ring)
	} else {
		s.watch.Reset(wait)
	}
}

// still stops the clock for good.
func (s *session) still() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch != nil {
		s.watch.Stop()
	}
}

// ring is the flights' clock: at the deadline it tells the effect to stop, and
// when the grace is over too, it leaves it behind.
func (s *session) ring() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rings = time.Time{}
	fl := s.flight
	if fl == nil || fl.over {
		return
	}
	if wait := time.Until(fl.deadline); wait > 0 { // it was set for an earlier flight
		s.ringAt(fl.deadline, wait)
		return
	}
	if fl.cut == nil {
		s.stop(fl, errTimeout)
		return
	}
	fl.over, s.flight = true, nil
	go func() {
		s.finish(s.guard(func() error {
			fl.effect.record(s, fl.cut, true)
			return s.drive()
		}))
	}()
}

// stop tells a flight to stop. The session's lock is held.
func (s *session) stop(fl *flight, why error) {
	fl.cut = why
	fl.deadline = time.Now().Add(fl.grace)
	fl.ctx.cancel(why)
	s.ringAt(fl.deadline, fl.grace)
}

// interrupt tells the effect in flight to stop if the outside wants the run
// cancelled or parked.
func (s *session) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heed()
}

// heed is interrupt for who holds the lock.
func (s *session) heed() {
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

// parked says whether the run is to be let go of.
func (s *session) parked() bool {
	_, park := s.called()
	return park
}

func (s *session) wanted() (cancel, park bool) {
	for _, l := range s.inbox {
		cancel = cancel || l.Kind == pawl.LetterCancel
	}
	return cancel, s.parking || s.fenced != nil || s.ctx.Err() != nil
}
