package project

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/workspace"
)

// A Work is an agent's working copy of a project, with what the tests said at first. M is what the kind of agent knows
// besides.
type Work[M any] struct {
	Tree  *workspace.Tree
	Root  *os.Root
	Files *Files
	Suite *testrun.Suite

	Limits pawl.Limits
	Model  pawl.Model

	Running sync.Mutex // held while tests run
	told    string     // the state of the files at the last observation; guarded by Running

	mu     sync.Mutex // guards the tree, and what follows
	memory Memory[M]
}

// A Memory is what an agent knows beside the log, since it belongs to the copy.
type Memory[M any] struct {
	First *Before `json:"first,omitempty"`
	More  M       `json:"more"`
}

// Before is what the tests said before the first edit. Every other run is compared with it.
type Before struct {
	Report gotest.Report `json:"report"`
	Flaky  []string      `json:"flaky,omitempty"` // fail by chance, and are left out; sorted
	Away   []string      `json:"away,omitempty"`  // of these: they fail in the copy alone
	Value  float64       `json:"value,omitempty"` // of a metric, if there is one
}

// Begin makes a working copy of a project, whose test command it guesses if none is given, and opens it. It
// returns the copy's source. unnamed says what tests without names are no use for; empty: they are of use.
func (w *Work[M]) Begin(ctx context.Context, dir string, model pawl.Model, o *Options, rule Rule, unnamed string) (Source, error) {
	o = cmp.Or(o, &Options{})
	env, err := testrun.Variables(o.Env)
	if err != nil {
		return Source{}, err
	}
	argv, own := o.Test, []string(nil)
	if len(argv) == 0 {
		argv, err = testrun.Guess(dir)
	} else {
		own, argv, err = testrun.ParseCommand(argv)
	}
	if err != nil {
		return Source{}, err
	}
	if dir, err = filepath.Abs(dir); err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return Source{}, err
	}
	t, err := copyOf(ctx, dir, o.StateDir)
	if err != nil {
		return Source{}, err
	}
	s := Source{Dir: t.Source(), State: t.StateDir(), Test: argv, Env: slices.Concat(env, own), Timeout: o.Timeout}
	if err := w.open(t, s, model, o.Limits, rule, unnamed); err != nil {
		return s, errors.Join(err, t.Close())
	}
	return s, nil
}

// Reopen opens the working copy of an earlier process.
func (w *Work[M]) Reopen(s Source, model pawl.Model, l pawl.Limits, rule Rule) error {
	t, err := workspace.Open(s.State)
	if err != nil {
		return err
	}
	if err := w.open(t, s, model, l, rule, ""); err != nil {
		return err
	}
	data, err := os.ReadFile(w.file())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &w.memory)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("recall what is known of the copy: %w", err), w.Root.Close())
	}
	return nil
}

func (w *Work[M]) open(t *workspace.Tree, s Source, model pawl.Model, l pawl.Limits, rule Rule, unnamed string) error {
	tests, err := testrun.New(t.Dir(), s.Test, s.Env, s.Timeout, t.StateDir())
	if err != nil {
		return err
	}
	if unnamed != "" && !tests.Named() {
		return fmt.Errorf("the tests of %q have no names, so %s; use go test or pytest", strings.Join(s.Test, " "), unnamed)
	}
	root, err := os.OpenRoot(t.Dir())
	if err != nil {
		return fmt.Errorf("open the working copy: %w", err)
	}
	w.Tree, w.Root, w.Suite, w.Model, w.Limits = t, root, tests, model, l
	w.Files = &Files{Root: root, Rule: rule, Wrote: w.wrote, Fixed: CommandFiles(t.Dir(), s.Test)}
	return nil
}

// file is where what is known is kept, beside the copy.
func (w *Work[M]) file() string { return filepath.Join(w.Tree.StateDir(), "memory.json") }

// Dir returns the directory of the working copy.
func (w *Work[M]) Dir() string { return w.Tree.Dir() }

