package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
)

// An effect is one call into the world: of a model, a tool, an observer, an approver
// or the hooks. It has a deadline and can be stopped; if it does not return within its
// grace, it is abandoned.
type effect struct {
	work      work
	ctx       *effectContext
	limit     time.Duration
	grace     time.Duration   // from being stopped to being abandoned
	sheltered bool            // suspending the run lets it finish: a Write in progress
	yields    bool            // any signal stops it
	intent    uint64          // the entry that announces it; zero: none
	began     time.Time       // when it starts
	values    context.Context // the values of its context; nil: those of the run
	quiet     quiet           // how long it may show no sign of life
	done      chan<- *effect  // for parallel calls; nil: the effect runs on the driver's goroutine

	// The effects' lock guards these until the effect is over.
	deadline  time.Time
	cut       error // why it was stopped; nil: it was not
	abandoned bool
}

// work is what an effect does.
type work interface {
	// perform does the work. It touches nothing but itself.
	perform(context.Context)
	// record appends the result. cut is why the effect was stopped, if it was.
	// abandoned says that perform has not returned, so nothing of it may be read.
	record(r *recorder, cut error, abandoned bool)
}

// timeLeft is the rest of a run's time limit.
func timeLeft(s *pawl.State, now time.Time) time.Duration {
	return s.Limits().Time - s.Elapsed() - max(0, now.Sub(s.Time()))
}

// errAbandoned unwinds a goroutine that no longer drives its run.
var errAbandoned = errors.New("abandoned")

// errExited is the result of an effect that ended its goroutine with runtime.Goexit, as a failing
// assertion of a test does. Only deferred calls run then, so another goroutine must drive the run.
var errExited = errors.New("it ended its goroutine (runtime.Goexit) instead of returning")

// Why an effect is stopped.
var (
	errTimeout         = fmt.Errorf("the time is over: %w", context.DeadlineExceeded)
	errQuiet           = fmt.Errorf("it shows no sign of life: %w", context.DeadlineExceeded)
	errCancelled error = cancelledError{}
	errSuspended       = fmt.Errorf("the run is being suspended: %w", context.Canceled)
	errDropped         = fmt.Errorf("it is not needed any more: %w", context.Canceled)
	errSignal          = fmt.Errorf("the run has a signal: %w", context.Canceled)
)

// cancelledError is the cause by which a tool learns that its run is cancelled, and not only
// left to another process; see package tool.
type cancelledError struct{}

func (cancelledError) Error() string   { return "the run is being cancelled: context canceled" }
func (cancelledError) Unwrap() error   { return context.Canceled }
func (cancelledError) Cancelled() bool { return true }

// effects are the effects in progress of a run: one on the driver's goroutine, or parallel
// calls. One timer enforces their deadlines.
type effects struct {
	driver   *driver
	handed   atomic.Int32 // how often another goroutine has taken the run over
	mu       sync.Mutex
	running  []*effect
	clock    *time.Timer
	armedFor time.Time // when the timer fires; zero: it is not set
}

// run performs an effect on this goroutine and records its result. It returns errAbandoned
// if another goroutine drives the run by then. Without an abandonment no goroutine switch
// is needed, which makes a turn cheap.
func (s *effects) run(e *effect) error {
	s.start(e)
	returned := false
	defer func() {
		if !returned && s.end(e) { // the effect has ended this goroutine
			s.handOver(e)
		}
	}()
	e.work.perform(e.ctx)
	if returned = true; !s.end(e) {
		return errAbandoned
	}
	e.work.record(&s.driver.rec, e.cut, false)
	return nil
}

// depart performs an effect on its own goroutine.
func (s *effects) depart(e *effect) {
	s.start(e)
	go func() {
		defer s.arrive(e) // even if the effect ends this goroutine
		e.work.perform(e.ctx)
	}()
}

// arrive hands an effect on to the driver, which finds it if it gives up afterwards. If it has
// given up before, or has abandoned the effect, it does not wait for it.
func (s *effects) arrive(e *effect) {
	s.mu.Lock()
	if s.remove(e) {
		e.done <- e // the channel has room for each effect; the driver may use e again now
	}
	s.mu.Unlock()
}

// start starts an effect's clock.
func (s *effects) start(e *effect) {
	e.ctx = newEffectContext(&s.driver.rec, e)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := e.began
	e.deadline = now.Add(e.limit)
	e.quiet.since = now
	s.running = append(s.running, e)
	s.arm(e.deadline, e.limit)
	if _, again := e.quiet.look(now); !again.IsZero() {
		s.arm(again, again.Sub(now))
	}
	s.interruptOne(e) // apply requests that came earlier
}

