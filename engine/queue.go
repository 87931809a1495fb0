package engine

import (
	"context"
	"errors"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
)

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

// enqueue makes the first entries of a run durable and releases it.
func (e *Engine) enqueue(ctx context.Context, d *driver) (*Handle, error) {
	r := &d.rec
	d.inbox.life, r.base = ctx, context.WithoutCancel(ctx) //nolint:fatcontext // set once
	r.appendNow(pawl.RunPaused{Status: pawl.StatusQueued, Reason: "queued"})
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
