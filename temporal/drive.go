package temporal

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/runs/worker"
)

// How long one activity drives a run. After slice it hands the run on at the next result, and
// after longest at any rate.
const (
	slice   = 10 * time.Minute
	longest = 14 * time.Minute
)

// A driver is the activities of a worker.
type driver struct {
	journal pawl.Journal
	host    worker.Host
	worker  *worker.Worker
	grace   time.Duration // for runs, once the worker stops
	log     *slog.Logger
}

// Drive drives a run until it ends or waits, its time is up or the worker stops. It ignores
// that Temporal cancels it, because the journal says who drives a run: a run is cancelled
// through its inbox, and goes on while Temporal is away.
func (d *driver) Drive(ctx context.Context, in Input) (Rest, error) {
	rest, err := d.attempt(ctx, in)
	if err != nil {
		err = retried(err, activity.GetInfo(ctx).Attempt)
	}
	return rest, err
}

// retried is an error after which Temporal tries again: when the lease in the way lapses, and
// otherwise the later the more attempts there were, from a second to half a minute.
func retried(err error, attempt int32) error {
	text, after := err.Error(), time.Second<<min(attempt-1, 5)
	if held, ok := errors.AsType[*pawl.HeldError](err); ok {
		text = held.Error()
		after = max(time.Until(held.Lease.Until), time.Second)
	}
	return temporal.NewApplicationErrorWithOptions(redact.Text(text), "", temporal.ApplicationErrorOptions{NextRetryDelay: min(after, 30*time.Second)})
}

func (d *driver) attempt(ctx context.Context, in Input) (Rest, error) {
	h, err := runs.Head(ctx, d.journal, in.Run)
	if err == nil {
		var due bool
		if due, err = d.due(ctx, h); due {
			return d.drive(ctx, h)
		}
	}
	if err != nil && !errors.Is(err, pawl.ErrUnknownRun) {
		return d.failed(h, err)
	}
	return restOf(ctx, d.journal, in.Run, "")
}

// due reports whether a run has a reason to go on. Without one, a run that waits would ask
// again, and what it had asked for would be void.
func (d *driver) due(ctx context.Context, h pawl.Head) (bool, error) {
	switch {
	case runs.Owned(h.Lease):
		return false, &pawl.HeldError{Lease: h.Lease}
	case h.Status.Ended():
		return false, nil
	case h.Status == pawl.StatusQueued, !h.WakeAt.IsZero() && !h.WakeAt.After(time.Now()):
		return true, nil
	case h.Status == pawl.StatusRunning:
		err := worker.Worthwhile(ctx, d.journal, h.Run)
		return err == nil, err
	}
	return engine.Signalled(ctx, d.journal, h.Run)
}

func (d *driver) drive(ctx context.Context, h pawl.Head) (Rest, error) {
	run, handOn, err := d.resume(ctx, h)
	if err != nil {
		return d.failed(h, err)
	}
	defer handOn() // it has no effect on a run that is at rest
	defer time.AfterFunc(longest, handOn).Stop()
	go func() {
		select {
		case <-activity.GetWorkerStopChannel(ctx):
			time.AfterFunc(d.grace, handOn)
		case <-run.Done():
		}
	}()
	p := newPulse(ctx, d.journal, h.Run)
	defer p.stop()
	began := time.Now()
	for e, err := range run.Follow(context.WithoutCancel(ctx), h.Seq+1) {
		if err != nil {
			break // what is wrong with the run is returned below
		}
		if idle := p.saw(e); idle && time.Since(began) > slice {
			handOn()
		}
	}
	if _, err := run.Wait(context.WithoutCancel(ctx)); err != nil {
		return d.failed(h, err)
	}
	return restOf(context.WithoutCancel(ctx), d.journal, h.Run, p.about)
}

// resume resumes a run, and returns what hands it on.
func (d *driver) resume(ctx context.Context, h pawl.Head) (run *engine.Handle, handOn func(), err error) {
	state, err := runs.Resumable(ctx, d.journal, h, h.Seq)
	if err != nil {
		return nil, nil, err
	}
	work, err := d.host.Again(ctx, state)
	if err != nil {
		return nil, nil, err
	}
	run, err = d.worker.Drive(work, func(life context.Context) (*engine.Handle, error) {
		limits, err := work.Raise(state.Limits(), runs.Limits{}) // the host may have lowered them
		if err != nil {
			return nil, err
		}
		life, end := context.WithCancelCause(life)
		handOn = func() { end(engine.ErrDrain) }
		run, err := work.Engine.Resume(life, work.Agent, h.Run, &engine.ResumeOptions{After: h.Seq, Limits: limits, AllowSpent: true, Upgrade: work.Upgrade})
		if err != nil {
			end(nil)
		}
		return run, err
	})
	return run, handOn, err
}

// failed is the result of Drive after an error: one that passes by itself is retried, and
// everything else becomes a status.
func (d *driver) failed(h pawl.Head, err error) (Rest, error) {
	switch {
	case errors.As(err, new(*pawl.HeldError)), errors.As(err, new(*engine.BusyError)), errors.Is(err, pawl.ErrFenced), errors.Is(err, pawl.ErrConflict),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, worker.ErrClosed), retry.Temporary(err):
		return Rest{}, err
	}
	d.log.Warn("run cannot go on here", "run", h.Run, "error", err)
	return refusal(h, err), nil
}
