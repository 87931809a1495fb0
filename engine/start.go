package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/internal/naming"
)

// Start starts a run and returns at once, with its first entry durable. When ctx ends, a
// Write in progress is finished and the run is suspended; any process can resume it. Start,
// Resume and Fork refuse the context of a tool's call: offer the other agent with
// tool.Agent, so that the limits of the run hold for both.
func (e *Engine) Start(ctx context.Context, agent pawl.Agent, input string, o *StartOptions) (*Handle, error) {
	return e.start(ctx, &Prepared{agent: agent, foreign: hasForeign(&agent)}, input, o)
}

func (e *Engine) start(ctx context.Context, p *Prepared, input string, o *StartOptions) (*Handle, error) {
	b := beginning{engine: e, agent: &p.agent, machine: p.machine, input: input}
	if o != nil {
		b.StartOptions = *o
	}
	err := b.prepare(ctx, p.foreign)
	if err == nil {
		err = nested(ctx)
	}
	if err == nil && b.ID != "" && b.caller == nil {
		err = checkID(b.ID)
	}
	if err == nil && b.caller == nil && !b.queued && b.Key == "" { // else the run may be there already
		err = e.room()
	}
	if err == nil {
		err = e.enter()
	}
	if err != nil {
		return nil, err
	}
	defer e.calls.Done()
	if err := b.attach(ctx); err != nil {
		return nil, fmt.Errorf("start a run: %w", err)
	}
	b.Thread, b.Key = e.secrets.Scrub(b.Thread), e.secrets.Scrub(b.Key)
	if b.Thread != "" || b.Key != "" {
		return b.derived(ctx)
	}
	if b.ID == "" {
		b.ID = newID(time.Now())
	}
	lease, err := e.begin(ctx, b.ID)
	if err != nil {
		return nil, fmt.Errorf("start run %s: %w", b.ID, err)
	}
	var earlier past
	if b.follows != nil {
		if earlier, err = e.past(ctx, b.ID, b.follows, e.cleaner(b.machine)); err != nil {
			e.release(lease)
			return nil, err
		}
		b.Files = earlier.transcript.Lacks(b.Files)
	}
	return b.begin(ctx, lease, &earlier)
}

var runID = naming.Regexp(`^[A-Za-z0-9_:][A-Za-z0-9_:.-]{0,127}$`)

// checkID returns an error for an id that cannot be part of a path, an address or a command
// line, or that a child run may have: those have the id of their call after a dot.
func checkID(id string) error {
	if !runID().MatchString(id) || strings.Contains(id, ".c_") || id == "last" {
		return fmt.Errorf("invalid run id %.40q: use at most 128 letters, digits, and _ : - . characters; it cannot begin with - or a dot, contain .c_ (which marks child runs) or be the word last", id)
	}
	return nil
}

// StartOptions are the options of a new run.
type StartOptions struct {
	// ID is the run's id: at most 128 letters, digits, and _ : - . characters. It cannot begin
	// with - or a dot, or contain .c_, which marks child runs. Empty: a generated id, or the one
	// that Thread or Key determines.
	ID     string
	Labels map[string]string // instead of the agent's
	// Thread is the conversation that the run belongs to: it begins with the messages of
	// the thread's last run. If that run has not ended, Start fails with a
	// [*ThreadError]. Limits count from zero. Of concurrent calls that start the next
	// run, one succeeds.
	Thread string
	// After is the run, of another thread, that the first run of Thread continues: a
	// conversation branches there. It must have ended. It has no effect on later runs of
	// the thread.
	After string
	// Key is an idempotency key: starting a run under a used key (in the same thread, or
	// in none) returns a handle on that run, as long as the journal keeps it and
	// whichever process drives it. If the run lost its owner, it is resumed. Another
	// agent or input is a [*KeyError].
	Key    string
	Parent string
	// Files are attached to the input: pictures, PDFs, sounds, and texts in UTF-8, each with
	// its Data, and a Name that the model reads. The log has them by reference, and the
	// journal keeps their data. They are untrusted; see [pawl.State.Tainted]. A file that a
	// model of the agent does not take, or that is none of these, is a [*FileError].
	Files []pawl.File
	// Untrusted says that the input does not come from a trusted person, as when a mail
	// starts a run; see [pawl.State.Tainted].
	Untrusted bool
	// Watch keeps streamed chunks until [Handle.Entries] is first ranged over, so that
	// none is lost.
	Watch bool
	// AllowChange accepts changed tools of untrusted MCP servers. Without it, a run that
	// has a tool whose description or schema differs from the agent's last run is
	// suspended before its first step, until [Engine.Resume] with AllowChange.
	AllowChange bool

	caller *recorder // of the run that drives this one, as a call; nil: there is none
	queued bool      // nobody drives the run yet
	nonce  string    // of the parent
	// follows is the run whose conversation this one goes on with, and what of it; nil: it begins one.
	follows *pawl.Continues
}

