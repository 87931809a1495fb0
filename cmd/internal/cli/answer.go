package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

func answerCommand(a *app) *cobra.Command {
	p := &post{}
	call := ""
	c := a.command("answer RUN TEXT [flags]", "Answer a run's question", cobra.ExactArgs(2), func(ctx context.Context, args []string) (int, error) {
		if args[1] == "" {
			return 0, misuse("the answer is empty; give a text")
		}
		answer := runs.Answer(p.sender(), args[1])
		if call != "" {
			return sendSignal(ctx, a, args[0], call, p, answer)
		}
		return signalRun(ctx, a, args[0], p, func(to *runs.Addressee) error {
			id, err := questionOf(ctx, a.current(), to)
			if err != nil {
				return err
			}
			return to.Signal(ctx, id, answer)
		})
	})
	c.Flags().StringVar(&call, "id", "", "the call to answer, if the run asks several questions")
	p.flags(c)
	return remotely(c, "no-continue")
}

// questionOf returns the call to answer when the user names none: the only one that
// waits, or else the last one answered, so that a second answer gets the error
// that names the first.
func questionOf(ctx context.Context, j pawl.Journal, to *runs.Addressee) (string, error) {
	run, list := to.State.Run(), runs.Waiting(to.Pending, "input")
	switch len(list) {
	case 0:
	case 1:
		return list[0].Call, nil
	default:
		return "", listing(list, "run %s asks several questions; name one with --id:", run)
	}
	last := ""
	for e, err := range engine.Entries(ctx, j, run, 1) {
		if err != nil {
			return "", err
		}
		if given, ok := e.Event.(pawl.InputGiven); ok {
			last = given.Call
		}
	}
	if last == "" {
		return "", misuse("run %s is not waiting for an answer (status: %v)", run, to.State.Status())
	}
	return last, nil
}

func submitCommand(a *app) *cobra.Command {
	p := &post{}
	c := a.command("submit RUN CALL JSON [flags]", "Submit the result of a call that the client runs", cobra.ExactArgs(3),
		func(ctx context.Context, args []string) (int, error) {
			result := json.RawMessage(args[2])
			if !json.Valid(result) {
				return 0, misuse("%q is not JSON; give the call's result, such as '\"done\"' or null", args[2])
			}
			return sendSignal(ctx, a, args[0], args[1], p, runs.Result(p.sender(), result))
		})
	p.flags(c)
	return remotely(c, "no-continue")
}

func settleCommand(a *app) *cobra.Command {
	p := &post{}
	happened, not := "", false
	c := a.command("settle RUN CALL (--happened JSON | --did-not-happen) [flags]", "Resolve a call with an unknown outcome", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) (int, error) {
			resolution := engine.DidNotHappen()
			if !not {
				resolution = engine.Happened(json.RawMessage(happened))
			}
			if !not && !json.Valid([]byte(happened)) {
				return 0, misuse("--happened: %q is not JSON; give the call's result, such as '\"done\"' or null", happened)
			}
			return sendSignal(ctx, a, args[0], args[1], p, runs.Resolution(p.sender(), resolution))
		})
	c.Flags().StringVar(&happened, "happened", "", "the call took place, with this result")
	c.Flags().BoolVar(&not, "did-not-happen", false, "the call did not take place; run it again")
	c.MarkFlagsMutuallyExclusive("happened", "did-not-happen")
	c.MarkFlagsOneRequired("happened", "did-not-happen")
	p.flags(c)
	return remotely(c, "no-continue")
}
