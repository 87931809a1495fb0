package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/usercode"
	"github.com/pawl-run/pawl/internal/web"
)

// An effect is one call into the world: of a model, a tool, an observer, an approver
// or the hooks. It has a deadline and can be stopped; if it does not return within its
// grace, it is abandoned.
type effect struct {
	work      work
	what      string // whose code it calls, such as "the tool"
	scope     effectContext
	ctx       context.Context
	cancel    context.CancelCauseFunc // ends ctx
	limit     time.Duration
	grace     time.Duration   // from being stopped to being abandoned
	kill      time.Duration   // of that, what its commands have from SIGTERM to SIGKILL; zero: their own
	sheltered bool            // suspending the run lets it finish: a Write in progress
	mercy     time.Duration   // how long it may go on when the run is suspended
	yields    bool            // any signal stops it
	intent    uint64          // the entry that announces it; zero: none
	began     time.Time       // when it starts
	values    context.Context // the values of its context; nil: those of the run
	quiet     quiet           // how long it may show no sign of life
	done      chan<- *effect  // has room for it; nil: it is performed where the run is driven

	err   error           // of the work
	panic *usercode.Panic // of the work

	// The effects' lock guards these until the effect is over.
	deadline  time.Time
	leaving   error // why it is stopped at the deadline; nil: its time is over
	cut       error // why it was stopped; nil: it was not
	abandoned bool
}

// overshoot is how far an effect that ignores its end may exceed the run's time.
const overshoot = 500 * time.Millisecond

// fit has an effect end within what is left of the run's time. A command that ignores SIGTERM is to
// be killed by then, so it is stopped earlier by its own grace, or by a quarter of what is left. It
// reports whether the run's time stops the effect rather than its own.
func (e *effect) fit(left time.Duration) (bounds bool) {
	kill := max(0, e.grace-process.Settling) // zero: it is no command, but may run some; see tool.Exec
	most := left - min(max(0, kill-overshoot), left/4)
	if bounds = most < e.limit; bounds {
		e.limit = most
	}
	switch room := left + overshoot - e.limit; {
	case kill == 0:
		e.grace = min(e.grace, room)
		e.kill = e.grace / 2
	case room < kill:
		e.kill, e.grace = room, room+process.Settling
	}
	return bounds
}

// work is what an effect does.
type work interface {
	// perform does the work. It touches nothing but itself.
	perform(context.Context) error
	// record appends the result. cut is why the effect was stopped, if it was.
	// abandoned says that perform has not returned, so nothing of it may be read.
	record(r *recorder, cut error, abandoned bool)
}

// do performs the work. Its error says so if the work panics or ends its goroutine.
func (e *effect) do() {
	e.err = errExited
	defer func() {
		if p := recover(); p != nil {
			e.panic = usercode.PanicOf(p)
			e.err = fmt.Errorf("%s panicked: %v", e.what, p)
		}
	}()
	e.err = e.work.perform(e.ctx)
	read(e.err)
}

// Why an effect is stopped.
var (
	errTimeout         = fmt.Errorf("the time is over: %w", context.DeadlineExceeded)
	errQuiet           = fmt.Errorf("it shows no sign of life: %w", context.DeadlineExceeded)
	errCancelled error = cancelledError{}
	errSuspended       = fmt.Errorf("the run is being suspended: %w", context.Canceled)
	errDropped         = fmt.Errorf("it is not needed any more: %w", context.Canceled)
	errSignal          = fmt.Errorf("the run has a signal: %w", context.Canceled)
)

// errLeft says that another goroutine drives the run now, because an effect did not return in time.
// The goroutine that gets it may touch nothing of the run.
var errLeft = errors.New("another goroutine drives the run")

// cancelledError is the cause by which a tool learns that its run is cancelled, and not only
// left to another process; see package tool.
type cancelledError struct{}

func (cancelledError) Error() string   { return "the run is being cancelled: context canceled" }
func (cancelledError) Unwrap() error   { return context.Canceled }
func (cancelledError) Cancelled() bool { return true }

// callCancelledError is the cause by which a tool learns that its call is cancelled. The run goes on.
type callCancelledError struct{ signal pawl.Signal }

func (*callCancelledError) Error() string   { return "the call is being cancelled: context canceled" }
func (*callCancelledError) Unwrap() error   { return context.Canceled }
func (*callCancelledError) Cancelled() bool { return true }

// effects perform what the machine decides, and keep what is in progress. One timer enforces the
// deadlines.
type effects struct {
	rec      *recorder
	inbox    *inbox
	requests *requests
	intent   intent // of the next model call
	children children

	driver     interface{ run(left *effect) } // records an effect and drives on
	shift      atomic.Int32                   // how often another goroutine went on to drive the run
	reconciled map[string]int                 // the attempts whose tools were asked for the outcome, by call
	instructed int                            // the latest iteration for which instructions were computed

	mu       sync.Mutex
	running  []*effect
	clock    *time.Timer
	armedFor time.Time // when the timer fires; zero: it is not set
}

