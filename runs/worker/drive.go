package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// Resume resumes a run without an owner; if after is not zero, only if that is still its
// last entry. The error says why the run cannot be resumed.
func (w *Worker) Resume(ctx context.Context, h pawl.Head, limits runs.Limits, after uint64) (*engine.Handle, error) {
	return w.resume(ctx, h, -1, limits, &engine.ResumeOptions{After: after})
}

// resume is Resume for a run whose lease may have been taken. Unless ahead is negative, the
// run is not resumed while its provider has no rate left; see [engine.Engine.Ready].
func (w *Worker) resume(ctx context.Context, h pawl.Head, ahead int, limits runs.Limits, o *engine.ResumeOptions) (*engine.Handle, error) {
	state, work, err := w.again(ctx, h, ahead, o)
	if err != nil {
		return nil, err
	}
	o.Upgrade, o.AllowSpent = work.Upgrade, limits == (runs.Limits{}) // the host may lower limits that nobody changed
	if o.Limits, err = work.Raise(state.Limits(), limits); err != nil {
		work.Drop()
		return nil, err
	}
	return w.Drive(work, func(ctx context.Context) (*engine.Handle, error) {
		return work.Engine.Resume(ctx, work.Agent, h.Run, o)
	})
}

// again makes the agent of a run, while it holds the lease of the run if that was taken.
func (w *Worker) again(ctx context.Context, h pawl.Head, ahead int, o *engine.ResumeOptions) (state *pawl.State, work Work, err error) {
	if o.Lease.Epoch != 0 {
		stop, err := w.hold(ctx, o.Lease)
		if err != nil {
			return nil, work, err
		}
		defer stop()
	}
	if state, err = runs.Resumable(ctx, w.journal, h, o.After); err == nil {
		work, err = w.host.Again(ctx, state)
	}
	if err == nil && ahead >= 0 {
		if err = work.Engine.Ready(ctx, work.Agent, ahead); err != nil {
			work.Drop()
		}
	}
	return state, work, err
}

// hold renews a lease until stop: to make the agents of this run, and of those that were taken
// with it, may take longer than the lease lasts, and several workers would take them in turns.
func (w *Worker) hold(ctx context.Context, l pawl.Lease) (stop func(), err error) {
	if time.Until(l.Until) < w.options.Lease/2 {
		_, err := w.journal.Claim(ctx, pawl.Claim{Run: l.Run, Owner: l.Owner, Epoch: l.Epoch, TTL: w.options.Lease})
		if errors.Is(err, pawl.ErrFenced) {
			return nil, err
		}
	}
	return engine.Hold(ctx, w.journal, l, w.options.Lease), nil // the next try, or the engine, finds what is wrong
}

// Raise returns the limits of a run that change, where now are the present ones. The error
// is a *runs.RefusedError.
func (w Work) Raise(now pawl.Limits, limits runs.Limits) (pawl.Limits, error) {
	next, err := limits.Over(now, runs.PriceOf(w.Agent.Model), w.Lower)
	if err != nil {
		return next, &runs.RefusedError{Err: fmt.Errorf("limits: %w", err)}
	}
	bounded := w.Agent
	bounded.Limits = now.Merge(next)
	if _, err := pawl.NewMachine(bounded); err != nil {
		return next, &runs.RefusedError{Err: err}
	}
	return next, nil
}
