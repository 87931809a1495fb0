package testfix

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/project"
)

// A Fix is one attempt to fix a project: its working copy, the agent that works there, and
// the outcome. Its methods are safe for concurrent use; only one process at a time may have
// it open.
type Fix struct {
	project.Work[known]

	source Source
	latest cached // of the last run of all tests; guarded by Running
}

// known is what a fix knows of its copy beside what was edited.
type known struct {
	Best *best `json:"best,omitempty"`
}

// New makes a working copy of the project in dir and prepares an agent that fixes it with the
// model. It runs nothing and does not touch the project.
func New(ctx context.Context, dir string, model pawl.Model, c Choices, o *Options) (*Fix, error) {
	c.Keep = cmp.Or(c.Keep, Nothing)
	if c.Keep != Nothing && c.Keep != Last && c.Keep != Best {
		return nil, fmt.Errorf("keep: %q is none of nothing, last and best", c.Keep)
	}
	f := &Fix{}
	source, err := f.Begin(ctx, dir, model, o, c.rule(), "")
	if err != nil {
		return nil, err
	}
	f.source = Source{source, c}
	return f, nil
}

// Open reopens the working copy of an earlier process. The limits override the agent's own.
func Open(s Source, model pawl.Model, l pawl.Limits) (*Fix, error) {
	f := &Fix{source: s}
	err := f.Reopen(s.Source, model, l, s.rule())
	return f, err
}

// rule says which files may be edited.
func (c Choices) rule() project.Rule {
	if c.AllowTestEdits {
		return project.All
	}
	return project.Code
}

// Source says how to make the agent again. It is also in Agent.Source.
func (f *Fix) Source() Source { return f.source }

// Input is the agent's task.
func (f *Fix) Input() string {
	return fmt.Sprintf("Make the failing tests of %s pass. They are run with: %s", filepath.Base(f.source.Dir), strings.Join(f.source.Test, " "))
}

// Facts are the facts of an outcome.
type Facts struct {
	Flaky []string `json:"flaky"` // tests that fail by chance
}

// Finish returns what of the run's work is to be kept, given how it ended: after a success
// everything, else what [Choices.Keep] says. A run that is suspended keeps nothing yet.
func (f *Fix) Finish(_ context.Context, status pawl.Status) (o Outcome, err error) {
	known := f.Known()
	switch best := known.More.Best; {
	case !status.Ended():
	case status == pawl.StatusSuccess || f.source.Keep == Last:
		o.Diff, err = f.Diff()
	case f.source.Keep == Best && best != nil:
		o.Diff = Diff{Diff: best.Diff}
	}
	o.Facts, o.Says = Facts{append([]string{}, f.Flaky()...)}, f.SaysFlaky() // no null
	if first := known.First; first != nil && first.Report.Passed > 0 && first.Report.Failed == 0 {
		o.Unchanged = "nothing to fix: " + project.Passing(first.Report.Passed)
	}
	return o, err
}

// A Source says where a run's agent came from: enough to make it again, given
// the model. Agent.Source of this package's agents holds it as JSON.
type Source struct {
	project.Source
	Choices
}

// ParseSource reads what Source.String wrote. The second result is false for
// the source of another kind of agent; the error is about a source of this kind.
func ParseSource(text string) (Source, bool, error) {
	return project.ParseSource[Source](text, "fix")
}

// String writes the source as JSON.
func (s Source) String() string { return project.SourceText("fix", s) }

// some joins the first of several identities.
func some(ids []string, most int) string {
	text := strings.Join(ids[:min(len(ids), most)], ", ")
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
