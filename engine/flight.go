package engine

import (
	"context"
	"errors"
	"time"
)

// A flight is an effect that runs on the goroutine that drives its run: one
// model call, one tool call, one observation. Nothing is handed over, which is
// what makes a turn cheap. If the effect does not come back when it is told to,
// it is left behind together with its goroutine, and another one drives the
// run on; the goroutine left behind unwinds, if ever it can, without touching
// anything.
type flight struct {
	cancel    context.CancelCauseFunc
	deadline  time.Time
	late      error         // why it is cut when the deadline passes
	grace     time.Duration // from being cut to being left behind
	sheltered bool          // parking lets it finish: a Write in progress
	cut       error         // why it was told to stop
	over      bool          // it came back, or was left behind
	instead   func(cut error) error
}

// errLeft unwinds a goroutine whose run is driven by another one now.
var errLeft = errors.New("left behind")

// fly runs f. It returns why f was told to stop, if it was, and errLeft when f
// was left behind: instead has then been called in f's place, on the goroutine
// that took over.
func (s *session) fly(ctx context.Context, f func(context.Context), fl *flight, limit time.Duration) (cut, err error) {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	fl.cancel, fl.deadline = cancel, time.Now().Add(limit)
	s.mu.Lock()
	s.flight = fl
	if s.watch == nil {
		s.watch = time.AfterFunc(limit, s.ring)
	} else {
		s.watch.Reset(limit)
	}
	s.mu.Unlock()
	s.interrupt(ctx) // what was wanted before the flight began is wanted still

	f(inner)

	s.mu.Lock()
	if fl.over {
		s.mu.Unlock()
		return fl.cut, errLeft
	}
	fl.over, s.flight = true, nil
	s.watch.Stop()
	s.mu.Unlock()
	cancel(nil)
	return fl.cut, nil
}

// ring is the flight's clock: at the deadline it tells the effect to stop, and
// when the grace is over too, it leaves it behind.
func (s *session) ring() {
	s.mu.Lock()
	fl := s.flight
	if fl == nil || fl.over {
		s.mu.Unlock()
		return
	}
	if wait := time.Until(fl.deadline); wait > 0 { // an alarm meant for an earlier flight
		s.watch.Reset(wait)
		s.mu.Unlock()
		return
	}
	if fl.cut == nil {
		s.stop(fl, fl.late)
		s.mu.Unlock()
		return
	}
	fl.over, s.flight = true, nil
	s.mu.Unlock()
	go func() { s.finish(s.carryOn(fl)) }()
}

// carryOn is the life of the goroutine that takes a run over from an effect
// that did not come back.
func (s *session) carryOn(fl *flight) error {
	if err := fl.instead(fl.cut); err != nil {
		s.release()
		return err
	}
	return s.drive()
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
func (s *session) interrupt(ctx context.Context) {
	cancel, park := s.called(ctx)
	if !cancel && !park {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fl := s.flight
	switch {
	case fl == nil || fl.over || fl.cut != nil:
	case cancel:
		s.stop(fl, errCancelled)
	case !fl.sheltered:
		s.stop(fl, errParked)
	}
}
