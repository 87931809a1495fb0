package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/window"
)

// An Engine drives runs on one journal. It is safe for concurrent use.
type Engine struct {
	journal  pawl.Journal
	mail     pawl.Mailbox // nil: the journal has none
	notifier notifier     // nil: the journal is none
	blobs    pawl.Blobs   // nil: the journal has none
	verify   bool         // every entry is checked; see verifying
	opt      Options
	limits   rateLimits
	owner    string // who drives its runs, as leases and logs have it
	secrets  *redact.Secrets
	invalid  error // what is wrong with the options

	mu      sync.Mutex // guards what follows
	live    map[string]*driver
	closed  bool
	beat    heartbeat
	closing chan struct{}  // closed when the engine is
	watches sync.WaitGroup // of runs that others drive
}

// Options are an engine's settings. The zero value is right for most programs.
type Options struct {
	// Lease is how long a run stays ours without a heartbeat; a third of it
	// passes between heartbeats. Zero: 15 seconds.
	Lease time.Duration
	// Call is the most one model call may take. Zero: 10 minutes.
	Call time.Duration
	// First is the longest a streaming model may take to its first chunk, and
	// Idle the longest between two; a quarter more may pass until it is noticed.
	// Zero: 5 and 3 minutes; negative: as long as the call may take.
	First, Idle time.Duration
	// Threads is what engines on one journal remember together of its threads. Nil:
	// this engine remembers by itself.
	Threads *Threads
	// Owner describes this process to others; see [Owner]. Nil: [Self].
	Owner *Owner
	// Secrets are values by name that no event may hold. Where one stands in what
	// people, models, tools or observers say, as it is, in base64 or hexadecimal,
	// or escaped as in URLs and JSON, there stands {{secret:NAME}} instead, for the
	// model and for the log. A command that is given the variable NAME gets the
	// value back in its arguments. A value of fewer than six bytes cannot be kept
	// out of texts: no run begins with one.
	Secrets map[string]string
	// Filters change text before it becomes an event, in order, and after the
	// secrets are out of it.
	Filters []Filter
	// Hooks watch entries between append and effect, in order.
	Hooks []Hook
	// HooksOf returns the hooks of one agent, such as those its spec names; nil:
	// agents have none of their own. They watch the runs of the agent, after Hooks,
	// and the child runs of these, unless the child's agent has a hook of the same
	// name. It is called once each time a run is started or resumed.
	HooksOf func(pawl.Declaration) []Hook
	// Watchers are told of every run of the engine, and change nothing.
	Watchers []Watcher
	// Log is told what an operator should know and no log of a run says: a lease
	// that was lost or cannot be prolonged, mail that cannot be read, what was left
	// behind at work; and of model calls that are tried again. Nil: nobody is.
	Log *slog.Logger
	// Approver decides about held calls where the run is driven, with any journal.
	// Nil: the run is parked, and waits for a letter, which takes a journal that
	// outlives the process.
	Approver Approver
	// Patience is the most an Approver may take about one call. Zero: 60
	// seconds; negative: until the request expires.
	Patience time.Duration
	// Backoff says how long to wait before try n (from 1) of a failed model
	// call. Nil: full jitter up to 0.5 s·2ⁿ⁻¹, at most 30 s.
	Backoff func(n int) time.Duration
}

// New returns an engine on a journal. The journal outlives it: closing the
// engine does not close the journal.
//
// Letters that other processes post are found by looking into the journal's
// mailbox at least once a second. A journal with a method
//
//	WatchLetters(ctx context.Context) iter.Seq2[string, error]
//
// is listened to as well, while there are live runs: it yields the ids of runs
// that have mail, and the empty id when any run may have some.
func New(journal pawl.Journal, o *Options) *Engine {
	e := &Engine{journal: journal, live: map[string]*driver{}, closing: make(chan struct{})}
	if o != nil {
		e.opt = *o
	}
	if e.opt.Lease <= 0 {
		e.opt.Lease = 15 * time.Second
	}
	if e.opt.Call <= 0 {
		e.opt.Call = 10 * time.Minute
	}
	if e.opt.First == 0 {
		e.opt.First = 5 * time.Minute
	}
	if e.opt.Idle == 0 {
		e.opt.Idle = 3 * time.Minute
	}
	if e.opt.Patience == 0 {
		e.opt.Patience = time.Minute
	}
	if e.opt.Backoff == nil {
		e.opt.Backoff = fullJitter
	}
	if e.opt.Owner == nil {
		e.owner = selfText()
	} else {
		e.owner = e.opt.Owner.String()
	}
	if e.opt.Threads == nil {
		e.opt.Threads = new(Threads)
	}
	e.keepSecrets()
	e.verify = verifying()
	e.mail, _ = journal.(pawl.Mailbox)
	e.notifier, _ = journal.(notifier)
	e.blobs, _ = journal.(pawl.Blobs)
	return e
}

