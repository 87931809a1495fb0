package cli

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

func approveCommand(a *app) *cobra.Command {
	p := &post{}
	all, edited, token, scope := false, "", "", "call"
	var free []string
	times := 0
	c := a.command("approve RUN [CALL…] [flags]", "Approve calls that wait for approval", cobra.MinimumNArgs(1), func(ctx context.Context, args []string) (int, error) {
		var with json.RawMessage
		if edited != "" {
			if with = json.RawMessage(edited); !json.Valid(with) {
				return 0, misuse("--args: %q is not JSON", edited)
			}
		}
		if scope != "call" && scope != "run" {
			return 0, misuse("--scope is %q; write call, or run for all calls of the run with equal arguments", scope)
		}
		if scope == "call" && (free != nil || times != 0) {
			return 0, misuse("--free and --times are about later calls of the run; add --scope run")
		}
		one := tokenFlag(token)
		if with != nil {
			one = "--args"
		}
		return decide(ctx, a, args, all, p, one, runs.Approval(p.sender(), &engine.ApproveOptions{
			ForRun: scope == "run", Free: free, Times: times, Args: with, Token: token,
		}))
	})
	c.Flags().StringVar(&token, "token", "", "the token of the request (not needed with access to the database)")
	c.Flags().StringVar(&scope, "scope", "call", "how far the approval reaches: call, or run for later calls of the run with equal arguments")
	c.Flags().IntVar(&times, "times", 0, "with --scope run: how many later calls are approved (default any number)")
	c.Flags().StringSliceVar(&free, "free", nil, "with --scope run and --times: arguments that may differ in the later calls, but none that say where a call goes")
	c.Flags().BoolVar(&all, "all", false, "approve every call that waits")
	c.Flags().StringVar(&edited, "args", "", "run the call with these arguments instead, as JSON")
	return p.flags(c)
}

func denyCommand(a *app) *cobra.Command {
	p := &post{}
	all, reason, token := false, "", ""
	c := a.command("deny RUN [CALL…] [flags]", "Deny calls that wait for approval", cobra.MinimumNArgs(1), func(ctx context.Context, args []string) (int, error) {
		return decide(ctx, a, args, all, p, tokenFlag(token), runs.Denial(p.sender(), reason, &engine.DenyOptions{Token: token}))
	})
	c.Flags().StringVar(&token, "token", "", "the token of the request (not needed with access to the database)")
	c.Flags().BoolVar(&all, "all", false, "deny every call that waits")
	c.Flags().StringVar(&reason, "reason", "", "the reason, which the model reads")
	return p.flags(c)
}

// tokenFlag is the flag that applies to one call only; empty: it was not given.
func tokenFlag(token string) string {
	if token == "" {
		return ""
	}
	return "--token"
}

// decide approves or denies calls: those named, all, or the only one. one is the
// given flag, if any, that applies to a single call.
func decide(ctx context.Context, a *app, args []string, all bool, p *post, one string, s runs.Signal) (int, error) {
	return signalRun(ctx, a, args[0], p, func(to *runs.Addressee) error {
		calls, err := chosenCalls(to, args[1:], all)
		if err != nil {
			return err
		}
		if one != "" && len(calls) > 1 {
			return listing(undecided(to), "%s applies to one call; name it:", one)
		}
		// Those that cannot be decided come first: a typing error in one of several must not leave the
		// others decided.
		for _, turn := range []bool{false, true} {
			for _, p := range calls {
				if decidable(p) != turn {
					continue
				}
				if err := to.Send(ctx, p, s); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// decidable reports whether a call waits, and its request has not expired.
func decidable(p pawl.Pending) bool {
	return p.Kind != "" && (p.ExpiresAt == nil || time.Now().Before(*p.ExpiresAt))
}

// undecided are the calls that wait for approval and were not decided yet; all that wait if every
// one was.
func undecided(to *runs.Addressee) []pawl.Pending {
	waiting := runs.Waiting(to.Pending, "approval")
	left := slices.DeleteFunc(slices.Clone(waiting), func(p pawl.Pending) bool { return p.AnsweredAt != nil })
	if len(left) == 0 {
		return waiting
	}
	return left
}

// chosenCalls are the calls to decide.
func chosenCalls(to *runs.Addressee, names []string, all bool) (calls []pawl.Pending, err error) {
	run, waiting := to.State.Run(), undecided(to)
	switch {
	case all && len(names) > 0:
		return nil, misuse("name calls or give --all, not both")
	case len(names) == 0 && len(waiting) == 0:
		return nil, misuse("run %s is not waiting for approval (status: %v)", run, to.State.Status())
	case all:
		return runs.Waiting(to.Pending, "approval"), nil
	case len(names) == 0 && len(waiting) > 1:
		return nil, listing(waiting, "several calls of run %s wait; name them or give --all:", run)
	case len(names) == 0:
		return waiting, nil
	}
	for _, name := range names {
		found, err := to.Find("approval", name)
		if err != nil {
			return nil, err
		}
		calls = append(calls, found)
	}
	return calls, nil
}

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
	return p.flags(c)
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
	return p.flags(c)
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
	return p.flags(c)
}