// perform performs an effect on the goroutine that drives the run, and records its result. If the
// effect is abandoned, or ends the goroutine, another one records that and drives on. The error is
// errLeft, and comes when the abandoned effect returns.
func (s *effects) perform(e *effect) error {
	returned := false
	s.start(e)
	defer func() {
		if !returned && s.remove(e) {
			s.shift.Add(1)
			go s.driver.run(e)
		}
	}()
	e.do()
	if returned = s.remove(e); !returned {
		return errLeft
	}
	e.work.record(s.rec, e.cut, false)
	return nil
}

// run performs an effect on a goroutine of its own, waits for it, and records its result.
func (s *effects) run(e *effect) {
	done := make(chan *effect, 1)
	e.done = done
	s.depart(e)
	<-done
	e.work.record(s.rec, e.cut, e.abandoned)
}

// depart performs an effect on its own goroutine, which sends it to the effect's channel.
func (s *effects) depart(e *effect) {
	s.start(e)
	go func() {
		defer s.arrive(e) // even if the effect ends this goroutine
		e.do()
	}()
}

// arrive hands an effect on to the driver, which finds it if it gives up afterwards. If it has
// given up before, or has abandoned the effect, it does not wait for it.
func (s *effects) arrive(e *effect) {
	s.mu.Lock()
	if s.removeOne(e) {
		e.done <- e
	}
	s.mu.Unlock()
}

// start starts an effect's clock.
func (s *effects) start(e *effect) {
	e.ctx, e.cancel = newEffectContext(s.rec, e)
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

// remove ends an effect. It reports false if the effect was abandoned already.
func (s *effects) remove(e *effect) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.removeOne(e)
}

// removeOne is remove for a caller that holds the lock.
func (s *effects) removeOne(e *effect) bool {
	i := slices.Index(s.running, e)
	if i < 0 {
		return false
	}
	s.running = slices.Delete(s.running, i, i+1)
	e.cancel(nil)
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
			s.stop(e, cmp.Or(e.leaving, errTimeout))
		default:
			s.removeOne(e)
			if e.abandoned = true; e.done == nil {
				s.shift.Add(1)
				go s.driver.run(e)
			} else {
				e.done <- e
			}
		}
	}
}

// stop ends an effect's context. The caller holds the lock.
func (s *effects) stop(e *effect, why error) {
	e.cut = why
	e.deadline = time.Now().Add(e.grace)
	e.cancel(why)
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
	if t, ok := e.work.(*toolCall); ok && e.cut == nil {
		if gone := s.inbox.cancels(t.inv.Call); gone != nil {
			s.stop(e, gone)
			return
		}
	}
	switch cancel, suspend, read := s.inbox.wanted(); {
	case e.cut != nil:
	case cancel:
		s.stop(e, errCancelled)
	case suspend && e.leaving != nil:
	case suspend && e.mercy > 0:
		if until := time.Now().Add(e.mercy); until.Before(e.deadline) {
			e.deadline = until
			s.arm(until, e.mercy)
		}
		e.leaving = errSuspended
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
		e.cancel(why)
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

// An effectContext has the run's values, and says whose effect it is for.
type effectContext struct {
	context.Context
	run  string
	kill time.Duration
	call *toolCall // nil: the effect is no tool call
}

// newEffectContext returns the context of an effect: the run's values, and its own end.
func newEffectContext(r *recorder, e *effect) (context.Context, context.CancelCauseFunc) {
	c := &e.scope
	*c = effectContext{Context: r.base, run: r.lease.Run, kill: e.kill}
	c.call, _ = e.work.(*toolCall)
	if e.values != nil { // else no entry announces the effect, such as an observation
		c.Context = e.values
	}
	return context.WithCancelCause(c)
}

// Value returns the run's value for a key.
func (c *effectContext) Value(key any) any {
	switch key {
	case effectKey{}:
		return c
	case process.GraceKey{}:
		return c.kill
	case web.CallerKey{}:
		return c.call.caller()
	case process.ReporterKey{}:
		return c.call.reporter()
	}
	return c.Context.Value(key)
}

// effectKey is the key of the effect in a context.
type effectKey struct{}

// outside returns a context with the values of an effect's, for a run that the effect's own run
// accounts for.
func outside(ctx context.Context) context.Context {
	return context.WithValue(ctx, effectKey{}, (*effectContext)(nil))
}

// nested returns an error if the code of an effect would drive another run. What such a run
// spends would not count against the limits of the effect's run.
func nested(ctx context.Context) error {
	c, _ := ctx.Value(effectKey{}).(*effectContext)
	switch {
	case c == nil:
		return nil
	case c.call == nil:
		return fmt.Errorf("run %s: a model, an observer or a judge cannot start or resume another run, whose cost would not count against the limits of this one", c.run)
	}
	return fmt.Errorf("tool %s of run %s cannot start or resume another run, whose cost would not count against the limits of this one; offer its agent to the model with tool.Agent", c.call.inv.Tool, c.run)
}
