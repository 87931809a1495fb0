package cli

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/journals"
)

// queueRun records a run for a worker, and hands it over if there is an on.
func queueRun(ctx context.Context, a *app, agent pawl.Agent, input string, o *engine.StartOptions, on string) (int, error) {
	if err := journals.CheckLane(o.Labels); err != nil {
		return 0, refused(err)
	}
	if _, err := ceilings(agent); err != nil {
		return 0, err
	}
	var system Dispatch
	if on != "" { // before anything is recorded
		var err error
		if system, err = a.dispatch(ctx, on, nil); err != nil {
			return 0, err
		}
		defer system.Close()
	}
	return a.with(ctx, func(j store) (int, error) {
		h, err := engine.New(j, a.options(agent.Source)).Queue(ctx, agent, input, o)
		if err != nil {
			return 0, err
		}
		if h.Found() {
			a.sayf("run %s already exists under this key", h.ID())
		}
		r, err := h.Wait(ctx)
		if err != nil {
			return 0, err
		}
		if err := a.printQueued(ctx, r); err != nil || system == nil {
			return 0, err
		}
		return 0, handRun(ctx, a, system, j, r.Run, on)
	})
}

// printQueued prints the id of a run that was queued.
func (a *app) printQueued(ctx context.Context, r pawl.Result) error {
	if a.json {
		return printResult(ctx, a, r)
	}
	_, err := fmt.Fprintln(a.out, r.Run)
	return err
}
