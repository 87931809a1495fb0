package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/runs/worker"
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

// A Dial connects to a system that dispatches runs to workers, by the URL that --on names. Its
// Dispatch counts only if there is no error.
type Dial func(ctx context.Context, url string, log *slog.Logger) (Dispatch, error)

// A Dispatch is such a system.
type Dispatch interface {
	// Start hands over a queued run.
	Start(ctx context.Context, h pawl.Head) error
	// Polled reports whether a worker asks for runs of an agent.
	Polled(ctx context.Context, agent string) (bool, error)
	// Work drives the runs of a host's agents that are dispatched until ctx ends. They may
	// then go on for grace.
	Work(ctx context.Context, j pawl.Journal, host worker.Host, grace time.Duration, o *worker.Options) error
	Close()
}

// dispatch connects to the system that --on names.
func (a *app) dispatch(ctx context.Context, url string, log *slog.Logger) (Dispatch, error) {
	d, err := a.dial(ctx, url, log)
	if err != nil {
		return nil, refused(fmt.Errorf("--on: %w", err))
	}
	return d, nil
}

// handOver runs this invocation as the program for --on. handed: there is nothing left to do.
func handOver(ctx context.Context, a *app, url string) (code int, handed bool, err error) {
	const scheme = "temporal"
	switch {
	case url == "":
		return 0, false, nil
	case !strings.HasPrefix(url, scheme+"://"):
		return 0, true, misuse("--on takes an address of Temporal; write temporal://HOST:PORT/NAMESPACE")
	case a.server != "":
		return 0, true, misuse("--on hands the run to Temporal here, so it does not go with --server")
	case a.dial != nil:
		return 0, false, nil
	case a.program != nil:
		return 0, true, misuse("--on: this program has parts of its own, which pawl-temporal does not know; have its main call cli.MainOn (docs/temporal.md)")
	}
	const name = "pawl-" + scheme
	program, err := beside(name)
	if err != nil {
		return 0, true, misuse("--on takes the program %[1]s, which is neither beside pawl nor in the PATH; install it with: go install github.com/pawl-run/pawl/temporal/cmd/%[1]s@latest", name)
	}
	code, err = become(ctx, program, a)
	if err != nil {
		return 0, true, fmt.Errorf("%s: %w", program, err)
	}
	return code, true, nil
}

// beside finds a program in the directory of this one, or else in the PATH.
func beside(name string) (string, error) {
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			if program, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
				return program, nil
			}
		}
	}
	return exec.LookPath(name)
}

// handRun hands a queued run over.
func handRun(ctx context.Context, a *app, d Dispatch, j pawl.Journal, run, url string) error {
	h, err := runs.Head(ctx, j, run)
	if err == nil && h.Status == pawl.StatusQueued { // else it existed under its key
		err = d.Start(ctx, h)
	}
	if err != nil {
		return fmt.Errorf("run %s is queued, but could not be handed over; a worker with --on finds it within a minute: %w", run, err)
	}
	if polled, err := d.Polled(ctx, h.Agent); err == nil && !polled {
		a.sayf("no worker asks for runs of %s; run %s waits for one: pawl worker SPEC --on %s", h.Agent, run, url)
	}
	return nil
}
