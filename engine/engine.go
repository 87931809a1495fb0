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
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/journals"
)

// An Engine drives runs on one journal. It is safe for concurrent use.
type Engine struct {
	*host

	mu     sync.Mutex // guards the following fields
	live   map[string]*driver
	closed bool
	beat   heartbeat
	calls  sync.WaitGroup // that Close waits for: they begin or resume a run, or watch one of another process
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
	return &Engine{host: newHost(journal, o), live: map[string]*driver{}}
}

// Run runs an agent on an input in memory, to its end, and returns the result. The
// error is for an invalid agent, a broken journal or an ended context; every way a
// run can end by itself is a status of the result.
func Run(ctx context.Context, agent pawl.Agent, input string) (pawl.Result, error) {
	p := Prepared{agent: agent}
	return p.Run(ctx, input)
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
		if d.rec.caller == nil {
			n++
		}
	}
	if n >= e.opt.MaxRuns {
		return &BusyError{Max: e.opt.MaxRuns}
	}
	return nil
}

// Ready returns nil if a run of an agent can begin or go on now. If not, the error is a
// *BusyError: the engine drives as many runs as it may, or calls to the provider of the
// agent's model wait more than five seconds for its rate. ahead is how many runs of the agent
// were begun just before, and may not have called yet.
func (e *Engine) Ready(ctx context.Context, agent pawl.Agent, ahead int) error {
	if err := e.room(); err != nil {
		return err
	}
	var of string
	if d, ok := agent.Model.(pawl.Describer); ok {
		of = provider(d.Describe())
	}
	rate, limited := e.opt.Rates[of]
	if !limited || e.limiter == nil {
		return nil
	}
	before := fills(ahead, rate.Requests)
	once := min(before, journals.FullBucket) // more would be one large call
	wait, err := e.limiter.Reserve(ctx, of, once, 0, -1)
	if wait += before - once; err == nil && wait > shortWait {
		err = &BusyError{Provider: of, Wait: wait}
	}
	return err
}

// A driven run is a driver with the features of its run.
type drivenRun struct {
	driver
	rates   rates
	budgets budgets
	board   board
	lineage lineage
	list    [6]feature
}

// newDriver returns a driver for a claimed run. If the machine is nil, nothing is known of
// the agent. caller records the run that drives this one, as a call; nil: there is none.
func (e *Engine) newDriver(ctx context.Context, m *pawl.Machine, l pawl.Lease, caller *recorder) *driver {
	n := new(drivenRun)
	d, r, s := &n.driver, &n.driver.rec, &n.driver.effects
	r.open(ctx, e.host, m, l)
	if r.caller = caller; caller != nil && e.opt.Children {
		r.feed.above = &caller.feed
	}
	d.owner, d.requests.rec = e, r
	d.inbox.wake, d.inbox.life, d.inbox.effects = make(chan struct{}, 1), ctx, s
	s.rec, s.inbox, s.requests, s.driver = r, &d.inbox, &d.requests, d
	s.children.rec, s.children.kin = r, e
	n.rates.rec, n.budgets.rec = r, r
	n.lineage = lineage{e, d}
	n.board.rec, n.board.inbox, n.board.kin = r, &d.inbox, e
	r.features = append(n.list[:0], &n.rates, attachments{r}, memories{r}, &n.board, &n.lineage)
	if len(e.opt.Budgets) > 0 {
		r.features = append(r.features, &n.budgets)
	}
	return d
}
