package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

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
