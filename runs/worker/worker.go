// Package worker drives the runs of a journal: those that its program starts, and
// those that need an owner and have none. The latter are queued runs, runs whose
// owner died, runs that are due after a pause, and runs with an unread signal. A
// server contains a worker, the command pawl worker is only a worker, and a program
// of your own can have one ([New]).
//
// Any number of workers may share one journal. All of them find the same runs; the
// lease decides which of them drives a run.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// A Host makes the agents whose runs a worker drives. Its methods must be safe for
// concurrent use.
type Host interface {
	// Names returns the names of the agents whose runs the worker may take by itself.
	Names(ctx context.Context) ([]string, error)
	// Again rebuilds the agent of a run, as the agent is now, to resume the run. An error
	// that wraps [runs.ErrElsewhere] says that another program resumes the run.
	Again(ctx context.Context, s *pawl.State) (Work, error)
}

// Work is an agent ready to run.
type Work struct {
	Agent pawl.Agent
	// Engine drives it, on the worker's journal. Many runs may share one.
	Engine *engine.Engine
	Input  string   // the default input
	Files  []string // of the default input
	Thread string   // the default thread
	// Upgrade is the rule for a run of another version of the agent.
	Upgrade engine.Upgrade
	// Lower lowers the limits that a client asks for to the agent's maximum. Nil: no
	// maximum.
	Lower func(pawl.Limits) pawl.Limits
	// Done is called once: when the worker releases the run, or if no run was begun. May be nil.
	Done func()
}

// Drop calls Done, for work under which no run was begun.
func (w Work) Drop() {
	if w.Done != nil {
		w.Done()
	}
}

// Options are the settings of a worker. The zero value is right.
type Options struct {
	// Slots is how many runs are driven at once, whatever their engines. Beyond it, Drive
	// fails with an *engine.BusyError, and the worker takes no run. Zero: Drive has no
	// limit, and the worker takes no more while it drives [DefaultSlots] runs, except those
	// whose owner died.
	Slots int
	// Labels must all be among the labels of the runs that the worker takes by itself.
	Labels map[string]string
	// MaxPerAgent and MaxPerTenant are how many runs of one agent, and of one tenant, may be
	// driven at once, by all programs that share the journal, when the worker takes a
	// queued run. Runs that are started or resumed otherwise count, but are not held back.
	// Zero: any number.
	MaxPerAgent, MaxPerTenant int
	// Every is the most time between two looks into the journal for runs whose owner died
	// and for signals; up to a quarter less passes, at random, so that several workers do
	// not look in step. A run whose owner died is resumed within two such times after its
	// lease has lapsed. Zero: 5 seconds, a third of an engine's default lease. The queue
	// is looked at once a second, and at once when the journal says that a run was queued.
	Every time.Duration
	// Lease is the lease of runs that are taken from the queue, until their engine renews
	// it. Zero: 15 seconds, an engine's default.
	Lease time.Duration
	// Reason is recorded in runs that [Worker.Close] suspends. If it is
	// [engine.ErrDrain], the runs are queued, so that other workers go on with them.
	// Nil: [ErrStopped].
	Reason error
	// Rests is called with a run's result when the worker has released the run, before
	// Close returns. It must return quickly. May be nil.
	Rests func(pawl.Result)
	// Log is told which runs are resumed and which cannot be. Nil: nothing is.
	Log *slog.Logger
}

// DefaultSlots is how many runs a worker drives at once unless its options say otherwise.
const DefaultSlots = 100

// Errors of a worker.
var (
	ErrClosed  = errors.New("the worker is closing")
	ErrStopped = errors.New("the process that drove it was stopped")
)

// A Worker drives runs of one journal.
type Worker struct {
	journal pawl.Journal
	host    Host
	options Options
	log     *slog.Logger
	counts  counts

	life  context.Context // of the runs that are driven here
	end   context.CancelCauseFunc
	freed chan struct{} // holds one token if a slot became free

	mu       sync.Mutex
	draining bool // no further run is begun
	driven   map[string]driven
	busy     int // runs that are driven here, or about to be
	all      sync.WaitGroup
}

// driven is a run that is driven here, and its engine.
type driven struct {
	*engine.Handle
	engine *engine.Engine
}

// counts are what a worker counts; see [Worker.WriteMetrics].
type counts struct{ claims, takes, recovered atomic.Int64 }

