package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/refactor"
	"github.com/pawl-run/pawl/fix/repro"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
)

func fixCommand(a *app) *cobra.Command {
	p := &projecting{}
	choices := testfix.Choices{}
	c := p.command(a, "fix [DIR] [flags]", "Fix the failing tests of the project in DIR", "", 0, func(ctx context.Context, _ []string, dir string) (int, error) {
		if k := choices.Keep; k != "" && k != testfix.Last && k != testfix.Best {
			return 0, misuse("--keep=%s: write --keep or --keep best", k)
		}
		return p.drive(ctx, a, dir, "", func(model pawl.Model, o *testfix.Options) (blueprint, error) {
			return testfix.New(ctx, dir, model, choices, o)
		})
	})
	c.Long = "Fix the failing tests of the project in DIR (default: the current directory). The agent works in a copy.\nWhen every test passes, the command applies the diff of the copy to the project, once."
	c.Flags().BoolVar(&choices.AllowTestEdits, "allow-test-edits", false, "allow edits to tests")
	c.Flags().StringVar((*string)(&choices.Keep), "keep", "", "apply the diff even if tests still fail; best: the state in which the most passed")
	c.Flags().Lookup("keep").NoOptDefVal = string(testfix.Last)
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
	var packages, failed atomic.Int64
	seen = func(p, f int) {
		packages.Store(int64(p))
		failed.Store(int64(f))
	}
	if a.quiet {
		return seen, func() {}
	}
	began := time.Now()
	return seen, screen.Every(checkEvery, func() {
		a.sayf("running the tests: %s so far, %d failed, %v", display.Count(int(packages.Load()), "package"), failed.Load(), time.Since(began).Round(time.Second))
	})
}

func reproCommand(a *app) *cobra.Command {
	p := &projecting{}
	return p.command(a, "repro (TEXT | FILE) [DIR] [flags]", "Write a test that fails because of a bug, from its description", knownTests, 1,
		func(ctx context.Context, args []string, dir string) (int, error) {
			text, err := a.description(ctx, args[0])
			if err != nil {
				return 0, err
			}
			return p.drive(ctx, a, dir, "writes no tests", func(model pawl.Model, o *testfix.Options) (blueprint, error) {
				return repro.New(ctx, dir, text, model, o)
			})
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

func refactorCommand(a *app) *cobra.Command {
	p := &projecting{}
	name := ""
	c := p.command(a, "refactor GOAL [DIR] [flags]", "Improve the form of code towards GOAL without changing what it does", knownTests, 1,
		func(ctx context.Context, args []string, dir string) (_ int, err error) {
			metric := refactor.Metric{Name: name}
			if command, is := strings.CutPrefix(name, refactor.Command+":"); is {
				metric.Name = refactor.Command
				if metric.Command, err = words(command); err != nil {
					return 0, misuse("--metric: %w", err)
				}
			}
			return p.drive(ctx, a, dir, "refactors nothing", func(model pawl.Model, o *testfix.Options) (blueprint, error) {
				return refactor.New(ctx, dir, args[0], metric, model, o)
			})
		})
	c.Flags().StringVar(&name, "metric", "", "what must become less: lines, complexity, or cmd:COMMAND, which prints a number (default: complexity, lines outside Go)")
	return c
}

// words splits a command into words as a shell would, with quotes and backslashes only.
func words(text string) ([]string, error) {
	var out []string
	var word strings.Builder
	open, begun := rune(0), false
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && open != '\'':
			escaped, begun = true, true
		case open != 0 && r == open:
			open = 0
		case open != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			open, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				out = append(out, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if open != 0 || escaped {
		return nil, errors.New("a quote is not closed")
	}
	if begun {
		out = append(out, word.String())
	}
	if len(out) == 0 {
		return nil, errors.New("the command is empty")
	}
	return out, nil
}
