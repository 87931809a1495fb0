package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/repro"
	"github.com/pawl-run/pawl/stop"
)

// reproducing holds the options of pawl repro.
type reproducing struct {
	driving
	test   string
	env    []string
	dryRun bool
	fix    bool
}

func reproCommand(a *app) *cobra.Command {
	f := &reproducing{}
	c := a.command("repro (TEXT | FILE) [DIR]", "Write a test that fails because of a bug, from its description", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) (int, error) {
		dir := "."
		if len(args) > 1 {
			dir = args[1]
		}
		return reproduce(ctx, a, f, args[0], dir)
	})
	c.Flags().StringVar(&f.test, "test", "", "the command that runs the tests, go test or pytest, without a shell (default: go test ./... for a Go module, pytest for a Python project)")
	c.Flags().StringArrayVar(&f.env, "env", nil, "a variable for the tests: NAME to pass it on, or NAME=VALUE, which is recorded with the run; may be repeated")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "print the diff without applying it")
	c.Flags().BoolVar(&f.fix, "fix", false, "then fix what the test shows, as pawl fix does")
	f.modelFlag(c)
	f.limitFlag(c, false)
	f.stopFlag(c)
	f.labelFlag(c)
	f.eventsFlag(c)
	f.policyFlag(c)
	f.approvalsFlag(c)
	return c
}

func reproduce(ctx context.Context, a *app, f *reproducing, from, dir string) (int, error) {
	if f.dryRun && f.fix {
		return 0, misuse("--dry-run adds no test that --fix could make pass; leave out one of them")
	}
	text, err := a.description(ctx, from)
	if err != nil {
		return 0, err
	}
	if err := isProject(dir); err != nil {
		return 0, err
	}
	o, labels, err := a.reproOptions(f, dir)
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
	name, err := a.modelFor(f.model)
	if err != nil {
		return 0, err
	}
	model, err := a.reproModel(name)
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
		r, err := a.openRepro(ctx, dir, model, o)
		if err != nil {
			if ctx.Err() != nil {
				return 0, err
			}
			return 0, refused(err)
		}
		agent := r.Agent()
		agent.Stop = condition
		again := reproAgain{fixAgain{Model: name, DryRun: f.dryRun, Stop: f.stop}, dir, f.fix}
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
		w := reproWork(a, r, agent, again)
		w.limits = limits
		return driveWork(ctx, a, &f.driving, w, 0, func(ctx context.Context) (*engine.Handle, error) {
			return a.engine(j, &f.driving, agent).Start(ctx, agent, repro.Input(text), &engine.StartOptions{Labels: labels})
		})
	})
}

// mostDescribed bounds the description of a bug. What is longer is a log, which says too much.
const mostDescribed = 100 << 10

// description is the text that describes a bug: of a file, of standard input, or the argument itself.
func (con *console) description(ctx context.Context, from string) (string, error) {
	text := from
	info, err := os.Stat(from)
	switch {
	case from == "-":
		if text, err = con.stdin(ctx); err != nil {
			return "", err
		}
	case err == nil && info.IsDir():
		return "", misuse("%s is a directory; give the description of a bug, or a file with it, before the project's directory", from)
	case err == nil:
		data, err := os.ReadFile(from)
		if err != nil {
			return "", refused(err)
		}
		text = string(data)
	case !strings.ContainsAny(from, " \n") && strings.ContainsAny(from, "./"):
		return "", misuse("file %s does not exist; give the description of a bug, or a file with it", from)
	}
	switch {
	case strings.TrimSpace(text) == "":
		return "", misuse("the description of the bug is empty; say what happens and what should happen")
	case len(text) > mostDescribed:
		return "", misuse("the description of the bug has %d bytes, more than %d; leave only what happens and what should happen", len(text), mostDescribed)
	}
	return text, nil
}

func (env *environment) reproOptions(f *reproducing, dir string) (*repro.Options, map[string]string, error) {
	l, err := parseLimits(f.limit, false)
	if err != nil {
		return nil, nil, err
	}
	labels, err := parseLabels(f.label)
	if err != nil {
		return nil, nil, err
	}
	o := &repro.Options{Limits: l.Set, Env: f.env, StateDir: env.fixState(dir)}
	if f.test != "" {
		if o.Test, err = words(f.test); err != nil {
			return nil, nil, misuse("--test: %w", err)
		}
	}
	return o, labels, nil
}

