package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
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
	yields    bool          // it gives way to any letter
	intent    uint64        // the entry that announces it; zero: none
	quiet     quiet         // how long it may show no sign of life
	cut       error         // why it was told to stop
	over      bool          // it came back, or was left behind
}

// quiet watches for signs of life. Whoever flies counts them, which costs no
// look at the clock; the flights' clock looks now and then whether any came.
type quiet struct {
	first, next time.Duration // the longest before the first sign, and between two; 0: for ever
	signs       uint32        //nolint:modernize // counted atomically, and copied before it counts
	seen        uint32        // signs at the last look
	since       time.Time     // when the clock first saw that many
}

func (q *quiet) sign() uint32 { return atomic.AddUint32(&q.signs, 1) }

// look reports whether it has been quiet for too long, and when to look again
// if not; zero: never. A sign counts from the first look that saw it, so up to a
// fourth of the time allowed may pass unnoticed.
func (q *quiet) look(now time.Time) (over bool, again time.Time) {
	if n := atomic.LoadUint32(&q.signs); n != q.seen {
		q.seen, q.since = n, now
	}
	most := q.first
	if q.seen > 0 {
		most = q.next
	}
	if most <= 0 {
		return false, time.Time{}
	}
	end := q.since.Add(most)
	if !now.Before(end) {
		return true, end
	}
	if again = now.Add(max(most/4, time.Millisecond)); again.After(end) {
		again = end
	}
	return false, again
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
	errQuiet     = fmt.Errorf("it shows no sign of life: %w", context.DeadlineExceeded)
	errCancelled = fmt.Errorf("the run is being cancelled: %w", context.Canceled)
	errParked    = fmt.Errorf("the run is being parked: %w", context.Canceled)
	errMail      = fmt.Errorf("there is mail for the run: %w", context.Canceled)
)

// fly performs an effect from now on and records what came of it. It returns
// errLeft when the effect was left behind and another goroutine drives the run.
func (s *session) fly(fl *flight, now time.Time) error {
	fl.ctx = &effectContext{}
	call := ""
	if j, ok := fl.effect.(*job); ok {
		call = j.inv.Tool
	}
	fl.ctx.within(s.within(fl.intent), s.lease.Run, call)
	fl.deadline = now.Add(fl.limit)
	fl.quiet.since = now
	s.mu.Lock()
	s.flight = fl
	s.ringAt(fl.deadline, fl.limit)
	if _, again := fl.quiet.look(now); !again.IsZero() {
		s.ringAt(again, again.Sub(now))
	}
	s.heed() // what was wanted before the flight began is wanted still
	s.mu.Unlock()

	back := false
	defer func() {
		if !back && s.landed(fl) { // the effect has ended this goroutine
			s.mu.Lock()
			defer s.mu.Unlock()
			s.handOver(fl, false)
		}
	}()
	fl.effect.perform(fl.ctx)
	if back = true; !s.landed(fl) {
		return errLeft
	}
	fl.effect.record(s, fl.cut, false)
	return nil
}

// errExited is what an effect has come to that ended its goroutine with
// runtime.Goexit, as a failing assertion of a test does. What was deferred runs
// then, and nothing else: another goroutine has to drive the run on.
var errExited = errors.New("it ended its goroutine (runtime.Goexit) instead of returning")

// landed ends a flight, unless it was left behind.
func (s *session) landed(fl *flight) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fl.over {
		return false
	}
	fl.over, s.flight = true, nil
	fl.ctx.cancel(nil)
	return true
}

// handOver has another goroutine drive the run. The session's lock is held.
func (s *session) handOver(fl *flight, left bool) {
	s.drivers++
	go s.driveOn(fl, left)
}

// driveOn drives a run on whose goroutine is lost to the effect in flight.
func (s *session) driveOn(fl *flight, left bool) {
	s.finish(s.guard(func() error {
		fl.effect.record(s, fl.cut, left)
		return s.drive()
	}))
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
	now := time.Now()
	if wait := fl.deadline.Sub(now); wait > 0 { // it was set for an earlier flight, or to look for signs of life
		if fl.cut == nil {
			over, again := fl.quiet.look(now)
			if over {
				s.stop(fl, errQuiet)
				return
			}
			if !again.IsZero() {
				wait = min(wait, again.Sub(now))
			}
		}
		s.ringAt(now.Add(wait), wait)
		return
	}
	if fl.cut == nil {
		s.stop(fl, errTimeout)
		return
	}
	fl.over, s.flight = true, nil
	s.handOver(fl, true)
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
	case fl.yields && len(s.inbox) > 0:
		s.stop(fl, errMail)
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
