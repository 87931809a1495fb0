package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
)

func eventsCommand(a *app) *cobra.Command {
	follow := false
	c := oneRun(a, "events RUN [flags]", "Print a run's entries in order, one JSON object a line", func(ctx context.Context, j pawl.Journal, h pawl.Head) (int, error) {
		return 0, printLog(ctx, a, j, h, follow)
	})
	c.Flags().BoolVar(&follow, "follow", false, "print new entries until the run ends; a run that waits has not ended")
	return looking(remotely(c))
}

// printEntry prints an entry without secrets and invisible characters.
func printEntry(w io.Writer, e pawl.Entry) error {
	line, err := e.AppendJSON(nil)
	if err == nil {
		_, err = w.Write(append(legibleJSON(redact.JSON(line)), '\n'))
	}
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
			if _, err := a.out.Write(append(legibleJSON(redact.JSON(row.Data)), '\n')); err != nil {
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

// pause waits for d, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
