package refactor

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
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
	project.Copy

	source Source
	kind   string // of the goal; empty: it is not mechanical
	limits pawl.Limits
	model  pawl.Model

	known   map[string]*looked      // by state; guarded by Running
	was     *asWas                  // guarded by Running
	loaded  map[string][]*goPackage // of the code as it was, "", and as it is, by state; guarded by Running
	fixable map[string][]place      // what go fix finds in the code as it is, by state; guarded by Running

	memory memory // guarded by Mu
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
	dir, c, err := project.TestCommand(dir, "", o.Test, o.Env)
	if err != nil {
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
	t, err := project.Make(ctx, dir, o.StateDir)
	if err != nil {
		return nil, err
	}
	r, err := start(t, model, Source{
		Source: project.SourceOf(t, c, o.Timeout), Goal: strings.TrimSpace(goal), Metric: metric, Measure: o.Measure, AllowAPI: o.AllowAPI,
	}, o.Limits)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return r, nil
}

// Open reopens the working copy of an earlier process. The limits override the agent's own.
func Open(s Source, model pawl.Model, l pawl.Limits) (*Refactor, error) {
	t, err := workspace.Open(s.State)
	if err != nil {
		return nil, err
	}
	r, err := start(t, model, s, l)
	if err != nil {
		return nil, err
	}
	if _, err := project.Load(s.State, memoryName, &r.memory); err != nil {
		return nil, errors.Join(err, r.Root.Close())
	}
	return r, nil
}

func start(t *workspace.Tree, model pawl.Model, s Source, l pawl.Limits) (*Refactor, error) {
	r := &Refactor{source: s, kind: KindOf(s.Goal), limits: l, model: model}
	r.known, r.memory.Edited = map[string]*looked{}, map[string]*string{}
	r.loaded, r.fixable = map[string][]*goPackage{}, map[string][]place{}
	if err := r.Copy.Open(t, s.Source, project.Kept, r.wrote, "it is not known which of them pass"); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Refactor) golang() bool { return testrun.IsGoTest(r.source.Test) }

// Input is the agent's task.
func (r *Refactor) Input() string { return "Refactor this project: " + r.source.Goal }

// Source says how to make the agent again. It is also in Agent.Source.
func (r *Refactor) Source() Source { return r.source }

// wrote notes what a file was before it is edited for the first time, durably and before it is: a file
// that is noted and not edited does no harm. It refuses an edit that takes something from a test.
func (r *Refactor) wrote(name string, after []byte) error {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	original, known := r.memory.Edited[name]
	if !known {
		if data, _, err := r.Files.Read(name); err == nil {
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
	r.Mu.Lock()
	defer r.Mu.Unlock()
	var all []edit
	for name, old := range r.memory.Edited {
		e := edit{name: name, old: old, test: project.IsTest(name)}
		if data, _, err := r.Files.Read(name); err == nil {
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
type Diff = project.Diff

// Diff returns what the copy changes in the project now, without what running the tests has changed.
func (r *Refactor) Diff(ctx context.Context) (Diff, error) {
	return r.Difference(ctx, func(name string) bool { _, edited := r.memory.Edited[name]; return edited })
}

func isGo(name string) bool { return path.Ext(name) == ".go" }
