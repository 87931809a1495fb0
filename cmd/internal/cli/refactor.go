package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/refactor"
)

// refactoring holds the options of pawl refactor.
type refactoring struct {
	projecting
	metric   string
	allowAPI bool
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
	c.Flags().StringVar(&f.metric, "metric", "", "what must become less: lines, complexity, duplicates, or cmd:COMMAND, which prints a number (default: the places of a mechanical refactoring, else complexity, lines outside Go)")
	c.Flags().BoolVar(&f.allowAPI, "allow-api", false, "allow changes of the exported API")
	f.flags(c, "go test or pytest, ")
	return c
}

func refactorProject(ctx context.Context, a *app, f *refactoring, goal, dir string) (int, error) {
	in, err := f.read(a, dir)
	if err != nil {
		return 0, err
	}
	o := &refactor.Options{Metric: f.metric, AllowAPI: f.allowAPI, Test: in.test, Limits: in.limits, Env: f.env, StateDir: in.state}
	if command, is := strings.CutPrefix(f.metric, refactor.Command+":"); is {
		o.Metric = refactor.Command
		if o.Measure, err = words(command); err != nil {
			return 0, misuse("--metric: %w", err)
		}
	}
	name := cmp.Or(a.namedModel(f.model), mechanic.Name)
	return f.drive(ctx, a, in, name, a.refactorModel, func(ctx context.Context, model pawl.Model) (*openCopy, error) {
		r, before, err := a.openRefactor(ctx, dir, goal, model, o)
		if err != nil {
			return nil, err
		}
		return a.openedRefactor(r, runAgain{Model: name, DryRun: f.dryRun, Stop: f.driving.stop, Before: before.Value}), nil
	})
}

// openedRefactor is a refactoring with its task and how its runs are concluded.
func (a *app) openedRefactor(r *refactor.Refactor, again runAgain) *openCopy {
	return &openCopy{copyAgent: r, state: r.Source().State, input: r.Input(), again: again, conclude: func(ctx context.Context, result pawl.Result) (int, error) {
		return concludeRefactor(ctx, a, r, result, again)
	}}
}

// refactorModel is a model that can refactor: the mechanic is one of its own here.
func (a *app) refactorModel(name string) (pawl.Model, error) {
	if name == mechanic.Name {
		return refactor.Mechanic(), nil
	}
	return a.model(name)
}

// openRefactor opens a project and runs its tests once, before a model is asked.
func (a *app) openRefactor(ctx context.Context, dir, goal string, model pawl.Model, o *refactor.Options) (*refactor.Refactor, refactor.Baseline, error) {
	r, err := refactor.New(ctx, dir, goal, model, o)
	if err != nil {
		return nil, refactor.Baseline{}, err
	}
	seen, stop := a.showCheck()
	b, err := r.Check(ctx, seen)
	stop()
	if err != nil {
		return nil, b, errors.Join(err, r.Close())
	}
	if !a.quiet {
		a.sayf("%s", passing(b.Passed))
		if len(b.Flaky) > 0 {
			a.sayf("flaky and ignored (they passed once and failed once without a change): %s", strings.Join(b.Flaky, ", "))
		}
	}
	return r, b, nil
}

// refactorResult is a result with the refactoring.
type refactorResult struct {
	pawl.Result

	Diff    string       `json:"diff"`
	Applied bool         `json:"applied"`
	Metric  metricResult `json:"metric"`
	Tests   []string     `json:"tests"` // files to which tests were added
	Left    []string     `json:"left"`  // places that rules left alone, and why
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
	whole := refactorResult{Result: result, Metric: metricResult{Name: r.Source().Metric, Before: again.Before}, Tests: []string{}, Left: r.Left()}
	if whole.Left == nil {
		whole.Left = []string{}
	}
	if result.Status != pawl.StatusSuccess {
		return unfinished(ctx, a, &result, func() any { whole.Result = result; return whole }, r.Release)
	}
	endingSince(ctx, a, &result, "every test passes, as before")
	after, err := r.Value(ctx)
	var diff refactor.Diff
	if err == nil {
		diff, err = r.Diff(ctx)
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
		sayRefactored(a, diff, whole)
	}
	return exitCode(result.Status), errors.Join(err, r.Close())
}

func sayRefactored(a *app, diff refactor.Diff, w refactorResult) {
	switch {
	case diff.Empty():
		a.sayf("nothing to refactor")
	default:
		a.sayf("%s: %v before, %v now", refactor.Counts(w.Metric.Name), w.Metric.Before, *w.Metric.After)
	}
	for _, place := range w.Left {
		a.sayf("left alone: %s", place)
	}
	switch {
	case w.Applied:
		a.sayf("applied to %s", strings.Join(diff.Files(), ", "))
	case !diff.Empty():
		a.sayf("not applied: this is a dry run")
	default:
		a.sayf("the project is unchanged")
	}
}