// Apply writes a difference to the project, all or none. It refuses when a file that it touches has
// changed there since the copy was made. Applying it again does nothing.
func (w *Work[M]) Apply(d Diff) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Tree.Apply(d.Diff)
}

// Release closes the working copy and leaves it for another process, as when the run is parked.
func (w *Work[M]) Release() error { return w.Root.Close() }

// Close removes the working copy and all that is known of it.
func (w *Work[M]) Close() error {
	err := w.Root.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(err, w.Tree.Close())
}

// wrote keeps the original of a file that is about to be edited. Where tests may only be added, it refuses an edit that
// takes something from a test.
func (w *Work[M]) wrote(name string, after []byte) error {
	if IsTest(name) && (w.Files.Rule == Tests || w.Files.Rule == Kept) {
		original, err := os.ReadFile(filepath.Join(w.Tree.Source(), filepath.FromSlash(name)))
		if err == nil {
			err = keeps(name, original, after)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Tree.Keep(name)
}

// Edited returns the files that were edited, in order.
func (w *Work[M]) Edited() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Tree.Kept()
}

// Note changes what is known, durably.
func (w *Work[M]) Note(change func(*Memory[M])) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.memory)
	data, err := json.Marshal(w.memory)
	if err == nil {
		err = os.WriteFile(w.file()+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(w.file()+".new", w.file())
	}
	if err != nil {
		return fmt.Errorf("note what is known of the copy: %w", err)
	}
	return nil
}

// Known returns what is known.
func (w *Work[M]) Known() Memory[M] {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.memory
}

// Diff returns how the edited files differ now from those of the project, without what running the tests has
// changed.
func (w *Work[M]) Diff() (Diff, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d, err := w.Tree.Diff()
	return Diff{d}, err
}

// Flaky lists the tests that are no part of the goal, since they passed once and failed once with nothing changed
// between, or fail in the copy alone. It is empty before the tests have run.
func (w *Work[M]) Flaky() []string {
	if first := w.Known().First; first != nil {
		return first.Flaky
	}
	return nil
}

// First returns what the tests said before the first edit, in this process or an earlier one. If that is not
// known it runs them, and what fails once more, and has check look at the outcome. The caller holds Running.
func (w *Work[M]) First(ctx context.Context, check func(*Before, testrun.Result) error) (*Before, error) {
	if known := w.Known().First; known != nil {
		return known, nil
	}
	now, err := w.Suite.Run(ctx, "")
	if err != nil {
		return nil, err
	}
	flaky, err := w.Suite.Again(ctx, now)
	if err != nil {
		return nil, err
	}
	now = now.Without(flaky)
	first := &Before{Report: now.Report, Flaky: flaky}
	if err := check(first, now); err != nil {
		return nil, err
	}
	return first, w.Note(func(m *Memory[M]) { m.First = first })
}

// Again runs a form of the test command, and once more if something fails that passed at first: what passes
// then fails by chance. It returns the run without that, and what is lost. The caller holds Running.
func (w *Work[M]) Again(ctx context.Context, first *Before, command []string) (now testrun.Result, lost []string, err error) {
	if now, err = w.Suite.Once(ctx, command, ""); err != nil {
		return now, nil, err
	}
	lost = gotest.Lost(first.Report, now.Without(first.Flaky).Report)
	if packages, _ := testrun.Chancy(now); len(lost) > 0 && len(packages) > 0 && now.Took <= testrun.LongestAgain {
		second, err := w.Suite.Once(ctx, w.Suite.Only(packages), "")
		if err != nil {
			return now, nil, err
		}
		chance := slices.DeleteFunc(slices.Clone(lost), func(id string) bool { return !second.Report.Passes(id) })
		if len(chance) > 0 {
			more := *first
			more.Flaky = slices.Concat(first.Flaky, chance)
			slices.Sort(more.Flaky)
			if err := w.Note(func(m *Memory[M]) { m.First = &more }); err != nil {
				return now, nil, err
			}
			first = &more
		}
	}
	lost = slices.DeleteFunc(lost, func(id string) bool { return slices.Contains(first.Flaky, id) })
	return now.Without(first.Flaky), lost, nil
}
