package cli

import (
	"context"
	"errors"
	"io"
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
	o := &refactor.Options{Test: in.test, Limits: in.limits, Env: f.env, StateDir: in.state}
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
	return f.drive(ctx, a, in, name, func(ctx context.Context, model pawl.Model) (*openCopy, error) {
		r, before, err := a.openRefactor(ctx, dir, goal, metric, model, o)
		if err != nil {
			return nil, err
		}
		return a.openedRefactor(r, runAgain{Model: name, DryRun: f.dryRun, Stop: f.driving.stop, Before: before}), nil
	})
}

// openedRefactor is a refactoring with its task and how its runs are concluded.
func (a *app) openedRefactor(r *refactor.Refactor, again runAgain) *openCopy {
	return &openCopy{copyAgent: r, state: r.Source().State, input: r.Input(), again: again, conclude: func(ctx context.Context, result pawl.Result) (int, error) {
		return concludeRefactor(ctx, a, r, result, again)
	}}
}

// openRefactor opens a project and runs its tests once, before a model is asked.
func (a *app) openRefactor(ctx context.Context, dir, goal string, metric refactor.Metric, model pawl.Model, o *refactor.Options) (*refactor.Refactor, float64, error) {
	r, err := refactor.New(ctx, dir, goal, metric, model, o)
	if err != nil {
		return nil, 0, err
	}
	seen, stop := a.showCheck()
	passed, value, err := r.Check(ctx, seen)
	stop()
	if err != nil {
		return nil, 0, errors.Join(err, r.Close())
	}
	if !a.quiet {
		a.sayf("%s", passing(passed))
		if flaky := r.Flaky(); len(flaky) > 0 {
			a.sayf("flaky and ignored (they passed once and failed once without a change): %s", strings.Join(flaky, ", "))
		}
	}
	return r, value, nil
}

// refactorResult is a result with the refactoring.
type refactorResult struct {
	pawl.Result

	Diff    string       `json:"diff"`
	Applied bool         `json:"applied"`
	Metric  metricResult `json:"metric"`
	Tests   []string     `json:"tests"` // files to which tests were added
}

// metricResult is what must have become less.
type metricResult struct {
	Name   string   `json:"name"`
	Before float64  `json:"before"`
	After  *float64 `json:"after"` // null: the run was no success
}

// concludeRefactor applies what was refactored to the project and prints it. The copy stays as long as the run
// can be resumed.
func concludeRefactor(ctx context.Context, a *app, r *refactor.Refactor, result pawl.Result, again runAgain) (int, error) {
	ctx = context.WithoutCancel(ctx) // apply the diff even if ctx ends now
	whole := refactorResult{Result: result, Metric: metricResult{Name: r.Source().Metric.Name, Before: again.Before}, Tests: []string{}}
	if result.Status != pawl.StatusSuccess {
		return unfinished(ctx, a, &result, func() any { whole.Result = result; return whole }, r.Release)
	}
	endingSince(ctx, a, &result, "every test passes, as before")
	after, err := r.Value(ctx)
	var diff refactor.Diff
	if err == nil {
		diff, err = r.Diff()
	}
	whole.Result, whole.Metric.After = result, &after
	whole.Applied = !again.DryRun && !diff.Empty()
	if err == nil && whole.Applied {
		err = r.Apply(diff)
	}
	if err != nil {
		return 0, errors.Join(err, r.Release())
	}
	whole.Diff, whole.Tests = diff.String(), append(whole.Tests, diff.Tests()...)
	if a.json {
		err = printJSON(a.out, whole)
	} else {
		_, err = io.WriteString(a.out, whole.Diff)
	}
	if !a.quiet {
		sayRefactored(a, diff, whole, r.Source().Metric.Counts())
	}
	return exitCode(result.Status), errors.Join(err, r.Close())
}

func sayRefactored(a *app, diff refactor.Diff, w refactorResult, counts string) {
	a.sayf("%s: %v before, %v now", counts, w.Metric.Before, *w.Metric.After)
	if w.Applied {
		a.sayf("applied to %s", strings.Join(diff.Files(), ", "))
	} else {
		a.sayf("not applied: this is a dry run")
	}
}
