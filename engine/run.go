package engine

import (
	"context"
	"iter"
	"math"
	"sync/atomic"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
)

// A Handle watches a run and waits for it. This engine drives the run, or it was found
// under its key and has another owner. A Handle is safe for concurrent use.
type Handle struct {
	*life
	found bool
	early atomic.Pointer[watcher] // watching since before the first step; nil: not requested, or in use
}

// A life is one ownership of a run, shared by the handles on it.
type life struct {
	id     string
	engine *Engine
	driver *driver // nil: this engine does not drive the run
	done   chan struct{}
	result pawl.Result
	err    error
	agent  *pawl.Agent // to resume the next leg with; nil: that of the machine
	next   *Handle     // the next leg, after a handoff; nil: there is none, or it is not known
}

// Live returns a handle on a run that this engine drives now, which may be a child; nil: it
// does not drive the run.
func (e *Engine) Live(run string) *Handle {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.live[run]
	if s == nil {
		return nil
	}
	return &Handle{life: &s.life}
}

// ID returns the run's id.
func (r *Handle) ID() string { return r.id }

// Found reports whether the run existed already when it was started under its key.
func (r *Handle) Found() bool { return r.found }

// Done returns a channel that is closed when the run has ended or is suspended.
func (r *Handle) Done() <-chan struct{} { return r.done }

// Leg waits until the run has ended or is suspended, and returns its own result, also when it
// has handed over. It fails as Wait does.
func (r *Handle) Leg(ctx context.Context) (pawl.Result, error) {
	select {
	case <-r.done:
	case <-ctx.Done():
		select {
		case <-r.done: // prefer the result if ctx has ended as well
		default:
			return pawl.Result{}, ctx.Err()
		}
	}
	return r.result, r.err
}

// Wait waits until the run has ended or is suspended, and returns the result; after a handoff,
// that of the last leg. It fails if the journal failed, if another owner took the run over, or
// if ctx ended first.
func (r *Handle) Wait(ctx context.Context) (pawl.Result, error) {
	for {
		result, err := r.Leg(ctx)
		if err != nil {
			return result, err
		}
		next, err := r.Next(ctx)
		if next == nil {
			return result, err
		}
		r = next
	}
}

// Entries yields the run's entries from the first one, follows the run while it lives, and
// ends with it; after a handoff, the entries of the next leg come next. Pieces of streamed replies and the progress of calls come in between, as entries without a Seq.
// Breaking the loop stops watching, not the run. The sequence may be ranged over repeatedly
// and concurrently.
//
// Pieces are in no journal: a range gets those of the reply that is being streamed, and later
// ones. With StartOptions.Watch, the first range also gets earlier ones. Consecutive pieces may be
// joined. A watcher that falls thousands of pieces behind loses the oldest; it never loses
// a logged entry. The progress of a call is the latest. With Options.Children, pieces and progress of
// child runs come as well, as entries whose Run is the child's.
func (r *Handle) Entries(ctx context.Context) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		for r := r; r != nil; {
			for e, err := range r.Follow(ctx, 1) {
				if !yield(e, err) || err != nil {
					return
				}
			}
			next, err := r.Next(ctx)
			if err != nil {
				yield(pawl.Entry{}, err)
			}
			r = next
		}
	}
}

// Follow is [Handle.Entries] from seq on, without those of later legs. For a run that another
// engine drives, it has no pieces.
func (r *Handle) Follow(ctx context.Context, from uint64) iter.Seq2[pawl.Entry, error] {
	if r.driver == nil {
		return r.distant(ctx, from)
	}
	return func(yield func(pawl.Entry, error) bool) {
		watch := r.early.Swap(nil)
		if watch == nil {
			watch = r.driver.rec.feed.watch()
		}
		defer r.driver.rec.feed.unwatch(watch)
		next := max(from, 1)
		for {
			news, end, last, taken := watch.take()
			pieces := func(before uint64) bool { // of the calls logged before that entry
				for len(taken) > 0 && taken[0].at < before {
					p := &taken[0]
					if taken = taken[1:]; !yield(p.entry(), nil) {
						return false
					}
				}
				return true
			}
			if news {
				for entry, err := range Entries(ctx, r.engine.journal, r.id, next) {
					if err == nil && entry.Seq > last && !end {
						break
					}
					if err == nil && !pieces(entry.Seq) || !yield(entry, err) || err != nil {
						return
					}
					next = entry.Seq + 1
				}
			}
			if !pieces(math.MaxUint64) {
				return
			}
			if end {
				return
			}
			select {
			case <-watch.wake:
			case <-ctx.Done():
				yield(pawl.Entry{}, ctx.Err())
				return
			}
		}
	}
}

