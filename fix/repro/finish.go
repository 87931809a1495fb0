package repro

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/beneath"
)

// A Found is the outcome of a run that succeeded.
type Found struct {
	Test    string   // the identity of the test
	Command []string // runs it alone, in the project
	Runs    int      // in how many runs of its own it failed the same way; all of them
	Diff    Diff     // the tests that were added
	Since   Since
}

// Finish finds out since which commit the test fails, makes it smaller, and returns the outcome. It
// changes only the copy, and may be called again after a crash. It says what it does to say, if that is
// not nil.
func (r *Repro) Finish(ctx context.Context, say func(string)) (Found, error) {
	r.Running.Lock()
	defer r.Running.Unlock()
	if say == nil {
		say = func(string) {}
	}
	l, err := r.look(ctx)
	if err != nil {
		return Found{}, err
	}
	if len(l.Open) > 0 {
		return Found{}, fmt.Errorf("%w: %s", errNotYet, strings.Join(l.Why, "; "))
	}
	t := l.target
	since, h, err := r.since(ctx, t, say)
	if err != nil {
		return Found{}, err
	}
	defer h.close()
	if testrun.IsGoTest(r.source.Test) {
		if err := r.shrink(ctx, t, h, say); err != nil {
			return Found{}, err
		}
	}
	d, err := r.Diff(ctx)
	if err != nil {
		return Found{}, err
	}
	return Found{Test: l.Test, Command: r.command(t), Runs: Runs, Diff: d, Since: since}, nil
}

// command runs a test alone, as the test command would, in the directory of the project.
func (r *Repro) command(t target) []string {
	argv := r.source.Test
	if !testrun.IsGoTest(argv) {
		out := append([]string{}, argv[:r.Suite.Pytest]...)
		return append(out, r.identity(t.pkg, t.test))
	}
	out := append([]string{}, argv[:2]...)
	if r.source.Module != "" {
		out = append(out, "-C", r.source.Module)
	}
	g, err := testrun.ParseGoCommand(argv[2:])
	if err == nil {
		out = append(out, g.Build...)
	}
	out = append(out, "-run", "^"+t.test+"$", place(r.dirOf(t)))
	return append(out, g.Args...)
}

// dirOf is the directory of a test's package, relative to the module.
func (r *Repro) dirOf(t target) string {
	return strings.TrimPrefix(strings.TrimPrefix(t.pkg, r.Suite.Module()), "/")
}

// replace writes the files as they are to be; an empty text removes a file that the project does not
// have.
func (r *Repro) replace(texts map[string]string) error {
	for name, text := range texts {
		if text == "" {
			if err := r.Root.Remove(filepath.FromSlash(name)); err != nil {
				return beneath.Plainly(name, err)
			}
			continue
		}
		perm := fs.FileMode(0o644)
		if _, p, err := r.Files.Read(name); err == nil {
			perm = p
		}
		if err := r.Files.Write(name, []byte(text), perm); err != nil {
			return err
		}
	}
	return nil
}
