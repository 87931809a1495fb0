package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

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
	c.Flags().StringVar(&f.keep, "keep", "", "apply the diff even if tests still fail; best: the state in which the most passed")
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
	if f.keep != "" && choices.Keep != testfix.Last && choices.Keep != testfix.Best {
		return 0, misuse("--keep=%s: write --keep or --keep best", f.keep)
	}
	return f.drive(ctx, a, in, a.fixModel(f.model), func(model pawl.Model) (blueprint, error) {
		return testfix.New(ctx, dir, model, choices, f.options(in))
	})
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

// checkEvery is how often the state of a long run of the tests is said where there is no
// terminal.
const checkEvery = 10 * time.Second

// showCheck shows how far the tests are, until stop.
func (a *app) showCheck() (seen func(packages, failed int), stop func()) {
	var mu sync.Mutex
	packages, failed := 0, 0
	seen = func(p, f int) {
		mu.Lock()
		defer mu.Unlock()
		packages, failed = p, f
	}
	if a.quiet {
		return seen, func() {}
	}
	began := time.Now()
	return seen, ticking(checkEvery, func() {
		mu.Lock()
		defer mu.Unlock()
		a.sayf("running the tests: %s so far, %d failed, %v", counted(packages, "package"), failed, time.Since(began).Round(time.Second))
	})
}
