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
	p.flags(c)
	return remotely(c, "no-continue")
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
	p.flags(c)
	return remotely(c, "no-continue")
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
	return signalRun(ctx, a, args[0], p, func(j pawl.Journal, to *runs.Addressee) error {
		run, calls := to.State.Run(), args[1:]
		waiting := runs.Waiting(to.Pending, "approval")
		if r, ok := j.(*remote); ok && len(waiting) > 1 { // the server knows which are answered
			known, err := r.Waits(ctx, run)
			if err != nil {
				return err
			}
			waiting = runs.Waiting(known, "approval")
		}
		if open := slices.DeleteFunc(slices.Clone(waiting), func(p pawl.Pending) bool { return p.AnsweredAt != nil }); len(open) > 0 && !all {
			waiting = open
		}
		var named []pawl.Pending
		switch {
		case all && len(calls) > 0:
			return misuse("name calls or give --all, not both")
		case len(calls) > 0:
		case len(waiting) == 0:
			return misuse("run %s is not waiting for approval (status: %v)", run, to.State.Status())
		case len(waiting) > 1 && !all:
			return listing(waiting, "several calls of run %s wait; name them or give --all:", run)
		default:
			named = waiting
		}
		for _, call := range calls {
			found, err := to.Find("approval", call)
			if err != nil {
				return err
			}
			named = append(named, found)
		}
		// Check all calls before deciding any: a typing error in one of several must not
		// leave the others decided.
		closed := func(p pawl.Pending) bool { return p.Kind == "" || p.ExpiresAt != nil && time.Now().After(*p.ExpiresAt) }
		open := slices.DeleteFunc(slices.Clone(named), closed)
		named = append(slices.DeleteFunc(slices.Clone(named), func(p pawl.Pending) bool { return !closed(p) }), open...)
		if one != "" && len(named) > 1 {
			return listing(waiting, "%s applies to one call; name it:", one)
		}
		for _, p := range named {
			if err := to.Send(ctx, p, s); err != nil {
				return err
			}
		}
		return nil
	})
}