// reproModel is a model that can write a test.
func (a *app) reproModel(name string) (pawl.Model, error) {
	if name == mechanic.Name {
		return nil, misuse("the mechanic repairs code and writes no tests; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name another model with --model")
	}
	return a.model(name)
}

// openRepro opens a project and runs its tests once, before a model is asked.
func (a *app) openRepro(ctx context.Context, dir string, model pawl.Model, o *repro.Options) (*repro.Repro, error) {
	r, err := repro.New(ctx, dir, model, o)
	if err != nil {
		return nil, err
	}
	seen, stop := a.showCheck()
	b, err := r.Check(ctx, seen)
	stop()
	switch {
	case err != nil:
		return nil, errors.Join(err, r.Close())
	case a.quiet:
	case b.None:
		a.sayf("the project has no test yet")
	case len(b.Failed) > 0:
		a.sayf("these fail already, and are left as they are: %s", strings.Join(b.Failed[:min(len(b.Failed), 10)], ", "))
	}
	return r, nil
}

// reproResult is a result with the test.
type reproResult struct {
	pawl.Result

	Diff           string          `json:"diff"`
	Applied        bool            `json:"applied"`
	Test           string          `json:"test"`             // its identity
	Command        string          `json:"command"`          // runs it
	Runs           int             `json:"runs"`             // in how many runs of its own it failed the same way; all of them
	FirstBadCommit *string         `json:"first_bad_commit"` // null: not known
	Bisect         string          `json:"bisect"`           // what the search for it found
	Fix            json.RawMessage `json:"fix,omitempty"`    // the result of the fix that followed
}

// concludeRepro adds the test to the project and prints it. The copy stays as long as the run can be
// resumed.
func concludeRepro(ctx context.Context, a *app, r *repro.Repro, result pawl.Result, again reproAgain) (int, error) {
	if result.Status != pawl.StatusSuccess {
		ending(ctx, a, &result)
		if result.Status.Ended() {
			lastWords(ctx, a, result.Run)
		}
		var err error
		if a.json {
			err = printJSON(a.out, reproResult{Result: result})
		} else if !a.quiet {
			a.sayf("the project is unchanged")
		}
		return exitCode(result.Status), errors.Join(err, r.Release())
	}
	say := func(text string) { a.sayf("%s", text) }
	if a.quiet {
		say = nil
	}
	endingSince(ctx, a, &result, "a new test fails because of the bug")
	found, err := r.Finish(ctx, say)
	if err == nil && !again.DryRun {
		err = r.Apply(found.Diff)
	}
	if err != nil {
		return 0, errors.Join(err, r.Release())
	}
	command := joined(found.Command)
	whole := reproResult{Result: result, Diff: found.Diff.String(), Applied: !again.DryRun, Test: found.Test, Command: command, Runs: found.Runs, Bisect: found.Since.Note}
	if c := found.Since.Commit; c != "" {
		whole.FirstBadCommit = &c
	}
	handOver := append(again.handOver(r.Source().Env), "--test", command)
	if !a.quiet {
		a.sayf("%s failed the same way in %d of %d runs; read it before you trust it", found.Test, found.Runs, repro.Runs)
		a.sayf("%s", found.Since.Note)
		switch {
		case again.DryRun:
			a.sayf("not applied: this is a dry run")
		default:
			a.sayf("applied to %s", strings.Join(found.Diff.Files(), ", "))
			if !again.Fix {
				a.sayf("next: %s # to fix what it shows", a.typed(handOver...))
			}
		}
	}
	if !a.json {
		_, err = io.WriteString(a.out, whole.Diff)
	}
	if again.Fix && err == nil {
		a.then = func(ctx context.Context) (int, error) { return a.fixShown(ctx, r.Source().Env, again, command, whole) }
	} else if a.json {
		err = printJSON(a.out, whole)
	}
	return exitCode(result.Status), errors.Join(err, r.Close())
}
