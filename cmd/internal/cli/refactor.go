package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/refactor"
)

// refactoring holds the options of pawl refactor.
type refactoring struct {
	projecting
	metric string
}

func refactorCommand(a *app) *cobra.Command {
	f := &refactoring{}
	c := a.command("refactor GOAL [DIR] [flags]", "Improve the form of code towards GOAL without changing what it does", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) (int, error) {
		dir := "."
		if len(args) > 1 {
			dir = args[1]
		}
		return refactorProject(ctx, a, f, args[0], dir)
	})
	c.Flags().StringVar(&f.metric, "metric", "", "what must become less: lines, complexity, or cmd:COMMAND, which prints a number (default: complexity, lines outside Go)")
	f.flags(c, "go test or pytest, ")
	return c
}

func refactorProject(ctx context.Context, a *app, f *refactoring, goal, dir string) (int, error) {
	in, err := f.read(a, dir)
	if err != nil {
		return 0, err
	}
	metric := refactor.Metric{Name: f.metric}
	if command, is := strings.CutPrefix(f.metric, refactor.Command+":"); is {
		metric.Name = refactor.Command
		if metric.Command, err = words(command); err != nil {
			return 0, misuse("--metric: %w", err)
		}
	}
	name, err := a.thinking(f.model, "refactors nothing")
	if err != nil {
		return 0, err
	}
	return f.drive(ctx, a, in, name, func(model pawl.Model) (blueprint, error) {
		return refactor.New(ctx, dir, goal, metric, model, f.options(in))
	})
}
