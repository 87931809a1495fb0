package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// replayed is the outcome of deciding a log again.
type replayed struct {
	Run    string  `json:"run"`
	Agrees bool    `json:"agrees"`
	Steps  int     `json:"steps"` // that agree
	Error  *string `json:"error"` // the first difference
}

func (a *app) replayCommand() *cobra.Command {
	return a.runArgument(a.command("replay RUN [flags]", "Decide every recorded step of a run again and compare; nothing is called", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			return a.onRun(ctx, args[0], func(j *sqlite.Journal, h pawl.Head) (int, error) {
				return a.replay(ctx, j, h.Run)
			})
		}))
}

func (a *app) replay(ctx context.Context, j pawl.Journal, run string) (int, error) {
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return 0, err
	}
	w, err := a.workOf(s, remake{asWas: true, declared: true})
	if err != nil {
		return 0, err
	}
	defer w.drop()
	out := replayed{Run: run}
	out.Steps, err = engine.New(j, nil).Replay(ctx, w.agent, run)
	out.Agrees = err == nil
	code := 0
	if err != nil {
		text := err.Error()
		out.Error, code = &text, exitBroken
	}
	if a.json {
		return code, printJSON(a.out, out)
	}
	if err != nil {
		return 0, err
	}
	_, err = fmt.Fprintf(a.out, "%s of run %s agree\n", counted(out.Steps, "step"), run)
	return 0, err
}
