package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/window"
)

// An Engine drives runs on one journal. It is safe for concurrent use.
type Engine struct {
	journal  pawl.Journal
	inbox    pawl.Inbox // nil: the journal has none
	notifier notifier   // nil: the journal is none
	blobs    pawl.Blobs // nil: the journal has none
	verify   bool       // every entry is checked; see verifying
	opt      Options
	limits   rateLimits
	limiter  Limiter       // nil: the journal is none
	ledger   budget.Ledger // nil: the journal is none
	owner    string        // the owner of its runs, as in leases and logs
	secrets  *redact.Secrets
	invalid  error // what is wrong with the options

	mu      sync.Mutex // guards the following fields
	live    map[string]*driver
	closed  bool
	beat    heartbeat
	closing chan struct{}  // closed when the engine is closed
	calls   sync.WaitGroup // that Close waits for: they begin or resume a run, or watch one of another process
}

// Options are an engine's settings. The zero value is right for most programs.
type Options struct {
	// Lease is how long a run stays owned without a heartbeat; a heartbeat comes
	// after each third of it. Zero: 15 seconds; at least 50 milliseconds.
	Lease time.Duration
	// Call is the time-out of one model call. Zero: 10 minutes.
	Call time.Duration
	// First is the time-out of a streamed reply's first chunk, and Idle the one
	// between two chunks; up to a quarter more may pass before the call is stopped.
	// Zero: 5 and 3 minutes; negative: no limit but Call.
	First, Idle time.Duration
	// Abandoned is called after a run that no process drives was cancelled. It ends work that goes on
	// elsewhere, such as a task of a2a.Agent: cancelling a run does not make its agent, so its tools
	// are not notified. s is the run at its end, and source the Source of its agent or, for a child
	// run, of the agent of its root; see [Engine.AgentOf].
	Abandoned func(ctx context.Context, e *Engine, s *pawl.State, source string)
	// Children also gives the watchers of a run the streamed pieces of the replies of its child runs
	// and of theirs: entries whose Run is the child's and whose event names the child's agent.
	Children bool
	// Threads caches the ends of threads for engines on one journal. Nil: this
	// engine has a cache of its own.
	Threads *Threads
	// Owner describes this process to others; see [Owner]. Nil: [Self].
	Owner *Owner
	// Secrets are values by name that no event may hold. In texts of people, models,
	// tools and observers each becomes {{secret:NAME}}, for the model and for the
	// log, whether plain, in base64 or hexadecimal, or escaped as in URLs and JSON. A
	// command that gets the variable NAME gets the value back in its arguments. With
	// a value of fewer than six bytes, Start fails.
	Secrets map[string]string
	// Learned are further secrets, which come to be known after the engine was made. Nil: none.
	Learned *Learned
	// Filters change text before it becomes an event, in order, after secrets are
	// replaced.
	Filters []Filter
	// Hooks watch entries between append and effect, in order.
	Hooks []Hook
	// HooksOf returns the hooks of one agent, such as those its spec names. They
	// watch the runs of the agent, after Hooks, and the child runs of these, unless
	// the child's agent has a hook of the same name. It is called once each time a
	// run is started or resumed. Nil: agents have no hooks of their own.
	HooksOf func(pawl.Declaration) []Hook
	// Watchers observe every run of the engine, and change nothing.
	Watchers []Watcher
	// Grace is how long a model call in progress may go on when its run is suspended, so that its
	// reply need not be bought again. Zero: it is stopped at once.
	Grace time.Duration
	// MaxRuns is how many runs the engine drives at once, child runs not counted.
	// Beyond it, Start, Resume and Fork fail with a [*BusyError] and record nothing, unless
	// the run was started under the same Key and need not be resumed.
	// Zero: any number.
	MaxRuns int
	// Rates are the most that may be asked of providers, by the first part of their models'
	// names, as in anthropic/claude-sonnet-5-5. All programs that share the journal share
	// them, and should set the same; the journal must be a [Limiter]. A call that exceeds a
	// rate waits, and the wait is not counted as the run's time. If it would wait longer
	// than 5 minutes, the run is paused until then.
	Rates map[string]Rate
	// Budgets are what many runs together may spend: those of this engine, and those of all
	// others on the journal that have the same budgets. The journal must be a
	// [budget.Ledger]. A call that fits when those in progress cost less than is reserved
	// for them waits for up to 5 minutes, which is not counted as the run's time. Where less
	// is left than a reply may have, the reply is limited to that.
	Budgets []budget.Budget
	// When are the functions that a recorded stop condition may name as when("NAME"),
	// if it replaced that of the agent; see stop.Options.
	When map[string]func(*pawl.State) bool
	// Log gets what an operator should know and no run's log says: leases that were
	// lost or cannot be renewed, signals that cannot be read, effects that were
	// abandoned, retries of model calls. Nil: no log.
	Log *slog.Logger
	// Approver decides about held calls in this process, with any journal. Nil: the
	// run is suspended and waits for a signal, which takes a journal on disk.
	Approver Approver
	// Patience is the Approver's time-out for one call. Zero: 60 seconds;
	// negative: until the request expires.
	Patience time.Duration
	// Backoff returns the wait before retry n (from 1) of a failed model call. Nil:
	// full jitter up to 0.5 s·2ⁿ⁻¹, at most 30 s.
	Backoff func(n int) time.Duration
}

