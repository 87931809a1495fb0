package testfix

import (
	"errors"

	"github.com/pawl-run/pawl/fix/internal/project"
)

// A Source says where a run's agent came from: enough to make it again, given
// the model. Agent.Source of this package's agents holds it as JSON.
type Source struct {
	project.Source

	AllowTestEdits bool `json:"allow_test_edits,omitempty"`
	Keep           Keep `json:"keep"`
}

// sourceKind distinguishes a fix from other sources of agents.
const sourceKind = "fix"

// Check says what the source lacks.
func (s Source) Check() error {
	if s.Keep == 0 {
		return errors.New("it needs to say what to keep")
	}
	return s.Source.Check()
}

// ParseSource reads what Source.String wrote. The second result is false for
// the source of another kind of agent; the error is about a source of this kind.
func ParseSource(text string) (Source, bool, error) {
	return project.ParseSource[Source](text, sourceKind, "a fix")
}

// String writes the source as JSON.
func (s Source) String() string { return project.SourceText(sourceKind, s) }
