package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/team"
)

func waitCommand(a *app) *cobra.Command {
	var timeout time.Duration
	c := a.command("wait RUN [flags]", "Wait until a run ends or is suspended, and exit as pawl run does", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			if timeout < 0 {
				return 0, misuse("--timeout is %v; it must not be negative", timeout)
			}
			return a.onRun(ctx, args[0], func(j pawl.Journal, h pawl.Head) (int, error) {
				return waitFor(ctx, a, j, h, timeout)
			})
		})
	c.Flags().DurationVar(&timeout, "timeout", 0, "wait at most this long, such as 30s (default: no limit)")
	return remotely(c)
}

// waitFor polls a run until it has ended or is suspended. A run whose owner died goes on only if somebody takes it,
// so waitFor says how.
func waitFor(ctx context.Context, a *app, j pawl.Journal, h pawl.Head, timeout time.Duration) (int, error) {
	waiting := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	next, stop := changesOf(waiting, j, h.Run)
	defer stop()
	said := false
	for h.Status == pawl.StatusQueued || h.Status == pawl.StatusRunning {
		now := h.Status
		if now == pawl.StatusRunning && !runs.Owned(h.Lease) {
			now = pawl.StatusInterrupted
			if !said {
				a.sayf("nobody drives run %s: its process is gone; waiting for a worker or server to take it, or for pawl resume %s", h.Run, h.Run)
			}
			said = true
		}
		err := next()
		if waiting.Err() != nil && ctx.Err() == nil {
			return 0, misuse("run %s is still %v after %v", h.Run, now, timeout)
		}
		if err != nil {
			return 0, err
		}
		if h, err = runs.Head(ctx, j, h.Run); err != nil {
			return 0, err
		}
	}
	report, err := runs.Report(ctx, j, h, a.place())
	if err != nil {
		return 0, err
	}
	if _, handed := team.HandedIn(report.Result.Result); handed {
		next, err := runs.Head(ctx, j, engine.NextLeg(h.Thread, h.Run))
		if err == nil {
			return waitFor(ctx, a, j, next, timeout)
		}
		if !errors.Is(err, pawl.ErrUnknownRun) { // else it was removed
			return 0, err
		}
	}
	return a.conclude(ctx, report.Result.Result)
}
