package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl/engine"
)

func (a *app) approveCommand() *cobra.Command {
	p := &post{}
	all, edited := false, ""
	c := a.command("approve RUN [CALL…] [flags]", "Let calls that need approval run", cobra.MinimumNArgs(1), func(ctx context.Context, args []string) (int, error) {
		var with json.RawMessage
		if edited != "" {
			if with = json.RawMessage(edited); !json.Valid(with) {
				return 0, misuse("--args: %q is not JSON", edited)
			}
		}
		return a.decide(ctx, args, all, p, with != nil, func(to addressee, call string) error {
			return to.Decide(ctx, to.run, call, engine.Decision{Approve: true, By: to.by, Args: with})
		})
	})
	c.Flags().BoolVar(&all, "all", false, "every call that waits")
	c.Flags().StringVar(&edited, "args", "", "run it with these arguments instead, as JSON")
	p.flags(c)
	return a.runArgument(c)
}

func (a *app) denyCommand() *cobra.Command {
	p := &post{}
	all, reason := false, ""
	c := a.command("deny RUN [CALL…] [flags]", "Refuse calls that need approval", cobra.MinimumNArgs(1), func(ctx context.Context, args []string) (int, error) {
		return a.decide(ctx, args, all, p, false, func(to addressee, call string) error {
			return to.Decide(ctx, to.run, call, engine.Decision{By: to.by, Reason: reason})
		})
	})
	c.Flags().BoolVar(&all, "all", false, "every call that waits")
	c.Flags().StringVar(&reason, "reason", "", "why; the model is told")
	p.flags(c)
	return a.runArgument(c)
}

// decide says yes or no to calls: those named, all, or the only one.
func (a *app) decide(ctx context.Context, args []string, all bool, p *post, one bool, say func(to addressee, call string) error) (int, error) {
	return a.mail(ctx, args[0], p, func(to addressee) error {
		calls := args[1:]
		waiting := to.waitsFor("approval")
		switch {
		case all && len(calls) > 0:
			return misuse("name calls or give --all, not both")
		case len(calls) > 0:
		case len(waiting) == 0:
			return misuse("run %s waits for no approval; it is %v", to.run, to.state.Status())
		case len(waiting) > 1 && !all:
			return listing(waiting, "several calls of run %s wait; name them or give --all:", to.run)
		default:
			for _, w := range waiting {
				calls = append(calls, w.Call)
			}
		}
		if one && len(calls) > 1 {
			return listing(waiting, "--args are for one call; name it:")
		}
		for _, call := range calls {
			if err := to.posted("approval", call, say(to, call)); err != nil {
				return err
			}
		}
		return nil
	})
}
