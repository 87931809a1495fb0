package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/acp"
	"github.com/pawl-run/pawl/engine"
)

func acpCommand(a *app) *cobra.Command {
	d := &driving{}
	c := a.command("acp [SPEC] [flags]", "Serve an agent to an editor over ACP", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) (int, error) { return serveACP(ctx, a, d, args) })
	d.flag(c, "model", "effort", "limit", "label", "policy")
	return c
}

func serveACP(ctx context.Context, a *app, d *driving, args []string) (int, error) {
	set, err := d.settings()
	if err != nil {
		return 0, err
	}
	return a.with(ctx, func(j store) (int, error) {
		open := func(ctx context.Context, dir string, by engine.Approver) (agent pawl.Agent, _ *engine.Engine, err error) {
			if len(args) > 0 {
				agent, err = agentToServe(ctx, a, &serving{driving: *d}, args[0], set)
			} else if err = os.Chdir(dir); err == nil { // where its tools work
				agent, err = a.defaultAgent(ctx, "acp", d, set, chatAgent)
			}
			if err != nil {
				return agent, nil, err
			}
			agent.Limits = agent.Limits.Merge(set.limits)
			agent.Labels = set.labels
			limits, err := ceilings(agent)
			if err != nil {
				return agent, nil, err
			}
			a.announce(agent, limits)
			o := a.options(agent.Source)
			o.Approver, o.Patience = by, -1 // the user may take until the request expires
			return agent, engine.New(j, o), nil
		}
		return 0, acp.Serve(ctx, a.in, a.out, acp.Options{Version: thisBuild().Version, Journal: j, Open: open, Log: a.noticeLog()})
	})
}
