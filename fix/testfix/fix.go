package testfix

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
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
	project.Copy

	source Source
	limits pawl.Limits
	model  pawl.Model

	outside types.Importer // see imports
	reach   *reach         // what was looked up last; guarded by Running

	// What follows is guarded by Mu.
	edited   map[string]bool
	probing  map[string]string // binaries of tests with probes, by the state of the files
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
	dir, c, err := project.TestCommand(dir, o.Module, o.Test, o.Env)
	if err != nil {
		return nil, err
	}
	keep := o.Keep
	if keep == 0 {
		keep = Nothing
	}
	if keep < Nothing || keep > Best {
		return nil, fmt.Errorf("keep: %v is none of nothing, last and best", keep)
	}
	t, err := project.Make(ctx, dir, o.StateDir)
	if err != nil {
		return nil, err
	}
	f, err := start(t, model, Source{
		Source: project.SourceOf(t, c, o.Timeout), AllowTestEdits: o.AllowTestEdits, Keep: keep,
	}, o.Limits)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return f, nil
}

// Open reopens the working copy of an earlier process. The limits override the agent's own.
func Open(s Source, model pawl.Model, l pawl.Limits) (*Fix, error) {
	t, err := workspace.Open(s.State)
	if err != nil {
		return nil, err
	}
	f, err := start(t, model, s, l)
	if err != nil {
		return nil, err
	}
	if err := f.recall(); err != nil {
		return nil, errors.Join(err, f.Root.Close())
	}
	return f, nil
}

func start(t *workspace.Tree, model pawl.Model, s Source, l pawl.Limits) (*Fix, error) {
	f := &Fix{source: s, limits: l, model: model, edited: map[string]bool{}, probing: map[string]string{}}
	rule := project.Code
	if s.AllowTestEdits {
		rule = project.All
	}
	if err := f.Copy.Open(t, s.Source, rule, f.wrote, ""); err != nil {
		return nil, err
	}
	f.Files.Changed = f.changed
	return f, nil
}

// Flaky lists the tests that passed once and failed once with nothing changed
// between, sorted. They are no part of the goal. Empty before the first look at
// the tests.
func (f *Fix) Flaky() []string {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.flaky), func(id string) bool { return slices.Contains(f.away, id) })
}

// Source says how to make the agent again. It is also in Agent.Source.
func (f *Fix) Source() Source { return f.source }

// Input is the agent's task. After [Fix.Check], it has what the mechanic finds out about the
// failures, if the model has an endpoint.
func (f *Fix) Input() string {
	return fmt.Sprintf("Make the failing tests of %s pass. They are run with: %s%s",
		filepath.Base(f.source.Dir), strings.Join(f.source.Test, " "), f.leads)
}

// A Diff is what a run changed, in the files that the agent edited.
type Diff = project.Diff

// Diff returns how the edited files differ now from those of the project, without what running the tests has changed.
func (f *Fix) Diff(ctx context.Context) (Diff, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	return f.diff(ctx)
}

func (f *Fix) diff(ctx context.Context) (Diff, error) {
	return f.Changed(ctx, func(name string) bool {
		return f.edited[name] && (f.source.AllowTestEdits || !project.IsTest(name)) && !slices.Contains(f.Files.Fixed, name)
	})
}

// Outcome returns what of the run's work is to be kept, given how it ended:
// after a success everything, else what [Options.Keep] says.
func (f *Fix) Outcome(ctx context.Context, status pawl.Status) (Diff, error) {
	switch {
	case status == pawl.StatusSuccess || f.source.Keep == Last:
		return f.Diff(ctx)
	case f.source.Keep == Best:
		f.Mu.Lock()
		defer f.Mu.Unlock()
		if f.best != nil {
			return Diff{Changes: f.best.Diff, Module: f.source.Module}, nil
		}
	}
	return Diff{}, nil
}