// New makes a worker for the runs in a journal. Close does not close the journal.
func New(j pawl.Journal, host Host, o *Options) *Worker {
	o = cmp.Or(o, &Options{})
	w := &Worker{journal: j, host: host, options: *o, log: o.Log, driven: map[string]driven{}, freed: make(chan struct{}, 1)}
	if w.options.Every <= 0 {
		w.options.Every = 5 * time.Second
	}
	if w.options.Lease <= 0 {
		w.options.Lease = 15 * time.Second
	}
	if w.options.Reason == nil {
		w.options.Reason = ErrStopped
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	w.life, w.end = context.WithCancelCause(context.Background())
	return w
}

// Drain begins no further run, and waits until those that are driven have come to rest,
// or ctx ends.
func (w *Worker) Drain(ctx context.Context) {
	w.mu.Lock()
	w.draining = true
	w.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.all.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Close suspends the runs that are driven, and waits until they are released. Nothing is
// driven later.
func (w *Worker) Close() error {
	w.mu.Lock()
	w.draining = true
	w.mu.Unlock()
	w.end(w.options.Reason)
	w.all.Wait()
	return nil
}

// Live is a hold on a run that is driven here; nil: it is not. A child is driven with
// its root, and has no hold of its own.
func (w *Worker) Live(run string) *engine.Handle {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.driven[run].Handle
}

// Engine is the engine that drives a run here; nil: it is not driven here.
func (w *Worker) Engine(run string) *engine.Engine {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.driven[run].engine
}

// Follow is a hold on a run or child run that can be followed here; nil: it is not driven
// here.
func (w *Worker) Follow(run string) *engine.Handle {
	for root, more := run, true; more; { // a child's id begins with its parent's
		if e := w.Engine(root); e != nil {
			return e.Live(run)
		}
		i := strings.LastIndexByte(root, '.')
		if more = i > 0; more {
			root = root[:i]
		}
	}
	return nil
}

// free is how many more runs the worker may take now.
func (w *Worker) free() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.draining {
		return 0
	}
	return max(0, w.slots()-w.busy)
}

// Drive starts or resumes a run under the work's agent, and drives it to its end in the
// background. begin gets the context of the run.
func (w *Worker) Drive(work Work, begin func(ctx context.Context) (*engine.Handle, error)) (*engine.Handle, error) {
	w.mu.Lock()
	if w.draining {
		w.mu.Unlock()
		work.Drop()
		return nil, ErrClosed
	}
	if most := w.options.Slots; most > 0 && w.busy >= most {
		w.mu.Unlock()
		work.Drop()
		return nil, &engine.BusyError{Max: most}
	}
	w.busy++
	w.all.Add(1) // before Close can wait for it
	w.mu.Unlock()
	h, err := begin(w.life)
	if err != nil {
		work.Drop()
		w.idle()
		if w.life.Err() != nil {
			return nil, ErrClosed
		}
		return nil, err
	}
	w.mu.Lock()
	_, twice := w.driven[h.ID()]
	if twice = twice && h.Found(); !twice {
		w.driven[h.ID()] = driven{h, work.Engine}
	}
	w.mu.Unlock()
	go w.watch(work, h, twice)
	return h, nil
}

// watch waits until a run is released. twice: it is driven here already.
func (w *Worker) watch(work Work, h *engine.Handle, twice bool) {
	defer w.idle()
	<-h.Done()
	if twice { // the first driver watches it
		work.Drop()
		return
	}
	for leg := h; leg != nil; {
		leg = w.rest(leg, work.Engine)
	}
	work.Drop()
}

// rest waits until a run is released, and returns the next leg, which the same engine drives;
// nil: there is none.
func (w *Worker) rest(h *engine.Handle, e *engine.Engine) *engine.Handle {
	r, err := h.Leg(context.Background())
	if err != nil {
		w.log.Error("run broke off", "run", h.ID(), "error", err)
	}
	next, lost := h.Next(context.Background())
	if lost != nil {
		w.log.Error("the next leg is not driven here", "run", h.ID(), "error", lost)
	}
	w.mu.Lock()
	if w.driven[h.ID()].Handle == h {
		delete(w.driven, h.ID())
	}
	if next != nil {
		w.driven[next.ID()] = driven{next, e}
	}
	w.mu.Unlock()
	if err == nil && w.options.Rests != nil {
		w.options.Rests(r)
	}
	return next
}

// idle says that one run less is driven here.
func (w *Worker) idle() {
	w.mu.Lock()
	w.busy--
	w.mu.Unlock()
	w.all.Done()
	select {
	case w.freed <- struct{}{}:
	default:
	}
}

// readyTime is how long the journal may take to answer.
const readyTime = 2 * time.Second

// Ready returns nil if the worker can take a run now. Otherwise the error says why not:
// the worker is closing, or its journal fails or does not answer within two seconds.
func (w *Worker) Ready(ctx context.Context) error {
	w.mu.Lock()
	draining := w.draining
	w.mu.Unlock()
	if draining {
		return ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	answered := make(chan error, 1)
	go func() { // a journal that waits for a disk does not look at the context
		for _, err := range w.journal.List(ctx, pawl.Query{Max: 1}) {
			answered <- err
			return
		}
		answered <- nil
	}()
	var err error
	select {
	case err = <-answered:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	w.log.Warn("not ready", "error", err)
	return errors.New("the journal does not answer")
}

// WriteMetrics writes figures of the worker in Prometheus' text format.
func (w *Worker) WriteMetrics(to io.Writer) {
	gauge := func(kind, name, about string, value int64) {
		fmt.Fprintf(to, "# HELP %[2]s %[3]s\n# TYPE %[2]s %[1]s\n%[2]s %[4]d\n", kind, name, about, value)
	}
	w.mu.Lock()
	busy := w.busy
	w.mu.Unlock()
	gauge("gauge", "pawl_worker_slots", "Runs that this process takes at most.", int64(w.slots()))
	gauge("gauge", "pawl_worker_busy", "Runs that this process drives.", int64(busy))
	gauge("counter", "pawl_worker_taken_total", "Queued runs that this process has taken.", w.counts.claims.Load())
	gauge("counter", "pawl_worker_takes_total", "Looks at the queue by this process with a free slot.", w.counts.takes.Load())
	gauge("counter", "pawl_worker_resumed_total", "Runs that were due or signalled, or whose process ended, and that this process has resumed.", w.counts.recovered.Load())
}

// slots is how many runs the worker drives at most before it takes no more.
func (w *Worker) slots() int {
	if w.options.Slots <= 0 {
		return DefaultSlots
	}
	return w.options.Slots
}