// A beginning is a run that is being started.
type beginning struct {
	StartOptions
	engine  *Engine
	agent   *pawl.Agent
	machine *pawl.Machine
	input   string
	link    *pawl.Continues // after a handoff: what the leg says of those before; nil: there was none
	trace   string          // of the leg before
	unseen  []string        // its tools that nobody has seen as they are now
}

// prepare prepares the agent, if that was not done before, with the tools that people have seen.
func (b *beginning) prepare(ctx context.Context, foreign bool) (err error) {
	if !b.AllowChange && foreign {
		seen, changed, err := b.engine.pinned(ctx, *b.agent)
		if err != nil {
			return err
		}
		if changed != nil {
			b.agent, b.machine, b.unseen = &seen, nil, changed
		}
	}
	if b.machine != nil && b.engine.invalid == nil {
		return b.engine.serves(b.machine)
	}
	b.machine, err = b.engine.machine(*b.agent)
	return err
}

// begin writes the first entry of a claimed run, and drives the run. p is what the run
// continues.
func (b *beginning) begin(ctx context.Context, l pawl.Lease, p *past) (*Handle, error) {
	d := b.engine.newDriver(ctx, b.machine, l, b.caller)
	r := &d.rec
	r.continues(p)
	d.early, d.leg = b.Watch, b.link != nil && b.link.By != ""
	err := r.lease.caught(func() error { // a filter may panic
		r.appendIn(0, 0, b.first(ctx, r, p))
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch {
	case b.unseen != nil:
		return b.engine.leave(d, pawl.RunPaused{Status: pawl.StatusPaused, Reason: fmt.Sprintf(
			"the definition of %s has changed since an earlier run of this agent: review it, then resume the run with --allow-change to accept it", strings.Join(b.unseen, ", "))})
	case b.queued:
		return b.engine.leave(d, pawl.RunPaused{Status: pawl.StatusQueued, Reason: "queued"})
	}
	return b.engine.launch(ctx, d)
}

// first returns the first event of the run.
func (b *beginning) first(ctx context.Context, r *recorder, p *past) pawl.Event {
	start := pawl.RunStarted{
		Declaration: b.machine.Declaration(), Labels: b.Labels, Thread: b.Thread, Key: b.Key, Parent: b.Parent,
		Owner: r.lease.Owner, Epoch: r.lease.Epoch, Untrusted: b.Untrusted,
		Traceparent: cmp.Or(b.trace, b.engine.asker(ctx, r.lease.Run)), Input: r.clean.text(b.input), Files: b.Files, Nonce: b.nonce,
	}
	if start.Labels == nil {
		start.Labels = b.agent.Labels
	}
	start.Labels = b.engine.names(start.Labels)
	if b.ID == "" { // the id was derived
		start.Nonce = rand.Text()[:8]
	}
	if p.transcript != nil {
		start.Continues = b.continues(p, start.Input)
	}
	return start
}

// launch makes the driver's first entries durable and drives the run in its own goroutine.
func (e *Engine) launch(ctx context.Context, d *driver) (*Handle, error) {
	r := &d.rec
	if err := e.add(ctx, d); err != nil {
		r.lease.release()
		return nil, err
	}
	if err := r.flush(); err != nil {
		r.lease.release()
		e.drop(d)
		d.life.err = err
		close(d.life.done)
		return nil, err
	}
	d.detach = context.AfterFunc(ctx, d.inbox.notify)
	h := &Handle{life: &d.life}
	if d.early {
		h.early.Store(d.rec.feed.watch())
	}
	go d.run(nil)
	return h, nil
}

// ErrDrain, as the cause of the end of a run's context, queues the run instead of pausing
// it, so that another worker goes on with it.
var ErrDrain = errors.New("its worker was stopped")

// Queue is Start for a run that nobody drives yet: it is recorded with the status queued,
// and a worker takes it; see package runs/worker. Any process can also resume or cancel it.
// The handle's result is the run as it was recorded.
func (e *Engine) Queue(ctx context.Context, agent pawl.Agent, input string, o *StartOptions) (*Handle, error) {
	queued := StartOptions{}
	if o != nil {
		queued = *o
	}
	labels := queued.Labels
	if labels == nil {
		labels = agent.Labels
	}
	if err := journals.CheckLane(labels); err != nil {
		return nil, err
	}
	queued.queued = true
	return e.Start(ctx, agent, input, &queued)
}

// leave makes the first entries of a run durable and releases the run as the event says.
func (e *Engine) leave(d *driver, as pawl.RunPaused) (*Handle, error) {
	r := &d.rec
	r.appendNow(as)
	err := r.flush()
	r.lease.release()
	e.left(r.base, r.lease.Run, err)
	if err != nil {
		return nil, err
	}
	l := &life{id: r.lease.Run, engine: e, done: make(chan struct{}), result: r.state.Result()}
	close(l.done)
	return &Handle{life: l}, nil
}
