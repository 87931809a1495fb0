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

func sayCommand(a *app) *cobra.Command {
	after := false
	c := a.command("say RUN TEXT [flags]", "Send a message to a run, which it reads before its next model call", cobra.ExactArgs(2), func(ctx context.Context, args []string) (int, error) {
		return a.onRun(ctx, args[0], func(j pawl.Journal, h pawl.Head) (int, error) { return sayTo(ctx, a, j, h, args[1], after) })
	})
	c.Long = "Send a message to a run that runs or waits, in any process. The model reads it before its next call, after\nthe results of the calls in progress; with --after when it would be done, and goes on. A message does not\nresume a run that is suspended: it reads the message when it is resumed."
	c.Example = "  pawl say last \"Only the files under src, please\"\n  pawl say last \"And write a summary\" --after"
	c.Flags().BoolVar(&after, "after", false, "the model reads the message when it would be done")
	return remotely(c)
}

func sayTo(ctx context.Context, a *app, j pawl.Journal, h pawl.Head, text string, after bool) (int, error) {
	driven := runs.Owned(h.Lease) // also while it asks somebody here
	h, err := runs.Tell(ctx, j, h, func(ctx context.Context, run string) error {
		to, err := a.deskOf(ctx, j, run)
		if err != nil {
			return err
		}
		return to.Say(ctx, run, engine.Self().User, text, &engine.SayOptions{After: after})
	})
	if err != nil {
		return 0, refused(err)
	}
	if !a.quiet {
		when := "before its next model call"
		if after {
			when = "when it would be done"
		}
		if !driven && !runs.Owned(h.Lease) {
			when += ", once it is resumed"
		}
		a.sayf("run %s reads the message %s", h.Run, when)
		if h.Status == pawl.StatusWaitingApproval {
			a.sayf("it does not change the calls that wait: deny them, or approve them with other --args")
		}
	}
	return 0, a.printHead(ctx, j, h)
}
