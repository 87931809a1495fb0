package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/refactor"
	"github.com/pawl-run/pawl/stop"
)

// refactoring holds the options of pawl refactor.
type refactoring struct {
	driving
	test     string
	env      []string
	metric   string
	allowAPI bool
	dryRun   bool
}

func refactorCommand(a *app) *cobra.Command {
	f := &refactoring{}
	c := a.command("refactor GOAL [DIR]", "Change the form of code towards GOAL and not what it does", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) (int, error) {
		dir := "."
		if len(args) > 1 {
			dir = args[1]
		}
		return refactorProject(ctx, a, f, args[0], dir)
	})
	c.Flags().StringVar(&f.metric, "metric", "", "what must become less: lines, complexity, duplicates, or cmd:COMMAND, which prints a number (default: the places of a mechanical refactoring, else complexity, lines outside Go)")
	c.Flags().BoolVar(&f.allowAPI, "allow-api", false, "allow changes of the exported API")
	c.Flags().StringVar(&f.test, "test", "", "the command that runs the tests, go test or pytest, without a shell (default: go test ./... for a Go module, pytest for a Python project)")
	c.Flags().StringArrayVar(&f.env, "env", nil, "a variable for the tests: NAME to pass it on, or NAME=VALUE, which is recorded with the run; may be repeated")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the diff without applying it")
	f.modelFlag(c)
	f.limitFlag(c, false)
	f.stopFlag(c)
	f.labelFlag(c)
	f.eventsFlag(c)
	f.policyFlag(c)
	f.approvalsFlag(c)
	return c
}

func refactorProject(ctx context.Context, a *app, f *refactoring, goal, dir string) (int, error) {
	if err := isProject(dir); err != nil {
		return 0, err
	}
	o, labels, err := a.refactorOptions(f, dir)
	if err != nil {
		return 0, err
	}
	var condition pawl.Condition
	if f.stop != "" {
		if condition, err = stop.Parse(f.stop, nil); err != nil {
			return 0, misuse("--stop: %w", err)
		}
	}
	policy, err := readPolicy(f.policy)
	if err != nil {
		return 0, err
	}
	name := a.namedModel(f.model)
	name = cmp.Or(name, mechanic.Name)
	model, err := a.refactorModel(name)
	if err == nil {
		err = a.readyModel(name, model)
	}
	if err != nil {
		return 0, err
	}
	return a.with(ctx, func(j store) (int, error) {
		if o.StateDir != "" {
			prune(ctx, a, j, o.StateDir, time.Now())
		}
		r, before, err := a.openRefactor(ctx, dir, goal, model, o)
		if err != nil {
			if ctx.Err() != nil {
				return 0, err
			}
			return 0, refused(err)
		}
		agent := r.Agent()
		agent.Stop = condition
		again := refactorAgain{fixAgain{Model: name, DryRun: f.dryRun, Stop: f.stop}, before.Value}
		agent.Source = again.into(agent.Source)
		if agent, err = under(policy, agent); err != nil {
			return 0, errors.Join(err, r.Close())
		}
		if err := checkStop(agent); err != nil {
			return 0, errors.Join(err, r.Close())
		}
		limits, err := ceilings(agent)
		if err != nil {
			return 0, errors.Join(err, r.Close())
		}
		w := refactorWork(a, r, agent, again)
		w.limits = limits
		return driveWork(ctx, a, &f.driving, w, 0, func(ctx context.Context) (*engine.Handle, error) {
			return a.engine(j, &f.driving, agent).Start(ctx, agent, r.Input(), &engine.StartOptions{Labels: labels})
		})
	})
}

func (env *environment) refactorOptions(f *refactoring, dir string) (*refactor.Options, map[string]string, error) {
	l, err := parseLimits(f.limit, false)
	if err != nil {
		return nil, nil, err
	}
	labels, err := parseLabels(f.label)
	if err != nil {
		return nil, nil, err
	}
	o := &refactor.Options{Metric: f.metric, AllowAPI: f.allowAPI, Limits: l.Set, Env: f.env, StateDir: env.fixState(dir)}
	if command, is := strings.CutPrefix(f.metric, refactor.Command+":"); is {
		o.Metric = refactor.Command
		if o.Measure, err = words(command); err != nil {
			return nil, nil, misuse("--metric: %w", err)
		}
	}
	if f.test != "" {
		if o.Test, err = words(f.test); err != nil {
			return nil, nil, misuse("--test: %w", err)
		}
	}
	return o, labels, nil
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
func concludeRefactor(ctx context.Context, a *app, r *refactor.Refactor, result pawl.Result, again refactorAgain) (int, error) {
	ctx = context.WithoutCancel(ctx) // apply the diff even if ctx ends now
	whole := refactorResult{Result: result, Metric: metricResult{Name: r.Source().Metric, Before: again.Before}, Tests: []string{}, Left: r.Left()}
	if whole.Left == nil {
		whole.Left = []string{}
	}
	if result.Status != pawl.StatusSuccess {
		ending(ctx, a, &result)
		if result.Status.Ended() {
			lastWords(ctx, a, result.Run)
		}
		var err error
		if a.json {
			whole.Result = result
			err = printJSON(a.out, whole)
		} else if !a.quiet {
			a.sayf("the project is unchanged")
		}
		return exitCode(result.Status), errors.Join(err, r.Release())
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
