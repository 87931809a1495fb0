package refactor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
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

// Options are the choices that New leaves. The zero value is right for a Go module.
type Options struct {
	// Metric is what must become less: Lines, Complexity, Duplicates, Places or Command. Empty is Places
	// for a goal that is a mechanical refactoring, Complexity for other goals in Go, and else Lines.
	Metric string
	// Measure is the program of the metric Command, as an argument vector. It runs in the copy and
	// prints a number.
	Measure []string
	// AllowAPI allows changes of the exported API.
	AllowAPI bool
	// Test is the command that runs the tests, as an argument vector: go test or pytest, whose tests
	// have names. Nil is go test ./... when the project has a go.mod, and pytest when it has a
	// pyproject.toml, a pytest.ini or a conftest.py. It may begin with NAME=VALUE, as in a shell, and
	// with env; go test may have -C DIR, for a module in a directory of the project.
	Test []string
	// Env lists variables that the tests get besides the usual few and the toolchain's own: NAME to
	// pass one on, or NAME=VALUE. The second form is recorded with the run; pass secrets by name.
	Env []string
	// StateDir is where working copies are made; empty is the system's place for temporary files. It
	// must not be inside the project.
	StateDir string
	// Timeout is how long the tests of one package may take, or all tests of pytest. Zero is one
	// minute, and ten minutes for pytest.
	Timeout time.Duration
	// Limits override the agent's own limits, field by field.
	Limits pawl.Limits
}

// A Refactor is one refactoring: its working copy, the agent that works there, and the outcome. Its
// methods are safe for concurrent use; only one process at a time may have it open.
type Refactor struct {
	source Source
	kind   string // of the goal; empty: it is not mechanical
	limits pawl.Limits
	model  pawl.Model
	tree   *workspace.Tree
	root   *os.Root
	files  *project.Files
	suite  *testrun.Suite

	running sync.Mutex              // held while tests run, and files are edited by rules
	known   map[string]*looked      // by state; guarded by running
	told    string                  // the state of the files at the last observation; guarded by running
	was     *asWas                  // guarded by running
	loaded  map[string][]*goPackage // of the code as it was, "", and as it is, by state; guarded by running
	fixable map[string][]place      // what go fix finds in the code as it is, by state; guarded by running

	mu     sync.Mutex // guards the following, and the tree
	memory memory
}

// memory is what a Refactor knows beside the log, since it belongs to the copy.
type memory struct {
	Edited   map[string]*string `json:"edited,omitempty"` // the originals by path; nil: there was none
	First    *before            `json:"first,omitempty"`
	Finished string             `json:"finished,omitempty"` // the state of the files that the model called finished
	Trying   string             `json:"trying,omitempty"`   // the state before edits by rules that are not known to be borne
	Left     []string           `json:"left,omitempty"`     // places that rules left alone
}

const memoryName = "refactor.json"

// New makes a working copy of the project in dir and prepares an agent that refactors it towards the goal with
// the model. It runs nothing and does not touch the project.
func New(ctx context.Context, dir, goal string, model pawl.Model, o *Options) (*Refactor, error) {
	if o == nil {
		o = &Options{}
	}
	if strings.TrimSpace(goal) == "" {
		return nil, errors.New("the goal is empty; say what to refactor")
	}
	env, err := testrun.Variables(o.Env)
	if err != nil {
		return nil, err
	}
	var c testrun.Command
	if len(o.Test) > 0 {
		if c, err = testrun.ParseCommand(o.Test); err != nil {
			return nil, err
		}
		if dir, err = project.Inside(dir, c.Dir); err != nil {
			return nil, err
		}
	} else if c.Argv, err = testrun.Guess(dir); err != nil {
		return nil, err
	}
	metric, err := metricFor(goal, o, testrun.IsGoTest(c.Argv))
	if err != nil {
		return nil, err
	}
	if isMechanic(model) {
		if err := mechanical(goal, testrun.IsGoTest(c.Argv)); err != nil {
			return nil, err
		}
	}
	t, err := workspace.Copy(ctx, dir, &workspace.Options{Dir: o.StateDir, Beside: project.Surroundings(dir), History: true})
	if err != nil {
		return nil, err
	}
	r, err := start(t, model, Source{
		Dir: t.Source(), Module: filepath.ToSlash(c.Dir), State: t.StateDir(), Goal: strings.TrimSpace(goal), Metric: metric, Measure: o.Measure, AllowAPI: o.AllowAPI,
		Test: c.Argv, Env: slices.Concat(env, c.Env), Timeout: o.Timeout,
	}, o.Limits)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return r, nil
}

