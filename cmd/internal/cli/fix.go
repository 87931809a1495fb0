package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/terminal"
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
	c.Long = "Fix the failing tests of the project in DIR (default: the current directory). The agent works in a copy.\nWhen every test passes, the command applies the diff of the copy to the project, once. Of several\nGo modules whose tests fail, it fixes one that requires none of the others, and names the others."
	c.Flags().BoolVar(&f.allowEdits, "allow-test-edits", false, "allow edits to tests")
	c.Flags().StringVar(&f.keep, "keep", "", "apply the diff even if tests still fail; best: the state in which the fewest failed")
	c.Flags().Lookup("keep").NoOptDefVal = testfix.Last.String()
	f.flags(c, "")
	return c
}

// joinKeep accepts best as a separate argument after --keep: since the value of the
// flag is optional, cobra would read it as the directory.
func joinKeep(args []string) []string {
	for i := 0; i+1 < len(args) && args[i] != "--"; i++ {
		if args[i] == "--keep" && args[i+1] == testfix.Best.String() {
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
	o := &testfix.Options{AllowTestEdits: f.allowEdits, Test: in.test, Limits: in.limits, Env: f.env, StateDir: in.state}
	if f.keep != "" {
		if err := o.Keep.UnmarshalText([]byte(f.keep)); err != nil {
			return 0, misuse("--keep=%s: write --keep or --keep best", f.keep)
		}
	}
	name := a.fixModel(f.model)
	return f.drive(ctx, a, in, name, a.model, func(ctx context.Context, model pawl.Model) (*openCopy, error) {
		fix, seen, err := a.openFix(ctx, dir, model, o)
		if err != nil {
			return nil, err
		}
		return a.openedFix(fix, runAgain{Model: name, DryRun: f.dryRun, Stop: f.driving.stop}, seen), nil
	})
}

// openedFix is a fix with its task and how its runs are concluded.
func (a *app) openedFix(fix *testfix.Fix, again runAgain, seen survey) *openCopy {
	return &openCopy{copyAgent: fix, state: fix.Source().State, input: fix.Input(), again: again, conclude: func(ctx context.Context, r pawl.Result) (int, error) {
		return concludeFix(ctx, a, fix, r, again.DryRun, seen)
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

	Diff    string `json:"diff"`
	Applied bool   `json:"applied"`
	// Plausible says that nothing but the tests speaks for the diff. Evidence is what was
	// found for and against it.
	Plausible bool               `json:"plausible"`
	Evidence  []testfix.Evidence `json:"evidence"`
	// Changes are inputs for which the diff changes what the tests print.
	Changes []testfix.Changed `json:"changes"`
	Flaky   []string          `json:"flaky"` // tests that fail by chance
}

// concludeFix applies the diff that is to be kept to the project and prints it. The
// copy stays as long as the run can be resumed.
func concludeFix(ctx context.Context, a *app, fix *testfix.Fix, r pawl.Result, dryRun bool, seen survey) (int, error) {
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
		if diff, err = fix.Outcome(ctx, r.Status); err != nil {
			return 0, errors.Join(err, fix.Release())
		}
	}
	applied := !dryRun && !diff.Empty()
	appraisal := testfix.Appraisal{Evidence: []testfix.Evidence{}}
	var err error
	if r.Status == pawl.StatusSuccess && !diff.Empty() {
		if appraisal, err = fix.Appraise(ctx); err != nil {
			return 0, errors.Join(err, fix.Release())
		}
	}
	if len(appraisal.Others) > 0 && a.attended() && !a.json && !a.quiet {
		if diff, err = choosePatch(ctx, a, fix, diff, appraisal); err != nil {
			return 0, errors.Join(err, fix.Release())
		}
		applied = applied && !diff.Empty()
	}
	if applied {
		err = fix.Apply(diff)
	}
	if a.json {
		out := fixResult{
			Result: r, Diff: diff.String(), Applied: applied && err == nil, Plausible: appraisal.Plausible, Evidence: appraisal.Evidence,
			Changes: append([]testfix.Changed{}, appraisal.Changes...), Flaky: append([]string{}, fix.Flaky()...), // empty lists rather than null
		}
		if r.Status == pawl.StatusSuccess && !diff.Empty() {
			out.Confidence = new(appraisal.Confidence())
		}
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
		sayAppraisal(a, appraisal)
		switch {
		case applied:
			a.sayf("applied to %s", strings.Join(diff.Files(), ", "))
		case !diff.Empty():
			a.sayf("not applied: this is a dry run")
		case seen.passed > 0:
			a.sayf("nothing to fix: %s", passing(seen.passed))
		default:
			a.sayf("the project is unchanged")
		}
		seen.say(a)
	}
	if r.Status == pawl.StatusSuccess {
		return exitCode(r.Status), fix.Close()
	}
	return exitCode(r.Status), fix.Release()
}

// choosePatch lets the person at the terminal choose between the fix and other edits with which
// every test passes. It returns the diff of what was chosen; it is empty for none.
func choosePatch(ctx context.Context, a *app, fix *testfix.Fix, diff testfix.Diff, p testfix.Appraisal) (testfix.Diff, error) {
	fmt.Fprintf(a.err, "\n%s\nEvery test passes with other edits, too. Which should it be?\n  1  the diff above\n", diff)
	for i, o := range p.Others {
		fmt.Fprintf(a.err, "  %d  %s\n", i+2, o.Says)
	}
	lines := a.lineReader()
	lines.drain(a.in)
	for {
		fmt.Fprintf(a.err, "  1 to %d, or n for none; 1 if you press Enter\n", len(p.Others)+1)
		line, err := lines.next(ctx)
		if err != nil {
			return testfix.Diff{}, nil //nolint:nilerr // no answer is none of them; the copy stays
		}
		switch word := strings.TrimSpace(line); word {
		case "", "1":
			return diff, nil
		case "n", "none":
			return testfix.Diff{}, nil
		default:
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 || n > len(p.Others)+1 {
				continue
			}
			if err := fix.Use(p.Others[n-2]); err != nil {
				return testfix.Diff{}, err
			}
			return fix.Diff(ctx)
		}
	}
}

// sayAppraisal prints what speaks for and against a fix.
func sayAppraisal(a *app, p testfix.Appraisal) {
	if p.Plausible {
		a.sayf("plausible: every test passes, but they may not show all that is wrong")
	}
	for _, e := range p.Evidence {
		switch {
		case e.For:
			a.sayf("for the fix: %s", e.Says)
		case e.Kind == "none":
			a.sayf("unknown: %s", e.Says)
		default:
			a.sayf("against it: %s", e.Says)
		}
	}
	sayChanges(a, p.Changes)
}

// sayChanges prints for which other inputs a fix changes what the tests print.
func sayChanges(a *app, list []testfix.Changed) {
	if len(list) == 0 {
		return
	}
	a.sayf("what changes for other inputs than those of the tests:")
	cell := func(printed string) string { // as it was printed, where white space may be the difference
		return cmp.Or(strings.ReplaceAll(plain(terminal.Clean(printed)), "\t", " "), "(nothing)")
	}
	w := tabwriter.NewWriter(a.err, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  input\tbefore\tnow")
	for _, c := range list {
		fmt.Fprintf(w, "  %s (%s)\t%s\t%s\n", oneLine(c.Input), oneLine(c.At), cell(c.Before), cell(c.Now))
	}
	flushTable(w)
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
	if text = strings.TrimSpace(redact.Text(terminal.Clean(text))); text != "" {
		fmt.Fprintln(a.err, "it said: "+text)
	}
}
