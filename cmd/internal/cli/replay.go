package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
)

// replayed is the outcome of a replay.
type replayed struct {
	Run    string  `json:"run"`
	Agrees bool    `json:"agrees"`
	Steps  int     `json:"steps"` // that are identical
	Error  *string `json:"error"` // the first difference
}

func replayCommand(a *app) *cobra.Command {
	return remotely(oneRun(a, "replay RUN [flags]", "Recompute every recorded step of a run and compare; nothing is called", func(ctx context.Context, j pawl.Journal, h pawl.Head) (int, error) {
		return replayRun(ctx, a, j, h.Run)
	}))
}

func replayRun(ctx context.Context, a *app, j pawl.Journal, run string) (int, error) {
	steps, differs, err := replayAt(ctx, a, j, run)
	if err != nil {
		return 0, err
	}
	out := replayed{Run: run, Steps: steps, Agrees: differs == nil}
	code := 0
	if differs != nil {
		text := redact.Text(differs.Error())
		out.Error, code = &text, exitBroken
	}
	if a.json {
		return code, printJSON(a.out, out)
	}
	if differs != nil {
		return 0, differs
	}
	_, err = fmt.Fprintf(a.out, "%s of run %s agree\n", counted(out.Steps, "step"), run)
	return 0, err
}

// replayAt replays a run here or at its server.
func replayAt(ctx context.Context, a *app, j pawl.Journal, run string) (steps int, differs, err error) {
	if a.far == nil {
		return decideAgain(ctx, a, j, run)
	}
	out, err := a.far.Replay(ctx, run)
	if err == nil && !out.Agrees {
		differs = errors.New(out.Problem)
	}
	return out.Steps, differs, err
}

// decideAgain replays a run. differs is the first difference; err says that the run
// cannot be replayed.
func decideAgain(ctx context.Context, a *app, j pawl.Journal, run string) (steps int, differs, err error) {
	line, err := runs.Lineage(ctx, j, run)
	if err != nil {
		return 0, nil, err
	}
	root := line[0].Run()
	var children []pawl.Declaration
	for i := range line[1:] {
		children = append(children, line[1+i].Declaration())
	}
	agents, err := agentsOf(ctx, j, root)
	if err != nil {
		return 0, nil, err
	}
	for i := range agents {
		w, err := a.workOf(ctx, j, agents[i], remake{asWas: true, declared: true, children: children})
		if err != nil {
			return 0, nil, err
		}
		eng := engine.New(j, nil)
		agent, err := eng.AgentOf(ctx, w.agent, run)
		if err != nil {
			w.drop()
			return 0, nil, err
		}
		n, differs := eng.Replay(ctx, agent, run)
		w.drop()
		if steps += n; differs != nil {
			return steps, differs, nil
		}
	}
	return steps, nil, nil
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