// Run runs an agent on an input in memory, to its end, and returns what came
// of it. The error is for an invalid agent, a broken journal or an ended
// context; every way a run can end by itself is a status of the result.
func Run(ctx context.Context, agent pawl.Agent, input string) (pawl.Result, error) {
	p := Prepared{agent: agent}
	return p.Run(ctx, input)
}

// machine prepares an agent, the built-in policies added after its own; see guarded.
func (e *Engine) machine(agent pawl.Agent, compacts bool) (*pawl.Machine, error) {
	if e.invalid != nil {
		return nil, e.invalid
	}
	m, err := pawl.NewMachine(guarded(&agent, compacts))
	if err != nil {
		return nil, err
	}
	return m, e.serves(m)
}

// machineOf is machine for a run that began with a declaration, which may be of
// a time when there was one built-in policy less.
func (e *Engine) machineOf(agent pawl.Agent, began pawl.Declaration) (*pawl.Machine, error) {
	return e.machine(agent, window.Declared(began.Policies))
}

// serves returns an error if runs of the agent can wait for something that cannot
// come while the journal lives.
func (e *Engine) serves(m *pawl.Machine) error {
	switch {
	case e.lasting(), !m.Waits():
	case m.Asks():
		return fmt.Errorf("agent %q can wait for somebody outside, but its journal is memory and is lost with the process; use a journal on disk", m.Agent().Name)
	case e.opt.Approver == nil:
		return fmt.Errorf("agent %q can wait for an approval, but its journal is memory and is lost with the process; set Options.Approver to decide in this process, or use a journal on disk", m.Agent().Name)
	}
	return nil
}

// guarded is the agent with the built-in policies, without the younger one of
// them if it is not to compact.
func guarded(agent *pawl.Agent, compacts bool) pawl.Agent {
	if compacts {
		return progress.Guard(window.Guard(*agent))
	}
	return progress.Guard(*agent)
}

// lasting reports whether the journal outlives the process, so that somebody
// can be waited for.
func (e *Engine) lasting() bool {
	_, volatile := e.journal.(*memory.Journal)
	return !volatile
}

// Step performs one step of a run that nobody owns, and returns the run's seq
// after it. It fails with pawl.ErrConflict if the log does not end at seq.
// It is for tests, and for hosts that bring their own durable scheduler; such a run
// has no owner between two steps, so no server may sweep the journal for its agent.
func (e *Engine) Step(ctx context.Context, agent pawl.Agent, run string, seq uint64) (uint64, error) {
	d, err := e.reopen(ctx, agent, run, nil)
	if err != nil {
		return 0, err
	}
	if d.found != seq {
		d.rec.lease.release()
		return d.found, fmt.Errorf("run %s stands at entry %d, not %d: %w", run, d.found, seq, pawl.ErrConflict)
	}
	h, err := e.launch(ctx, d, 1)
	if err != nil {
		return d.found, err
	}
	<-h.life.done
	return d.rec.durable, h.life.err
}

// Close suspends every run the engine drives and waits until they are suspended.
func (e *Engine) Close() error {
	e.mu.Lock()
	if !e.closed {
		close(e.closing)
	}
	e.closed = true
	all := slices.Collect(maps.Values(e.live))
	e.mu.Unlock()
	for _, d := range all {
		d.inbox.suspend()
	}
	for _, d := range all {
		<-d.gone
	}
	e.watches.Wait()
	e.beat.subscriptions.Wait() // the journal may be closed now: nothing reads it any more
	e.beat.beating.Lock()
	defer e.beat.beating.Unlock()
	return nil
}

var errClosed = errors.New("the engine is closed")
