package testfix

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/pawl-run/pawl/fix/internal/project"
)

// A Source says where a run's agent came from: enough to make it again, given
// the model. Agent.Source of this package's agents holds it as JSON.
type Source struct {
	Dir            string        `json:"dir"`              // the project, or its module that is fixed
	Module         string        `json:"module,omitempty"` // that module's directory relative to the project; empty: the project itself
	State          string        `json:"state"`            // the state directory of its working copy
	Test           []string      `json:"test"`             // the test command
	Env            []string      `json:"env,omitempty"`    // variables for the tests, as Options.Env
	AllowTestEdits bool          `json:"allow_test_edits,omitempty"`
	Keep           Keep          `json:"keep"`
	Timeout        time.Duration `json:"-"`
}

// sourceKind distinguishes a fix from other sources of agents.
const sourceKind = "fix"

// ParseSource reads what Source.String wrote. The second result is false for
// the source of another kind of agent; the error is about a source of this kind.
func ParseSource(text string) (Source, bool, error) {
	var s Source
	if is, err := project.ParseSource(text, sourceKind, "a fix", &s, &s.Timeout); !is || err != nil {
		return Source{}, is, err
	}
	if !filepath.IsAbs(s.State) || len(s.Test) == 0 || s.Keep == 0 {
		return Source{}, true, errors.New("source of a fix: it needs an absolute state directory, a test command and what to keep")
	}
	return s, true, nil
}

// String writes the source as JSON.
func (s Source) String() string { return project.SourceText(sourceKind, s, s.Timeout) }