// New returns an engine on a journal. Closing the engine does not close the journal.
//
// The engine reads signals from other processes at least once a second. If the journal has a method
//
//	WatchSignals(ctx context.Context) iter.Seq2[string, error]
//
// the engine also ranges over it while there are live runs. It yields the ids of runs that have
// signals, and the empty id when any run may have some.
func New(journal pawl.Journal, o *Options) *Engine {
	e := &Engine{journal: journal, live: map[string]*driver{}, closing: make(chan struct{})}
	if o != nil {
		e.opt = *o
	}
	e.opt.Lease = max(cmp.Or(max(e.opt.Lease, 0), usualLease), 50*time.Millisecond)
	e.opt.Call = cmp.Or(max(e.opt.Call, 0), 10*time.Minute)
	e.opt.First = cmp.Or(e.opt.First, 5*time.Minute)
	e.opt.Idle = cmp.Or(e.opt.Idle, 3*time.Minute)
	e.opt.Patience = cmp.Or(e.opt.Patience, time.Minute)
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
	e.checkRates()
	e.checkBudgets()
	e.verify = verifying()
	e.inbox, _ = journal.(pawl.Inbox)
	e.notifier, _ = journal.(notifier)
	e.blobs, _ = journal.(pawl.Blobs)
	return e
}

// Run runs an agent on an input in memory, to its end, and returns the result. The
// error is for an invalid agent, a broken journal or an ended context; every way a
// run can end by itself is a status of the result.
func Run(ctx context.Context, agent pawl.Agent, input string) (pawl.Result, error) {
	p := Prepared{agent: agent}
	return p.Run(ctx, input)
}

// machine prepares an agent, with the built-in policies after its own; see guarded.
func (e *Engine) machine(agent pawl.Agent) (*pawl.Machine, error) {
	if e.invalid != nil {
		return nil, e.invalid
	}
	m, err := pawl.NewMachine(guarded(&agent))
	if err != nil {
		return nil, err
	}
	return m, e.serves(m)
}

// serves returns an error if a budget cannot be held for the agent's models, or if its runs
// can wait for something that cannot come while the journal lives.
func (e *Engine) serves(m *pawl.Machine) error {
	if err := e.priced(m); err != nil {
		return err
	}
	switch {
	case e.lasting(), !m.Waits():
	case m.Asks():
		return fmt.Errorf("agent %q can wait for somebody outside, but its journal is memory and is lost with the process; use a journal on disk", m.Agent().Name)
	case e.opt.Approver == nil:
		return fmt.Errorf("agent %q can wait for an approval, but its journal is memory and is lost with the process; set Options.Approver to decide in this process, or use a journal on disk", m.Agent().Name)
	}
	return nil
}

// guarded returns the agent with the built-in policies.
func guarded(agent *pawl.Agent) pawl.Agent {
	return team.Guard(progress.Guard(window.Guard(*agent)))
}

// lasting reports whether the journal outlives the process, so that a run can wait for other
// processes.
func (e *Engine) lasting() bool {
	_, volatile := e.journal.(*memory.Journal)
	return !volatile
}

// enter counts a call that Close waits for, until e.calls.Done. It fails once the engine is closed.
func (e *Engine) enter() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errClosed
	}
	e.calls.Add(1)
	return nil
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
		<-d.life.done
	}
	e.calls.Wait()
	e.beat.subscriptions.Wait() // nothing reads the journal any more, so it may be closed now
	e.beat.beating.Lock()
	defer e.beat.beating.Unlock()
	return nil
}

var errClosed = errors.New("the engine is closed")

// A BusyError says that a run cannot be driven now: the engine drives as many as it may, see
// Options.MaxRuns, or calls to a provider wait for its rate, see [Engine.Ready].
type BusyError struct {
	Max int // runs; zero: it is the rate

	Provider string
	Wait     time.Duration // until calls to it may be made
}

// Error gives the limit and the remedy.
func (e *BusyError) Error() string {
	if e.Max == 0 && e.Provider != "" {
		return fmt.Sprintf("calls to %s wait %v for the rate that it is asked at; try again later, or raise the rate", e.Provider, e.Wait.Round(time.Second))
	}
	return fmt.Sprintf("no more than %s can be driven here at once; try again when one has ended or waits, or raise the limit", display.Count(e.Max, "run"))
}

// room reports a *BusyError before anything is claimed for a run. Adding the run decides.
func (e *Engine) room() error {
	if e.opt.MaxRuns <= 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.full()
}

// full is room for a caller that holds mu.
func (e *Engine) full() error {
	if e.opt.MaxRuns <= 0 {
		return nil
	}
	n := 0
	for _, d := range e.live {
		if !d.rec.hooks.driven {
			n++
		}
	}
	if n >= e.opt.MaxRuns {
		return &BusyError{Max: e.opt.MaxRuns}
	}
	return nil
}

// log writes to the operator's log. What is returned as an error, or is in a run's log, is
// not written here too.
func (e *Engine) log(level slog.Level, message, run string, attrs ...slog.Attr) {
	if e.opt.Log == nil {
		return
	}
	defer func() { _ = recover() }() // of a log handler; there is no other log
	if run != "" {
		attrs = append([]slog.Attr{slog.String("run", run)}, attrs...)
	}
	e.opt.Log.LogAttrs(context.Background(), level, message, attrs...)
}

// because returns an error as an attribute, without secrets.
func (e *Engine) because(err error) slog.Attr {
	return slog.String("error", redact.Text(e.secrets.Scrub(err.Error())))
}
