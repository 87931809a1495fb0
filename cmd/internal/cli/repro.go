package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/repro"
)

func reproCommand(a *app) *cobra.Command {
	f := &projecting{}
	c := a.command("repro (TEXT | FILE) [DIR] [flags]", "Write a test that fails because of a bug, from its description", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) (int, error) {
		dir := "."
		if len(args) > 1 {
			dir = args[1]
		}
		return reproduce(ctx, a, f, args[0], dir)
	})
	f.flags(c, "go test or pytest, ")
	return c
}

func reproduce(ctx context.Context, a *app, f *projecting, from, dir string) (int, error) {
	text, err := a.description(ctx, from)
	if err != nil {
		return 0, err
	}
	in, err := f.read(a, dir)
	if err != nil {
		return 0, err
	}
	name, err := a.thinking(f.model, "writes no tests")
	if err != nil {
		return 0, err
	}
	o := &repro.Options{Test: in.test, Limits: in.limits, Env: f.env, StateDir: in.state}
	return f.drive(ctx, a, in, name, func(ctx context.Context, model pawl.Model) (*openCopy, error) {
		r, err := a.openRepro(ctx, dir, model, o)
		if err != nil {
			return nil, err
		}
		made := a.openedRepro(r, runAgain{Model: name, DryRun: f.dryRun, Stop: f.driving.stop, Typed: dir})
		made.input = repro.Input(text)
		return made, nil
	})
}

// description is the text that describes a bug: of a file, of standard input, or the argument itself.
func (con *console) description(ctx context.Context, from string) (text string, err error) {
	switch info, missing := os.Stat(from); {
	case from == "-":
		text, err = con.stdin(ctx)
	case missing != nil && !strings.ContainsAny(from, " \n") && strings.ContainsAny(from, "./"):
		return "", misuse("file %s does not exist; give the description of a bug, or a file with it", from)
	case missing != nil:
		text = from
	case info.IsDir():
		return "", misuse("%s is a directory; give the description of a bug, or a file with it, before the project's directory", from)
	default:
		var data []byte
		data, err = readContext("the description", from)
		text = string(data)
	}
	if err == nil && strings.TrimSpace(text) == "" {
		err = misuse("the description of the bug is empty; say what happens and what should happen")
	}
	return text, err
}

// openRepro opens a project and runs its tests once, before a model is asked.
func (a *app) openRepro(ctx context.Context, dir string, model pawl.Model, o *repro.Options) (*repro.Repro, error) {
	r, err := repro.New(ctx, dir, model, o)
	if err != nil {
		return nil, err
	}
	seen, stop := a.showCheck()
	passed, failed, err := r.Check(ctx, seen)
	stop()
	switch {
	case err != nil:
		return nil, errors.Join(err, r.Close())
	case a.quiet:
	case passed == 0 && len(failed) == 0:
		a.sayf("the project has no test yet")
	case len(failed) > 0:
		a.sayf("these fail already, and are left as they are: %s", strings.Join(failed[:min(len(failed), 10)], ", "))
	}
	return r, nil
}

// reproResult is a result with the test.
type reproResult struct {
	pawl.Result

	Diff    string `json:"diff"`
	Applied bool   `json:"applied"`
	Test    string `json:"test"`    // its identity
	Command string `json:"command"` // runs it
	Runs    int    `json:"runs"`    // in how many runs of its own it failed the same way; all of them
}

// concludeRepro adds the test to the project and prints it. The copy stays as long as the run can be
// resumed.
func concludeRepro(ctx context.Context, a *app, r *repro.Repro, result pawl.Result, again runAgain) (int, error) {
	if result.Status != pawl.StatusSuccess {
		return unfinished(ctx, a, &result, func() any { return reproResult{Result: result} }, r.Release)
	}
	endingSince(ctx, a, &result, "a new test fails because of the bug")
	found, err := r.Finish(ctx)
	if err == nil && !again.DryRun {
		err = r.Apply(found.Diff)
	}
	if err != nil {
		return 0, errors.Join(err, r.Release())
	}
	command := joined(found.Command)
	if !a.quiet {
		a.sayf("%s failed the same way in %d of %d runs; read it before you trust it", found.Test, found.Runs, repro.Runs)
		if again.DryRun {
			a.sayf("not applied: this is a dry run")
		} else {
			handOver := []string{"pawl", "fix", again.Typed}
			for _, v := range r.Source().Env {
				handOver = append(handOver, "--env", v)
			}
			a.sayf("applied to %s", strings.Join(found.Diff.Files(), ", "))
			a.sayf("next: %s # to fix what it shows", a.typed(append(handOver, "--test", command)...))
		}
	}
	if a.json {
		err = printJSON(a.out, reproResult{Result: result, Diff: found.Diff.String(), Applied: !again.DryRun, Test: found.Test, Command: command, Runs: found.Runs})
	} else {
		_, err = io.WriteString(a.out, found.Diff.String())
	}
	return exitCode(result.Status), errors.Join(err, r.Close())
}

// joined is a command as --test takes it, and a shell. ^ and a last $ mean nothing to them.
func joined(command []string) string {
	out := make([]string, len(command))
	for i, w := range command {
		if out[i] = w; w == "" || strings.ContainsAny(strings.TrimSuffix(w, "$"), " \t\n'\"\\$`()[]{}&|;<>*?#~!") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// openedRepro is a reproduction and how its runs are concluded.
func (a *app) openedRepro(r *repro.Repro, again runAgain) *openCopy {
	return &openCopy{copyAgent: r, state: r.Source().State, again: again, conclude: func(ctx context.Context, result pawl.Result) (int, error) {
		return concludeRepro(ctx, a, r, result, again)
	}}
}