// Open reopens the working copy of an earlier process. The limits override the agent's own.
func Open(s Source, model pawl.Model, l pawl.Limits) (*Refactor, error) {
	t, err := workspace.Open(s.State, nil)
	if err != nil {
		return nil, err
	}
	r, err := start(t, model, s, l)
	if err != nil {
		return nil, err
	}
	if _, err := project.Load(s.State, memoryName, &r.memory); err != nil {
		return nil, errors.Join(err, r.root.Close())
	}
	return r, nil
}

func start(t *workspace.Tree, model pawl.Model, s Source, l pawl.Limits) (*Refactor, error) {
	tests, err := testrun.New(t.Dir(), s.Test, s.Env, s.Timeout, t.StateDir())
	if err != nil {
		return nil, err
	}
	if !tests.Named() {
		return nil, fmt.Errorf("the tests that %q runs have no names, so it is not known which of them pass; name a command of go test or pytest", strings.Join(s.Test, " "))
	}
	root, err := os.OpenRoot(t.Dir())
	if err != nil {
		return nil, fmt.Errorf("open the working copy: %w", err)
	}
	r := &Refactor{source: s, kind: KindOf(s.Goal), limits: l, model: model, tree: t, root: root, suite: tests}
	r.known, r.memory.Edited = map[string]*looked{}, map[string]*string{}
	r.loaded, r.fixable = map[string][]*goPackage{}, map[string][]place{}
	r.files = &project.Files{Root: root, Rule: project.Kept, Wrote: r.wrote, Changed: func(string, []byte, []byte) {}, Fixed: project.CommandFiles(t.Dir(), s.Test)}
	return r, nil
}

func (r *Refactor) golang() bool { return testrun.IsGoTest(r.source.Test) }

// Input is the agent's task.
func (r *Refactor) Input() string { return "Refactor this project: " + r.source.Goal }

// Source says how to make the agent again. It is also in Agent.Source.
func (r *Refactor) Source() Source { return r.source }

// Dir returns the directory of the working copy.
func (r *Refactor) Dir() string { return r.tree.Dir() }

// wrote notes what a file was before it is edited for the first time, durably and before it is: a file
// that is noted and not edited does no harm. It refuses an edit that takes something from a test.
func (r *Refactor) wrote(name string, after []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	original, known := r.memory.Edited[name]
	if !known {
		if data, _, err := r.files.Read(name); err == nil {
			text := string(data)
			original = &text
		}
	}
	if original != nil && project.IsTest(name) {
		if err := project.Keeps(name, []byte(*original), after); err != nil {
			return err
		}
	}
	if known {
		return nil
	}
	r.memory.Edited[name] = original
	return r.save()
}

// save stores the memory. The lock is held.
func (r *Refactor) save() error { return project.Save(r.source.State, memoryName, r.memory) }

// edit is a file that differs from the original.
type edit struct {
	name     string
	old, now *string // nil: there is no such file
	test     bool
}

// edits are the files that differ from their originals, in order.
func (r *Refactor) edits() []edit {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []edit
	for name, old := range r.memory.Edited {
		e := edit{name: name, old: old, test: project.IsTest(name)}
		if data, _, err := r.files.Read(name); err == nil {
			text := string(data)
			e.now = &text
		}
		if (e.old == nil) != (e.now == nil) || e.old != nil && *e.old != *e.now {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b edit) int { return strings.Compare(a.name, b.name) })
	return all
}

// A Diff is what a run changed.
type Diff struct {
	diff   workspace.Diff
	module string // where the files are in the project
}

// String returns the diff in git's unified form, with paths relative to the project; empty: nothing
// changed.
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

// Tests returns those of the paths that are tests or their data.
func (d Diff) Tests() []string {
	return slices.DeleteFunc(d.Files(), func(name string) bool { return !project.IsTest(name) })
}

// Diff returns what the copy changes in the project now, without what running the tests has changed.
func (r *Refactor) Diff(ctx context.Context) (Diff, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, err := r.tree.Diff(ctx)
	if err != nil {
		return Diff{}, err
	}
	return Diff{d.Only(func(c workspace.Change) bool { _, edited := r.memory.Edited[c.Path]; return edited }), r.source.Module}, nil
}

// Apply writes the changes to the project, all or none. It refuses when a file they touch has changed
// there since the copy was made. Applying the same changes again does nothing.
func (r *Refactor) Apply(d Diff) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tree.Apply(d.diff)
}

// Release lets go of the working copy and leaves it for [Open], as when the run is parked.
func (r *Refactor) Release() error { return r.root.Close() }

// Close removes the working copy and all that is known of it.
func (r *Refactor) Close() error {
	err := r.root.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(err, r.tree.Close())
}

func isGo(name string) bool { return path.Ext(name) == ".go" }
