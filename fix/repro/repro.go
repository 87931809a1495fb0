package repro

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// What agents in a copy have in common.
type (
	Options = project.Options // the choices that New leaves; the tests have names, as those of go test and pytest
	Checked = project.Checked // what the tests said before the first edit; what is open then may go on failing
	Outcome = project.Outcome // what a run came to; its Facts are [Found]
	Diff    = project.Diff    // the tests that a run added
)

// A Repro is one attempt to reproduce a bug: its working copy, the agent that works there, and the
// outcome. Its methods are safe for concurrent use; only one process at a time may have it open.
type Repro struct {
	project.Work[struct{}]

	source Source
	text   string  // the description of the bug; empty: it is in the log
	latest *looked // guarded by Running
}

// New makes a working copy of the project in dir and prepares an agent that writes a test there with
// the model, for the bug that the text describes. It runs nothing and does not touch the project.
func New(ctx context.Context, dir, text string, model pawl.Model, o *Options) (*Repro, error) {
	r := &Repro{text: strings.TrimSpace(text)}
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

// Input is the agent's task.
func (r *Repro) Input() string {
	return "Write a test that fails because of this bug, and for no other reason:\n\n" + r.text
}

// Source says how to make the agent again. It is also in Agent.Source.
func (r *Repro) Source() Source { return r.source }

// Found is the test that a run found; zero: it was no success.
type Found struct {
	Test    string `json:"test"`    // its identity
	Command string `json:"command"` // runs it alone in the project, as a shell takes it
	Runs    int    `json:"runs"`    // in how many runs of its own it failed the same way; all of them
}

// Finish returns the outcome. It changes nothing.
func (r *Repro) Finish(ctx context.Context, status pawl.Status) (Outcome, error) {
	if status != pawl.StatusSuccess {
		return Outcome{Facts: Found{}}, nil
	}
	r.Running.Lock()
	defer r.Running.Unlock()
	l, err := r.look(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if len(l.Open) > 0 {
		return Outcome{}, errors.New("there is no new test that fails as it should: " + strings.Join(l.Why, "; "))
	}
	d, err := r.Diff()
	return Outcome{
		Diff: d, Facts: Found{l.Test, quoted(r.command(l.pkg, l.test)), Runs},
		Says: []string{fmt.Sprintf("%s failed alike in %d of %d runs; read it before you trust it", l.Test, Runs, Runs)},
	}, err
}

// quoted is a command as a shell takes it. ^ and a last $ mean nothing to one.
func quoted(command []string) string {
	out := make([]string, len(command))
	for i, w := range command {
		if out[i] = w; w == "" || strings.ContainsAny(strings.TrimSuffix(w, "$"), " \t\n'\"\\$`()[]{}&|;<>*?#~!") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
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

// ParseSource reads what Source.String wrote. The second result is false for the source of another
// kind of agent; the error is about a source of this kind.
func ParseSource(text string) (Source, bool, error) {
	return project.ParseSource[Source](text, "repro")
}

// String writes the source as JSON.
func (s Source) String() string { return project.SourceText("repro", s) }
