package testfix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/workspace"
)

// A Fix is one attempt to fix a project: its working copy, the agent that works there, and
// the outcome. Its methods are safe for concurrent use; only one process at a time may have
// it open.
type Fix struct {
	source Source
	limits pawl.Limits
	model  pawl.Model
	tree   *workspace.Tree
	root   *os.Root
	files  *project.Files
	suite  *testrun.Suite

	outside types.Importer // see imports

	running sync.Mutex // held while tests run
	reach   *reach     // of the state that edits were tried on last; guarded by running

	mu       sync.Mutex // guards what follows, and the tree
	edited   map[string]bool
	first    *testrun.Result
	flaky    []string // with away: these are no part of the goal
	away     []string // fail in the copy and pass in the project
	course   course
	best     *best
	cache    []cached      // latest last
	observed string        // the state of the files at the last observation
	proved   []cached      // trials of all tests with edits that were not made yet, latest last
	seen     seenLines     // by the last measure of coverage
	ranked   ranked        // the mechanic's edits for the last state it was asked about
	leads    string        // see lead
	pace     time.Duration // of the slowest tests seen to end in a trial
}

// New makes a working copy of the project in dir and prepares an agent that fixes it with the
// model. It runs nothing and does not touch the project.
func New(ctx context.Context, dir string, model pawl.Model, o *Options) (*Fix, error) {
	if o == nil {
		o = &Options{}
	}
	env, err := testrun.Variables(o.Env)
	if err != nil {
		return nil, err
	}
	module := o.Module
	var c testrun.Command
	if len(o.Test) > 0 {
		if c, err = testrun.ParseCommand(o.Test); err != nil {
			return nil, err
		}
		module = cmp.Or(c.Dir, module)
	}
	if module == "." {
		module = ""
	}
	if dir, err = project.Inside(dir, module); err != nil {
		return nil, err
	}
	if len(o.Test) == 0 {
		if c.Argv, err = testrun.Guess(dir); err != nil {
			return nil, err
		}
	}
	keep := o.Keep
	if keep == 0 {
		keep = Nothing
	}
	if keep < Nothing || keep > Best {
		return nil, fmt.Errorf("keep: %v is none of nothing, last and best", keep)
	}
	t, err := workspace.Copy(ctx, dir, &workspace.Options{Dir: o.StateDir, Beside: project.Surroundings(dir), History: true})
	if err != nil {
		return nil, err
	}
	f, err := start(t, model, Source{
		Dir: t.Source(), Module: filepath.ToSlash(module), State: t.StateDir(), Test: c.Argv, Env: slices.Concat(env, c.Env), AllowTestEdits: o.AllowTestEdits, Keep: keep, Timeout: o.Timeout,
	}, o.Limits)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return f, nil
}

// Open reopens the working copy of an earlier process. The limits override the agent's own.
func Open(s Source, model pawl.Model, l pawl.Limits) (*Fix, error) {
	t, err := workspace.Open(s.State, nil)
	if err != nil {
		return nil, err
	}
	f, err := start(t, model, s, l)
	if err != nil {
		return nil, err
	}
	if err := f.recall(); err != nil {
		return nil, errors.Join(err, f.root.Close())
	}
	return f, nil
}

func start(t *workspace.Tree, model pawl.Model, s Source, l pawl.Limits) (*Fix, error) {
	tests, err := testrun.New(t.Dir(), s.Test, s.Env, s.Timeout, t.StateDir())
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(t.Dir())
	if err != nil {
		return nil, fmt.Errorf("open the working copy: %w", err)
	}
	f := &Fix{source: s, limits: l, model: model, tree: t, root: root, suite: tests, edited: map[string]bool{}}
	rule := project.Code
	if s.AllowTestEdits {
		rule = project.All
	}
	f.files = &project.Files{Root: root, Rule: rule, Wrote: f.wrote, Changed: f.changed, Fixed: project.CommandFiles(t.Dir(), s.Test)}
	return f, nil
}

// Flaky lists the tests that passed once and failed once with nothing changed
// between, sorted. They are no part of the goal. Empty before the first look at
// the tests.
func (f *Fix) Flaky() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.flaky), func(id string) bool { return slices.Contains(f.away, id) })
}

// Source says how to make the agent again. It is also in Agent.Source.
func (f *Fix) Source() Source { return f.source }

// Dir returns the directory of the working copy.
func (f *Fix) Dir() string { return f.tree.Dir() }

// Input is the agent's task. After [Fix.Check], it has what the mechanic finds out about the
// failures, if the model has an endpoint.
func (f *Fix) Input() string {
	return fmt.Sprintf("Make the failing tests of %s pass. They are run with: %s%s",
		filepath.Base(f.source.Dir), strings.Join(f.source.Test, " "), f.leads)
}

// A Diff is what a run changed, in the files that the agent edited.
type Diff struct {
	diff   workspace.Diff
	module string // where they are in the project
}

// String returns the diff in git's unified form, with paths relative to the project; empty:
// nothing changed.
func (d Diff) String() string { return d.diff.Beneath(d.module).String() }

// Empty reports whether nothing changed.
func (d Diff) Empty() bool { return d.diff.Empty() }

// Files returns the paths that changed, relative to the project, sorted.
func (d Diff) Files() []string {
	var paths []string
	for _, c := range d.diff.Beneath(d.module).Changes {
		paths = append(paths, c.Path)
	}
	return paths
}

// Diff returns how the edited files differ now from those of the project.
func (f *Fix) Diff(ctx context.Context) (Diff, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.diff(ctx)
}

// diff leaves out what running the tests has changed.
func (f *Fix) diff(ctx context.Context) (Diff, error) {
	d, err := f.tree.Diff(ctx)
	if err != nil {
		return Diff{}, err
	}
	return Diff{d.Only(func(c workspace.Change) bool {
		return f.edited[c.Path] && (f.source.AllowTestEdits || !project.IsTest(c.Path)) && !slices.Contains(f.files.Fixed, c.Path)
	}), f.source.Module}, nil
}

// Outcome returns what of the run's work is to be kept, given how it ended:
// after a success everything, else what [Options.Keep] says.
func (f *Fix) Outcome(ctx context.Context, status pawl.Status) (Diff, error) {
	switch {
	case status == pawl.StatusSuccess || f.source.Keep == Last:
		return f.Diff(ctx)
	case f.source.Keep == Best:
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.best != nil {
			return Diff{f.best.Diff, f.source.Module}, nil
		}
	}
	return Diff{}, nil
}

// Apply writes the changes to the project, all or none. It refuses when a file
// they touch has changed there since the copy was made. Applying the same
// changes again does nothing.
func (f *Fix) Apply(d Diff) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tree.Apply(d.diff)
}

// Release lets go of the working copy and leaves it for [Open], as when the
// run is parked.
func (f *Fix) Release() error { return f.root.Close() }

// Close removes the working copy and all that is known of it.
func (f *Fix) Close() error {
	err := f.root.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(err, f.tree.Close())
}
