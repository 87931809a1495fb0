package repro

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/workspace"
)

// Options are the choices that New leaves. The zero value is right for a Go module.
type Options struct {
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

// A Repro is one attempt to reproduce a bug: its working copy, the agent that works there, and the
// outcome. Its methods are safe for concurrent use; only one process at a time may have it open.
type Repro struct {
	project.Copy

	source Source
	limits pawl.Limits
	model  pawl.Model

	latest *looked // guarded by Running

	memory memory // guarded by Mu
}

// memory is what a Repro knows beside the log, since it belongs to the copy.
type memory struct {
	Edited []string        `json:"edited,omitempty"` // sorted
	First  *project.Before `json:"first,omitempty"`
}

const memoryName = "repro.json"

// New makes a working copy of the project in dir and prepares an agent that writes a test there with
// the model. It runs nothing and does not touch the project.
func New(ctx context.Context, dir string, model pawl.Model, o *Options) (*Repro, error) {
	if o == nil {
		o = &Options{}
	}
	dir, c, err := project.TestCommand(dir, "", o.Test, o.Env)
	if err != nil {
		return nil, err
	}
	t, err := project.Make(ctx, dir, o.StateDir)
	if err != nil {
		return nil, err
	}
	r, err := start(t, model, Source{project.SourceOf(t, c, o.Timeout)}, o.Limits)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return r, nil
}

// Open reopens the working copy of an earlier process. The limits override the agent's own.
func Open(s Source, model pawl.Model, l pawl.Limits) (*Repro, error) {
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

func start(t *workspace.Tree, model pawl.Model, s Source, l pawl.Limits) (*Repro, error) {
	r := &Repro{source: s, limits: l, model: model}
	if err := r.Copy.Open(t, s.Source, project.Tests, r.wrote, "a new one cannot be told from the others"); err != nil {
		return nil, err
	}
	return r, nil
}

// Input is the agent's task, from the description of the bug.
func Input(text string) string {
	return "Write a test that fails because of this bug, and for no other reason:\n\n" + strings.TrimSpace(text)
}

// Source says how to make the agent again. It is also in Agent.Source.
func (r *Repro) Source() Source { return r.source }

// wrote notes that a file is about to be edited, durably and before it is: a file that is noted and
// not edited does no harm. It refuses an edit that takes something from a file of the project.
func (r *Repro) wrote(name string, after []byte) error {
	original, err := os.ReadFile(filepath.Join(r.source.Dir, filepath.FromSlash(name)))
	if err == nil {
		err = project.Keeps(name, original, after)
	} else if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return err
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	at, known := slices.BinarySearch(r.memory.Edited, name)
	if known {
		return nil
	}
	r.memory.Edited = slices.Insert(slices.Clone(r.memory.Edited), at, name)
	return project.Save(r.source.State, memoryName, r.memory)
}

func (r *Repro) edited() []string {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.memory.Edited
}

// A Diff is the tests that a run added.
type Diff = project.Diff

// Diff returns what the copy adds to the project now, without what running the tests has changed.
func (r *Repro) Diff(ctx context.Context) (Diff, error) {
	return r.Difference(ctx, func(name string) bool { return slices.Contains(r.memory.Edited, name) })
}

// place is a directory as the go command takes it.
func place(dir string) string {
	if dir == "" {
		return "."
	}
	return "./" + dir
}
