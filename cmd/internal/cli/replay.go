package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

func replayCommand(a *app) *cobra.Command {
	return remotely(oneRun(a, "replay RUN [flags]", "Recompute every recorded step of a run and compare; nothing is called", func(ctx context.Context, j pawl.Journal, h pawl.Head) (code int, err error) {
		var out client.Replayed
		if a.far != nil {
			out, err = a.far.Replay(ctx, h.Run)
		} else {
			out, err = replayRun(ctx, a, j, h.Run)
		}
		if err != nil {
			return 0, err
		}
		if out.Problem = redact.Text(out.Problem); !out.Agrees {
			code = exitBroken
		}
		switch {
		case a.json:
			return code, printJSON(a.out, out)
		case !out.Agrees:
			return 0, errors.New(out.Problem)
		}
		_, err = fmt.Fprintf(a.out, "%s of run %s agree\n", display.Count(out.Steps, "step"), h.Run)
		return 0, err
	}))
}

// replayRun replays a run with each agent that it has had. The error says that it cannot be replayed.
func replayRun(ctx context.Context, a *app, j pawl.Journal, run string) (out client.Replayed, err error) {
	line, err := runs.Lineage(ctx, j, run)
	if err != nil {
		return out, err
	}
	var children []pawl.Declaration
	for i := range line[1:] {
		children = append(children, line[1+i].Declaration())
	}
	agents, err := agentsOf(ctx, j, line[0].Run())
	if err != nil {
		return out, err
	}
	out = client.Replayed{Run: run, Agrees: true}
	eng := engine.New(j, nil)
	for i := range agents {
		w, err := a.workOf(ctx, j, agents[i], remake{asWas: true, declared: true, children: children})
		if err != nil {
			return out, err
		}
		agent, err := eng.AgentOf(ctx, w.agent, run)
		if err != nil {
			w.drop()
			return out, err
		}
		n, differs := eng.Replay(ctx, agent, run)
		w.drop()
		if errors.As(differs, new(*engine.MissingError)) { // of a run before it; nothing was compared
			return out, differs
		}
		if out.Steps += n; differs != nil {
			out.Agrees, out.Problem = false, differs.Error()
			break
		}
	}
	return out, nil
}

// agentsOf returns a state of the run for each agent it has had: one, unless the run
// was resumed with a changed agent. Each part is replayed with its own agent.
func agentsOf(ctx context.Context, j pawl.Journal, run string) ([]*pawl.State, error) {
	var agents []*pawl.State
	s := new(pawl.State)
	add := func() {
		for i := range agents {
			if len(agents[i].Declaration().Differences(s.Declaration())) == 0 {
				return
			}
		}
		agents = append(agents, s.Clone())
	}
	for entry, err := range engine.Entries(ctx, j, run, 1) {
		if err != nil {
			return nil, err
		}
		if r, ok := entry.Event.(pawl.RunResumed); ok && r.Changed != nil {
			add()
		}
		s.Fold(entry)
	}
	add()
	return agents, nil
}
