package cli

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// A ruling holds the flags of pawl approve and pawl deny.
type ruling struct {
	post
	all   bool
	token string
	args  string // of an approval: in place of the call's
}

func (r *ruling) flags(c *cobra.Command, does string) *cobra.Command {
	c.Flags().StringVar(&r.token, "token", "", "the token of the request (not needed with access to the database)")
	c.Flags().BoolVar(&r.all, "all", false, does+" every call that waits")
	return r.post.flags(c)
}

func approveCommand(a *app) *cobra.Command {
	r := &ruling{}
	until := ""
	var o engine.ApproveOptions
	var c *cobra.Command
	c = a.command("approve RUN [CALL…] [flags]", "Approve calls that wait for approval", cobra.MinimumNArgs(1), func(ctx context.Context, args []string) (int, error) {
		if r.args != "" {
			if o.Args = json.RawMessage(r.args); !json.Valid(o.Args) {
				return 0, misuse("--args: %q is not JSON", r.args)
			}
		}
		if until != "" {
			lasts, err := parseAge(until)
			if err != nil || lasts <= 0 {
				return 0, misuse("--until: %q is not a time such as 8h or 7d", until)
			}
			o.Until = time.Now().Add(lasts).UTC().Truncate(time.Second)
		}
		if c.Flags().Changed("times") && o.Times < 1 {
			return 0, misuse("--times: %d is no number of calls; write at least 1, or leave it out for any number", o.Times)
		}
		if !o.Stands() && (o.Free != nil || o.Times != 0 || until != "") {
			return 0, misuse("--free, --times and --until are about later calls; add --scope run, thread or agent")
		}
		o.Token = r.token
		return decide(ctx, a, args, r, runs.Approval(r.sender(), &o))
	})
	c.Flags().StringVar(&o.Scope, "scope", approval.OneCall, "how far the approval reaches: call, or run, thread or agent for later calls with equal arguments")
	c.Flags().IntVar(&o.Times, "times", 0, "with another scope than call: how many later calls are approved (default any number)")
	c.Flags().StringSliceVar(&o.Free, "free", nil, "with --times: arguments that may differ in the later calls, but none that say where a call goes")
	c.Flags().StringVar(&until, "until", "", "with another scope than call: how long the permission lasts, as 8h or 7d (default 30d)")
	c.Flags().StringVar(&r.args, "args", "", "run the call with these arguments instead, as JSON")
	return r.flags(c, "approve")
}

func denyCommand(a *app) *cobra.Command {
	r := &ruling{}
	reason := ""
	c := a.command("deny RUN [CALL…] [flags]", "Deny calls that wait for approval", cobra.MinimumNArgs(1), func(ctx context.Context, args []string) (int, error) {
		return decide(ctx, a, args, r, runs.Denial(r.sender(), reason, &engine.DenyOptions{Token: r.token}))
	})
	c.Flags().StringVar(&reason, "reason", "", "the reason, which the model reads")
	return r.flags(c, "deny")
}

// decide approves or denies calls: those named, all, or the only one.
func decide(ctx context.Context, a *app, args []string, r *ruling, s runs.Signal) (int, error) {
	return signalRun(ctx, a, args[0], &r.post, func(to *runs.Addressee) error {
		calls, err := chosenCalls(to, args[1:], r.all)
		switch {
		case err != nil:
			return err
		case r.args != "" && len(calls) > 1:
			return listing(undecided(to), "--args applies to one call; name it:")
		case r.token != "" && len(calls) > 1:
			return listing(undecided(to), "--token applies to one call; name it:")
		}
		// Those that cannot be decided come first: a typing error in one of several must not leave the
		// others decided.
		for _, turn := range []bool{false, true} {
			for _, p := range calls {
				open := p.ExpiresAt == nil || time.Now().Before(*p.ExpiresAt)
				if (open && p.Kind != "") != turn {
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
	c.Flags().StringVar(&call, "id", "", "the call to answer, or the signal that one waits for, if the run asks several questions")
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
