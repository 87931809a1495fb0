package refactor

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/pawl-run/pawl/fix/internal/project"
)

// A Source says where a run's agent came from: enough to make it again, given the model. Agent.Source
// of this package's agents holds it as JSON.
type Source struct {
	Dir      string        `json:"dir"`               // the project, or its module that is refactored
	Module   string        `json:"module,omitempty"`  // that module's directory relative to the project; empty: the project itself
	State    string        `json:"state"`             // the state directory of its working copy
	Goal     string        `json:"goal"`              // what is to be refactored
	Metric   string        `json:"metric"`            // as Options.Metric, never empty
	Measure  []string      `json:"measure,omitempty"` // as Options.Measure
	AllowAPI bool          `json:"allow_api,omitempty"`
	Test     []string      `json:"test"`          // the test command
	Env      []string      `json:"env,omitempty"` // variables for the tests, as Options.Env
	Timeout  time.Duration `json:"-"`             // as Options.Timeout
}

// sourceKind distinguishes a refactoring from other sources of agents.
const sourceKind = "refactor"

// ParseSource reads what Source.String wrote. The second result is false for the source of another
// kind of agent; the error is about a source of this kind.
func ParseSource(text string) (Source, bool, error) {
	var s Source
	if is, err := project.ParseSource(text, sourceKind, "a refactoring", &s, &s.Timeout); !is || err != nil {
		return Source{}, is, err
	}
	if !filepath.IsAbs(s.State) || len(s.Test) == 0 || s.Goal == "" || s.Metric == "" {
		return Source{}, true, errors.New("source of a refactoring: it needs an absolute state directory, a test command, a goal and a metric")
	}
	return s, true, nil
}

// String writes the source as JSON.
func (s Source) String() string { return project.SourceText(sourceKind, s, s.Timeout) }
