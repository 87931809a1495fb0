package cli

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

func forkCommand(a *app) *cobra.Command {
	r := &resuming{}
	var at uint64
	by := ""
	c := a.command("fork RUN --at SEQ [INPUT] [flags]", "Start a new run that shares another run's log up to entry SEQ", cobra.RangeArgs(1, 2),
		func(ctx context.Context, args []string) (int, error) {
			input := ""
			if len(args) > 1 {
				var err error
				if input, err = a.input(ctx, args[1:], ""); err != nil {
					return 0, err
				}
			}
			return a.onRun(ctx, args[0], func(j pawl.Journal, h pawl.Head) (int, error) {
				return forkRun(ctx, a, j, h, at, input, by, r)
			})
		})
	c.Flags().Uint64Var(&at, "at", 0, "the last entry to share")
	_ = c.MarkFlagRequired("at") // the flag is defined above
	c.Flags().StringVar(&r.spec, "spec", "", "continue with the agent of this spec instead of the original one")
	c.Flags().StringVar(&r.prompt, "prompt", "", "continue with this prompt instead of the original one")
	c.Flags().StringVar(&by, "by", "", "record the fork as this user's (default: the current user)")
	r.flag(c, "model", "raise", "stop")
	c.Flags().StringArrayVar(&r.label, "label", nil, "a label for the fork, as `KEY=VALUE`, in addition to the run's; may be repeated")
	r.flag(c, "events", "policy", "approvals")
	return remotely(c, "spec", "stop", "policy")
}

func forkRun(ctx context.Context, a *app, j pawl.Journal, h pawl.Head, at uint64, input, by string, r *resuming) (int, error) {
	labels, err := parseLabels(r.label)
	if err != nil {
		return 0, err
	}
	if a.far != nil {
		limits, err := sentLimits(r.limit, true)
		if err != nil {
			return 0, err
		}
		return a.driveFar(ctx, &r.driving, at, func(ctx context.Context) (pawl.Result, error) {
			return a.far.Fork(ctx, h.Run, client.ForkRun{At: at, Input: input, Labels: labels, Limits: limits, Prompt: r.prompt, Model: r.model, By: by})
		})
	}
	s, err := runs.Until(ctx, j, h.Run, at)
	if errors.Is(err, runs.ErrNoEntry) {
		return 0, refused(err)
	}
	if err != nil {
		return 0, err
	}
	w, err := reopen(ctx, a, j, s, r, true)
	if err != nil {
		return 0, err
	}
	if input != "" && describes(w.agent.Model).Name == mechanic.Name {
		w.drop()
		return 0, misuse("the mechanic reads no input; fork run %s without input, or name a model with --model", h.Run)
	}
	return driveWork(ctx, a, &r.driving, w, at, func(ctx context.Context) (*engine.Handle, error) {
		run, err := a.engine(j, &r.driving, w.agent).Fork(ctx, w.agent, h.Run, at, &engine.ForkOptions{
			Input: input, Labels: runs.Relabelled(s, labels), Stop: w.how.Stop, Limits: w.how.Limits, AllowSpent: w.how.AllowSpent, AllowChange: r.spec != "" || r.model != "" || r.prompt != "",
			By: cmp.Or(by, engine.Self().User),
		})
		if s.InFlight() {
			err = refused(err) // the error says where the run can be forked
		}
		if changed, ok := errors.AsType[*engine.ChangedError](err); ok {
			command := r.words("pawl", "fork", h.Run, "--at", strconv.FormatUint(at, 10), "--spec", "SPEC")
			if input != "" {
				command = append(command, "INPUT")
			}
			err = misuse("the agent of run %s has changed: %s; fork the run with an agent of your choice: %s", h.Run, strings.Join(changed.Parts, ", "), a.typed(command...))
		}
		return run, err
	})
}
