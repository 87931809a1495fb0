package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

func cancelCommand(a *app) *cobra.Command {
	reason := ""
	c := oneRun(a, "cancel RUN [flags]", "Cancel a run in any process", func(ctx context.Context, j pawl.Journal, h pawl.Head) (int, error) {
		return cancelRun(ctx, a, j, h, reason)
	})
	c.Flags().StringVar(&reason, "reason", "", "the reason, for the log")
	return remotely(c)
}

// printHead prints the result of a run so far as JSON, if that is asked for.
func (a *app) printHead(ctx context.Context, j pawl.Journal, h pawl.Head) error {
	if !a.json {
		return nil
	}
	report, err := runs.Report(ctx, j, h, a.place())
	if err != nil {
		return err
	}
	return printJSON(a.out, report.Result)
}

func cancelRun(ctx context.Context, a *app, j pawl.Journal, h pawl.Head, reason string) (int, error) {
	h, err := runs.Tell(ctx, j, h, func(ctx context.Context, run string) error {
		to, err := a.deskOf(ctx, j, run)
		if err != nil {
			return err
		}
		return to.Cancel(ctx, run, engine.Self().User, reason)
	})
	if err != nil {
		return 0, err
	}
	if h.Status.Ended() {
		if err := deliverOf(ctx, a, j, h.Run); err != nil {
			return 0, err
		}
	}
	if !a.quiet {
		if h.Status.Ended() {
			a.sayf("run %s is %v", h.Run, h.Status)
			if err := a.doubts(ctx, j, h); err != nil {
				return 0, err
			}
		} else {
			a.sayf("cancellation of run %s requested; %s ends it within a second, or when the calls in progress have stopped", h.Run, runs.OwnerText(h.Lease.Owner))
		}
	}
	return 0, a.printHead(ctx, j, h)
}

// doubts names the calls of an ended run of which nobody knows whether they took place.
func (a *app) doubts(ctx context.Context, j pawl.Journal, h pawl.Head) error {
	report, err := runs.Report(ctx, j, h, a.place())
	for _, p := range runs.Waiting(report.Pending, "doubt") {
		a.sayf("%s %s may have taken place; before you resume the run, say so with: %s, or %s", p.Call, p.Tool,
			a.typed("pawl", "settle", p.Run, p.Call, "--happened", "JSON"), a.typed("pawl", "settle", p.Run, p.Call, "--did-not-happen"))
	}
	return err
}
