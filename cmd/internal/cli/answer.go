package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

func (a *app) answerCommand() *cobra.Command {
	p := &post{}
	call := ""
	c := a.command("answer RUN TEXT [flags]", "Answer a run's question", cobra.ExactArgs(2), func(ctx context.Context, args []string) (int, error) {
		if args[1] == "" {
			return 0, misuse("the answer is empty; give a text")
		}
		return a.mail(ctx, args[0], p, func(to addressee) error {
			id := call
			if id == "" {
				var err error
				if id, err = to.asked(ctx); err != nil {
					return err
				}
			}
			run, err := to.owner("input", id)
			if err != nil {
				return err
			}
			return to.posted("input", id, to.Answer(ctx, run, id, to.by, args[1]))
		})
	})
	c.Flags().StringVar(&call, "id", "", "the call to answer, if the run asks several questions")
	p.flags(c)
	return remotely(a.runArgument(c), "no-continue")
}

// asked returns the call to answer when the user names none: the only one that
// waits, or else the last one answered, so that a second answer gets the error
// that names the first.
func (to addressee) asked(ctx context.Context) (string, error) {
	list := to.waitsFor("input")
	switch len(list) {
	case 0:
	case 1:
		return list[0].Call, nil
	default:
		return "", listing(list, "run %s asks several questions; name one with --id:", to.run)
	}
	last := ""
	for e, err := range engine.Entries(ctx, to.journal, to.run, 1) {
		if err != nil {
			return "", err
		}
		if given, ok := e.Event.(pawl.InputGiven); ok {
			last = given.Call
		}
	}
	if last == "" {
		return "", misuse("run %s is not waiting for an answer (status: %v)", to.run, to.state.Status())
	}
	return last, nil
}

func (a *app) submitCommand() *cobra.Command {
	p := &post{}
	c := a.command("submit RUN CALL JSON [flags]", "Hand in the result of a call that the client runs", cobra.ExactArgs(3),
		func(ctx context.Context, args []string) (int, error) {
			result := json.RawMessage(args[2])
			if !json.Valid(result) {
				return 0, misuse("%q is not JSON; give the call's result, such as '\"done\"' or null", args[2])
			}
			return a.mail(ctx, args[0], p, func(to addressee) error {
				run, err := to.owner("client_tool", args[1])
				if err != nil {
					return err
				}
				return to.posted("client_tool", args[1], to.Submit(ctx, run, args[1], to.by, result))
			})
		})
	p.flags(c)
	return remotely(a.runArgument(c), "no-continue")
}

func (a *app) settleCommand() *cobra.Command {
	p := &post{}
	happened, not := "", false
	c := a.command("settle RUN CALL (--happened JSON | --did-not-happen) [flags]", "Resolve a call with an unknown outcome", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) (int, error) {
			resolution := engine.Resolution{DidNotHappen: not}
			if !not {
				resolution.Happened = json.RawMessage(happened)
			}
			if !not && !json.Valid(resolution.Happened) {
				return 0, misuse("--happened: %q is not JSON; give the call's result, such as '\"done\"' or null", happened)
			}
			return a.mail(ctx, args[0], p, func(to addressee) error {
				call := args[1]
				run, err := to.owner("doubt", call)
				if err != nil {
					return err
				}
				if c, ok := to.state.Call(call); ok && run == to.run && (c.Phase == pawl.PhaseStarted || c.Phase == pawl.PhaseLost) {
					return misuse("call %s of run %s is not in doubt yet; resume the run first", call, to.run)
				}
				return to.posted("doubt", call, to.Resolve(ctx, run, call, to.by, resolution))
			})
		})
	c.Flags().StringVar(&happened, "happened", "", "it took place, with this result")
	c.Flags().BoolVar(&not, "did-not-happen", false, "it did not take place; run it again")
	c.MarkFlagsMutuallyExclusive("happened", "did-not-happen")
	c.MarkFlagsOneRequired("happened", "did-not-happen")
	p.flags(c)
	return remotely(a.runArgument(c), "no-continue")
}
