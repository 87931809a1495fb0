package repro

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// Options are the choices that New leaves. The zero value is right for a Go module. The test command is one
// of go test or pytest, whose tests have names.
type Options = project.Options

// A Repro is one attempt to reproduce a bug: its working copy, the agent that works there, and the
// outcome. Its methods are safe for concurrent use; only one process at a time may have it open.
type Repro struct {
	project.Work[struct{}]

	source Source
	latest *looked // guarded by Running
}

// New makes a working copy of the project in dir and prepares an agent that writes a test there with
// the model. It runs nothing and does not touch the project.
func New(ctx context.Context, dir string, model pawl.Model, o *Options) (*Repro, error) {
	r := &Repro{}
	source, err := r.Begin(ctx, dir, model, o, project.Tests, "a new one cannot be told from the others")
	if err != nil {
		return nil, err
	}
	r.source = Source{source}
	return r, nil
}

// Open reopens the working copy of an earlier process. The limits override the agent's own.
func Open(s Source, model pawl.Model, l pawl.Limits) (*Repro, error) {
	r := &Repro{source: s}
	err := r.Reopen(s.Source, model, l, project.Tests)
	return r, err
}

// Input is the agent's task, from the description of the bug.
func Input(text string) string {
	return "Write a test that fails because of this bug, and for no other reason:\n\n" + strings.TrimSpace(text)
}

// Source says how to make the agent again. It is also in Agent.Source.
func (r *Repro) Source() Source { return r.source }

// A Found is the outcome of a run that succeeded.
type Found struct {
	Test    string   // the identity of the test
	Command []string // runs it alone, in the project
	Runs    int      // in how many runs of its own it failed the same way; all of them
	Diff    Diff     // the tests that were added
}

// A Diff is the tests that a run added.
type Diff = project.Diff

// Finish returns the outcome. It changes nothing.
func (r *Repro) Finish(ctx context.Context) (Found, error) {
	r.Running.Lock()
	defer r.Running.Unlock()
	l, err := r.look(ctx)
	if err != nil {
		return Found{}, err
	}
	if len(l.Open) > 0 {
		return Found{}, errors.New("there is no new test that fails as it should: " + strings.Join(l.Why, "; "))
	}
	d, err := r.Diff()
	return Found{Test: l.Test, Command: r.command(l.pkg, l.test), Runs: Runs, Diff: d}, err
}

// command runs a test alone, as the test command would, in the directory of the project.
func (r *Repro) command(pkg, test string) []string {
	argv := slices.Clone(r.source.Test)
	if !testrun.IsGoTest(argv) {
		return append(argv[:r.Suite.Pytest], r.identity(pkg, test))
	}
	argv = testrun.With(argv, "-run", "^"+test+"$")
	if at := slices.Index(argv, "./..."); at >= 0 {
		dir := path.Join(".", strings.TrimPrefix(pkg, r.Suite.Module))
		if argv[at] = "."; dir != "/" && dir != "." {
			argv[at] = "./" + strings.TrimPrefix(dir, "/")
		}
	}
	return argv
}

// A Source says where a run's agent came from: enough to make it again, given the model. Agent.Source
// of this package's agents holds it as JSON.
type Source struct{ project.Source }

// sourceKind distinguishes a reproduction from other sources of agents.
const sourceKind = "repro"

// ParseSource reads what Source.String wrote. The second result is false for the source of another
// kind of agent; the error is about a source of this kind.
func ParseSource(text string) (Source, bool, error) {
	return project.ParseSource[Source](text, sourceKind, "a reproduction")
}

// String writes the source as JSON.
func (s Source) String() string { return project.SourceText(sourceKind, s) }