// end ends an effect. It reports false if the effect was abandoned already.
func (s *effects) end(e *effect) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remove(e)
}

// remove is end for callers that hold the lock.
func (s *effects) remove(e *effect) bool {
	i := slices.Index(s.running, e)
	if i < 0 {
		return false
	}
	s.running = slices.Delete(s.running, i, i+1)
	e.ctx.cancel(nil)
	return true
}

// arm sets the timer unless it fires earlier anyway. The timer is not stopped between effects:
// nearly all end long before their deadline, and setting it twice a turn costs more than needless
// firings.
func (s *effects) arm(at time.Time, wait time.Duration) {
	if !s.armedFor.IsZero() && !at.Before(s.armedFor) {
		return
	}
	s.armedFor = at
	if s.clock == nil {
		s.clock = time.AfterFunc(wait, s.enforceDeadlines)
	} else {
		s.clock.Reset(wait)
	}
}

// enforceDeadlines handles the timer: an effect is stopped at its deadline, and abandoned after its grace.
func (s *effects) enforceDeadlines() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armedFor = time.Time{}
	now := time.Now()
	for _, e := range slices.Clone(s.running) {
		wait := e.deadline.Sub(now)
		switch {
		case wait > 0: // the timer was set for another effect, or to check for signs of life
			if e.cut == nil {
				over, again := e.quiet.look(now)
				if over {
					s.stop(e, errQuiet)
					continue
				}
				if !again.IsZero() {
					wait = min(wait, again.Sub(now))
				}
			}
			s.arm(now.Add(wait), wait)
		case e.cut == nil:
			s.stop(e, errTimeout)
		default:
			s.remove(e)
			if e.abandoned = true; e.done == nil {
				s.handOver(e)
			} else {
				e.done <- e // the channel has room for each effect
			}
		}
	}
}

// handOver makes another goroutine record the effect and drive the run, because the effect does not
// return the driver's goroutine.
func (s *effects) handOver(e *effect) {
	s.handed.Add(1)
	d := s.driver
	go d.run(func() error {
		e.work.record(&d.rec, e.cut, e.abandoned)
		return d.drive()
	})
}

// stop ends an effect's context. The caller holds the lock.
func (s *effects) stop(e *effect, why error) {
	e.cut = why
	e.deadline = time.Now().Add(e.grace)
	e.ctx.cancel(why)
	s.arm(e.deadline, e.grace)
}

// interrupt stops the running effects that must yield to the inbox.
func (s *effects) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.running {
		s.interruptOne(e)
	}
}

// interruptOne is interrupt for one effect. The caller holds the lock.
func (s *effects) interruptOne(e *effect) {
	switch cancel, suspend, read := s.driver.inbox.wanted(); {
	case e.cut != nil:
	case cancel:
		s.stop(e, errCancelled)
	case suspend && !e.sheltered:
		s.stop(e, errSuspended)
	case read && e.yields:
		s.stop(e, errSignal)
	}
}

// drop stops the effect of a call that is not needed any more. It reports whether it runs.
func (s *effects) drop(e *effect) (runs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if runs = slices.Contains(s.running, e); runs && e.cut == nil {
		s.stop(e, errDropped)
	}
	return runs
}

// abort ends the effects of a driver that gives up; their results are dropped.
func (s *effects) abort() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.running {
		why := errDropped
		if t, ok := e.work.(*toolCall); ok && t.child != nil {
			why = errSuspended // the next owner owns its children too
		}
		e.ctx.cancel(why)
	}
	s.running = s.running[:0]
}

// close stops the timer for good.
func (s *effects) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock != nil {
		s.clock.Stop()
	}
}

// quiet checks for signs of life. The effect counts them without reading the clock; the
// timer checks from time to time whether the count has grown.
type quiet struct {
	first, next time.Duration // the time-outs before the first sign, and between two; 0: none
	signs       uint32        //nolint:modernize // counted atomically, and copied before it counts
	seen        uint32        // the count at the last check
	since       time.Time     // when the timer first saw that count
}

func (q *quiet) sign() uint32 { return atomic.AddUint32(&q.signs, 1) }

// look reports whether the effect has been quiet for too long and, if not, when to check
// again; zero: never. A sign counts from the first check that saw it, so the time-out may
// be up to a quarter too long.
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
