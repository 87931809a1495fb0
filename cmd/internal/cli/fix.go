package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
)

// fixing holds the options of pawl fix.
type fixing struct {
	projecting
	allowEdits bool
	keep       string
}

func fixCommand(a *app) *cobra.Command {
	f := &fixing{}
	c := a.command("fix [DIR] [flags]", "Fix the failing tests of the project in DIR", cobra.MaximumNArgs(1), func(ctx context.Context, args []string) (int, error) {
		dir := "."
		if len(args) > 0 {
			dir = args[0]
		}
		return fixProject(ctx, a, f, dir)
	})
	c.Long = "Fix the failing tests of the project in DIR (default: the current directory). The agent works in a copy.\nWhen every test passes, the command applies the diff of the copy to the project, once."
	c.Flags().BoolVar(&f.allowEdits, "allow-test-edits", false, "allow edits to tests")
	c.Flags().StringVar(&f.keep, "keep", "", "apply the diff even if tests still fail; best: the state in which the fewest failed")
	c.Flags().Lookup("keep").NoOptDefVal = string(testfix.Last)
	f.flags(c, "")
	return c
}

// joinKeep accepts best as a separate argument after --keep: since the value of the
// flag is optional, cobra would read it as the directory.
func joinKeep(args []string) []string {
	for i := 0; i+1 < len(args) && args[i] != "--"; i++ {
		if args[i] == "--keep" && args[i+1] == string(testfix.Best) {
			joined := append(append([]string{}, args[:i]...), "--keep="+args[i+1])
			return append(joined, args[i+2:]...)
		}
	}
	return args
}

func fixProject(ctx context.Context, a *app, f *fixing, dir string) (int, error) {
	in, err := f.read(a, dir)
	if err != nil {
		return 0, err
	}
	choices := testfix.Choices{AllowTestEdits: f.allowEdits, Keep: testfix.Keep(f.keep)}
	o := &testfix.Options{Test: in.test, Limits: in.limits, Env: f.env, StateDir: in.state}
	if f.keep != "" && choices.Keep != testfix.Last && choices.Keep != testfix.Best {
		return 0, misuse("--keep=%s: write --keep or --keep best", f.keep)
	}
	name := a.fixModel(f.model)
	return f.drive(ctx, a, in, name, func(ctx context.Context, model pawl.Model) (*openCopy, error) {
		fix, passed, err := a.openFix(ctx, dir, model, choices, o)
		if err != nil {
			return nil, err
		}
		return a.openedFix(fix, runAgain{Model: name, DryRun: f.dryRun, Stop: f.driving.stop}, passed), nil
	})
}

// openedFix is a fix with its task and how its runs are concluded. passed is how many tests pass, if all do.
func (a *app) openedFix(fix *testfix.Fix, again runAgain, passed int) *openCopy {
	return &openCopy{copyAgent: fix, state: fix.Source().State, input: fix.Input(), again: again, conclude: func(ctx context.Context, r pawl.Result) (int, error) {
		return concludeFix(ctx, a, fix, r, again.DryRun, passed)
	}}
}

// fixState is where working copies are made: next to the runs rather than with the
// temporary files, because a suspended run may wait longer than those are kept.
// Empty, which selects the temporary directory after all: the place is unknown or
// inside the project.
func (env *environment) fixState(dir string) string {
	own, err := env.ownDatabase()
	if err != nil {
		return ""
	}
	state := filepath.Join(filepath.Dir(own), "fix")
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if rel, err := filepath.Rel(abs, state); err != nil || filepath.IsLocal(rel) {
		return ""
	}
	return state
}

// fixModel is the model for a fix: the one named, else one whose key is set, else the
// mechanic.
func (a *app) fixModel(named string) string {
	if name := a.namedModel(named); name != "" {
		return name
	}
	if !a.quiet {
		a.sayf("no key is set and PAWL_MODEL names no model: using the mechanic, which is offline and rule-based and repairs Go code only")
	}
	return mechanic.Name
}

// fixResult is a result with its diff.
type fixResult struct {
	pawl.Result

	Diff    string   `json:"diff"`
	Applied bool     `json:"applied"`
	Flaky   []string `json:"flaky"` // tests that fail by chance
}

// concludeFix applies the diff that is to be kept to the project and prints it. The
// copy stays as long as the run can be resumed.
func concludeFix(ctx context.Context, a *app, fix *testfix.Fix, r pawl.Result, dryRun bool, passed int) (int, error) {
	ctx = context.WithoutCancel(ctx) // apply the diff even if ctx ends now
	if r.Status == pawl.StatusSuccess {
		endingSince(ctx, a, &r, "every test passes")
	} else {
		ending(ctx, a, &r)
	}
	if r.Status.Ended() && r.Status != pawl.StatusSuccess {
		lastWords(ctx, a, r.Run)
	}
	var diff testfix.Diff
	if r.Status.Ended() { // a suspended run has no outcome yet
		var err error
		if diff, err = fix.Outcome(r.Status); err != nil {
			return 0, errors.Join(err, fix.Release())
		}
	}
	applied := !dryRun && !diff.Empty()
	var err error
	if applied {
		err = fix.Apply(diff)
	}
	if a.json {
		out := fixResult{Result: r, Diff: diff.String(), Applied: applied && err == nil, Flaky: append([]string{}, fix.Flaky()...)} // no null
		err = errors.Join(err, printJSON(a.out, out))
	} else {
		_, printing := io.WriteString(a.out, diff.String())
		err = errors.Join(err, printing)
	}
	if err != nil {
		return 0, errors.Join(err, fix.Release())
	}
	if !a.quiet {
		if flaky := fix.Flaky(); len(flaky) > 0 {
			a.sayf("flaky and ignored (they passed once and failed once without a change): %s", strings.Join(flaky, ", "))
		}
		switch {
		case applied:
			a.sayf("applied to %s", strings.Join(diff.Files(), ", "))
		case !diff.Empty():
			a.sayf("not applied: this is a dry run")
		case passed > 0:
			a.sayf("nothing to fix: %s", passing(passed))
		default:
			a.sayf("the project is unchanged")
		}
	}
	if r.Status == pawl.StatusSuccess {
		return exitCode(r.Status), fix.Close()
	}
	return exitCode(r.Status), fix.Release()
}

// lastWords prints the model's last message in full: why it could not fix the tests.
func lastWords(ctx context.Context, a *app, run string) {
	j := a.current()
	if a.quiet || j == nil {
		return
	}
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return // the ending was printed above
	}
	text := s.LastText()
	if reply, ok := s.Replied(pawl.PurposeFinal); ok { // at a limit
		text = reply.Text()
	}
	if text = strings.TrimSpace(redact.Text(display.Clean(text))); text != "" {
		fmt.Fprintln(a.err, "it said: "+text)
	}
}
