package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/runs"
)

func cancelCommand(a *app) *cobra.Command {
	reason := ""
	c := a.command("cancel RUN [CALL] [flags]", "Cancel a run in any process, or one of its calls", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) (int, error) {
		if len(args) == 2 {
			return sendSignal(ctx, a, args[0], args[1], &post{}, runs.Cancellation(engine.Self().User, reason))
		}
		return a.onRun(ctx, args[0], func(j pawl.Journal, h pawl.Head) (int, error) { return a.cancelRun(ctx, j, h, reason) })
	})
	c.Long = "Cancel a run in any process, or one of its calls: the model reads who cancelled the call and why, and goes on. A call\nthat has not started does not run; the outcome of a write that has started is unknown."
	c.Example = "  pawl cancel last\n  pawl cancel last c_3 --reason \"the site is down\""
	c.Flags().StringVar(&reason, "reason", "", "the reason, for the log and, of a call, for the model")
	return remotely(c)
}

func (a *app) cancelRun(ctx context.Context, j pawl.Journal, h pawl.Head, reason string) (int, error) {
	h, report, err := a.tellRun(ctx, j, h, func(to desk, run, by string) error { return to.Cancel(ctx, run, by, reason) })
	if err == nil && h.Status.Ended() {
		err = deliverOf(ctx, a, j, h.Run)
	}
	if err != nil {
		return 0, err
	}
	switch {
	case a.quiet:
	case h.Status.Ended():
		a.sayf("run %s is %v", h.Run, h.Status)
		a.doubts(report)
	default:
		a.sayf("cancellation of run %s requested; %s ends it within a second, or when the calls in progress have stopped", h.Run, runs.OwnerText(h.Lease.Owner))
	}
	return 0, a.printReport(report)
}

func sayCommand(a *app) *cobra.Command {
	after := false
	c := a.command("say RUN TEXT [flags]", "Send a message to a run, which it reads before its next model call", cobra.ExactArgs(2), func(ctx context.Context, args []string) (int, error) {
		return a.onRun(ctx, args[0], func(j pawl.Journal, h pawl.Head) (int, error) {
			driven := runs.Owned(h.Lease) // also while it asks somebody here
			h, report, err := a.tellRun(ctx, j, h, func(to desk, run, by string) error {
				return to.Say(ctx, run, by, args[1], &engine.SayOptions{After: after})
			})
			if err != nil {
				return 0, refused(err)
			}
			when := "before its next model call"
			if after {
				when = "when it would be done"
			}
			if !driven && !runs.Owned(h.Lease) {
				when += ", once it is resumed"
			}
			if !a.quiet {
				a.sayf("run %s reads the message %s", h.Run, when)
			}
			if !a.quiet && h.Status == pawl.StatusWaitingApproval {
				a.sayf("it does not change the calls that wait: deny them, or approve them with other --args")
			}
			return 0, a.printReport(report)
		})
	})
	c.Long = "Send a message to a run that runs or waits, in any process. The model reads it before its next call, after\nthe results of the calls in progress; with --after when it would be done, and goes on. A message does not\nresume a run that is suspended: it reads the message when it is resumed."
	c.Example = "  pawl say last \"Only the files under src, please\"\n  pawl say last \"And write a summary\" --after"
	c.Flags().BoolVar(&after, "after", false, "the model reads the message when it would be done")
	return remotely(c)
}

// tellRun sends something to a run or, if that has handed over, to the run that has the
// conversation, and reports on the run that got it.
func (a *app) tellRun(ctx context.Context, j pawl.Journal, h pawl.Head, send func(to desk, run, by string) error) (pawl.Head, explain.Report, error) {
	h, err := runs.Tell(ctx, j, h, func(ctx context.Context, run string) error {
		to, err := a.deskOf(ctx, j, run)
		if err != nil {
			return err
		}
		return send(to, run, engine.Self().User)
	})
	if err != nil {
		return h, explain.Report{}, err
	}
	report, err := runs.Report(ctx, j, h, a.place())
	return h, report, err
}

// printReport prints the result in a report as JSON, if that is asked for.
func (con *console) printReport(r explain.Report) error {
	if !con.json {
		return nil
	}
	return printJSON(con.out, r.Result)
}

// doubts names the calls of an ended run of which nobody knows whether they took place.
func (a *app) doubts(report explain.Report) {
	for _, p := range runs.Waiting(report.Pending, "doubt") {
		a.sayf("%s %s may have taken place; before you resume the run, say so with: %s, or %s", p.Call, p.Tool,
			a.typed("pawl", "settle", p.Run, p.Call, "--happened", "JSON"), a.typed("pawl", "settle", p.Run, p.Call, "--did-not-happen"))
	}
}
