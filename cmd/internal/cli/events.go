package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/team"
)

func eventsCommand(a *app) *cobra.Command {
	follow := false
	c := oneRun(a, "events RUN [flags]", "Print a run's entries in order, one JSON object a line", func(ctx context.Context, j pawl.Journal, h pawl.Head) (int, error) {
		return 0, printLog(ctx, a, j, h, follow)
	})
	c.Flags().BoolVar(&follow, "follow", false, "print new entries until the run ends; a run that waits has not ended")
	return looking(remotely(c))
}

// printRow prints an entry without secrets and invisible characters.
func printRow(w io.Writer, row []byte) error {
	_, err := w.Write(append(screen.LegibleJSON(redact.JSON(row)), '\n'))
	return err
}

// printLog prints the log as it is in the journal, byte for byte except for secrets and
// invisible characters, so that a log this build cannot decode can still be read.
func printLog(ctx context.Context, a *app, j pawl.Journal, h pawl.Head, follow bool) error {
	wait, stop := func() error { return nil }, func() {}
	if follow {
		wait, stop = changesOf(ctx, j, h.Run)
	}
	defer stop()
	next := uint64(1)
	for {
		for row, err := range j.Read(ctx, h.Run, next) {
			if err != nil {
				return err
			}
			if err := printRow(a.out, row.Data); err != nil {
				return err
			}
			next = row.Seq + 1
		}
		if !follow || h.Status.Ended() && next > h.Seq {
			return nil
		}
		if err := wait(); err != nil {
			return err
		}
		var err error
		if h, err = runs.Head(ctx, j, h.Run); err != nil {
			return err
		}
	}
}

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

// lookAnyway is how often a run is polled for changes by other processes, in addition to when the
// journal notifies.
const lookAnyway = time.Second

// changesOf returns wait, which returns when a run may have changed or ctx ends, and stop,
// which ends the subscription.
func changesOf(ctx context.Context, j pawl.Journal, run string) (wait func() error, stop func()) {
	listening, stop := context.WithCancel(ctx)
	word := client.Changes(listening, j, run)
	return func() error {
		select {
		case <-word:
			return nil
		case <-time.After(lookAnyway):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}, stop
}
