package cli

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

func (a *app) approveCommand() *cobra.Command {
	p := &post{}
	all, edited, token, scope := false, "", "", pawl.ScopeCall
	c := a.command("approve RUN [CALL…] [flags]", "Approve calls that wait for approval", cobra.MinimumNArgs(1), func(ctx context.Context, args []string) (int, error) {
		var with json.RawMessage
		if edited != "" {
			if with = json.RawMessage(edited); !json.Valid(with) {
				return 0, misuse("--args: %q is not JSON", edited)
			}
		}
		if scope != pawl.ScopeCall && scope != pawl.ScopeRun {
			return 0, misuse("--scope is %q; write call, or run for all calls of the run with equal arguments", scope)
		}
		return a.decide(ctx, args, all, p, single(map[string]bool{"--args": with != nil, "--token": token != ""}), runs.Approval(p.sender(), &engine.ApproveOptions{
			ForRun: scope == pawl.ScopeRun, Args: with, Token: token,
		}))
	})
	c.Flags().StringVar(&token, "token", "", "the token of the request (not needed with access to the database)")
	c.Flags().StringVar(&scope, "scope", pawl.ScopeCall, "how far the approval reaches: call, or run for every call of the run with equal arguments")
	c.Flags().BoolVar(&all, "all", false, "approve every call that waits")
	c.Flags().StringVar(&edited, "args", "", "run it with these arguments instead, as JSON")
	p.flags(c)
	return remotely(a.runArgument(c), "no-continue")
}

func (a *app) denyCommand() *cobra.Command {
	p := &post{}
	all, reason, token := false, "", ""
	c := a.command("deny RUN [CALL…] [flags]", "Deny calls that wait for approval", cobra.MinimumNArgs(1), func(ctx context.Context, args []string) (int, error) {
		return a.decide(ctx, args, all, p, single(map[string]bool{"--token": token != ""}), runs.Denial(p.sender(), reason, &engine.DenyOptions{Token: token}))
	})
	c.Flags().StringVar(&token, "token", "", "the token of the request (not needed with access to the database)")
	c.Flags().BoolVar(&all, "all", false, "deny every call that waits")
	c.Flags().StringVar(&reason, "reason", "", "the reason, which the model reads")
	p.flags(c)
	return remotely(a.runArgument(c), "no-continue")
}

// rank sorts false before true.
func rank(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

// single returns the given flag that applies to one call only; empty: none was given.
func single(given map[string]bool) string {
	for _, flag := range slices.Sorted(maps.Keys(given)) {
		if given[flag] {
			return flag
		}
	}
	return ""
}

// decide approves or denies calls: those named, all, or the only one. one is the
// given flag, if any, that applies to a single call.
func (a *app) decide(ctx context.Context, args []string, all bool, p *post, one string, s runs.Signal) (int, error) {
	return a.mail(ctx, args[0], p, func(_ pawl.Journal, to *runs.Addressee) error {
		run, calls := to.State.Run(), args[1:]
		waiting := runs.Waiting(to.Pending, "approval")
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
		open := func(p pawl.Pending) bool {
			return p.Kind != "" && (p.ExpiresAt == nil || time.Now().Before(*p.ExpiresAt))
		}
		slices.SortStableFunc(named, func(x, y pawl.Pending) int { return rank(open(x)) - rank(open(y)) })
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