// Prepared is an agent that was checked and declared once, for any number of runs, which
// then begin faster. It is immutable, and safe for concurrent use if the agent's model and
// tools are.
type Prepared struct {
	agent   pawl.Agent
	machine *pawl.Machine // nil: each run prepares its own
	foreign bool          // the agent has a tool of an untrusted server
}

// Prepare checks an agent. The error joins all contradictions, one a line. The caller must
// not change what the agent refers to afterwards.
func Prepare(agent pawl.Agent) (*Prepared, error) {
	m, err := pawl.NewMachine(guarded(&agent))
	if err != nil {
		return nil, err
	}
	return &Prepared{agent, m, hasForeign(&agent)}, nil
}

// Run is [Run] of the agent.
func (p *Prepared) Run(ctx context.Context, input string) (pawl.Result, error) {
	run, err := New(memory.New(), nil).start(ctx, p, input, nil)
	if err != nil {
		return pawl.Result{}, err
	}
	return run.unlessEnded(ctx)
}

// unlessEnded is Wait for a run that is suspended when ctx ends, which is an error then.
func (r *Handle) unlessEnded(ctx context.Context) (pawl.Result, error) {
	result, err := r.Wait(context.WithoutCancel(ctx))
	if err == nil && result.Status == pawl.StatusPaused {
		err = ctx.Err()
	}
	return result, err
}

// Start is [Engine.Start] of the agent on e.
func (p *Prepared) Start(ctx context.Context, e *Engine, input string, o *StartOptions) (*Handle, error) {
	return e.start(ctx, p, input, o)
}

// An Update is what [Stream] yields: exactly one of its fields is set.
type Update struct {
	Text     string               // a piece of a reply, as soon as the model has written it
	Thinking string               // a piece of its thinking
	Failed   *pawl.ModelFailed    // the call of the model failed: the pieces since the last reply do not count
	Reply    *pawl.ModelReplied   // the whole reply
	Started  *pawl.ToolStarted    // a tool runs
	Progress *pawl.ToolProgressed // how far it is
	Finished *pawl.ToolFinished   // a tool has run
	Result   *pawl.Result         // the last update
}

// Stream runs an agent as [Run] does, and yields what happens until the result. An error is
// the last thing that it yields; it is one of Run. Breaking the loop ends the run, and waits
// for a Write in progress. For the other entries of a run, or one that outlives the loop, use
// [Engine.Start] and [Handle.Entries].
func Stream(ctx context.Context, agent pawl.Agent, input string) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		ctx, end := context.WithCancel(ctx)
		p := Prepared{agent: agent}
		run, err := New(memory.New(), nil).start(ctx, &p, input, &StartOptions{Watch: true})
		if err != nil {
			end()
			yield(Update{}, err)
			return
		}
		all := context.WithoutCancel(ctx)
		defer func() { end(); <-run.Done() }()
		for e, err := range run.Entries(all) {
			if u := updateOf(e.Event); err == nil && u != (Update{}) && !yield(u, nil) {
				return
			}
		}
		result, err := run.unlessEnded(ctx)
		yield(Update{Result: &result}, err)
	}
}

func updateOf(event pawl.Event) (u Update) {
	switch e := event.(type) {
	case pawl.ModelDelta:
		u.Text, u.Thinking = e.Text, e.Thinking
	case pawl.ModelFailed:
		u.Failed = &e
	case pawl.ModelReplied:
		u.Reply = &e
	case pawl.ToolStarted:
		u.Started = &e
	case pawl.ToolProgressed:
		u.Progress = &e
	case pawl.ToolFinished:
		u.Finished = &e
	}
	return u
}
