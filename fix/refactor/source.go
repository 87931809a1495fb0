package refactor

import (
	"errors"

	"github.com/pawl-run/pawl/fix/internal/project"
)

// A Source says where a run's agent came from: enough to make it again, given the model. Agent.Source
// of this package's agents holds it as JSON.
type Source struct {
	project.Source

	Goal     string   `json:"goal"`              // what is to be refactored
	Metric   string   `json:"metric"`            // as Options.Metric, never empty
	Measure  []string `json:"measure,omitempty"` // as Options.Measure
	AllowAPI bool     `json:"allow_api,omitempty"`
}

// sourceKind distinguishes a refactoring from other sources of agents.
const sourceKind = "refactor"

// Check says what the source lacks.
func (s Source) Check() error {
	if s.Goal == "" || s.Metric == "" {
		return errors.New("it needs a goal and a metric")
	}
	return s.Source.Check()
}

// ParseSource reads what Source.String wrote. The second result is false for the source of another
// kind of agent; the error is about a source of this kind.
func ParseSource(text string) (Source, bool, error) {
	return project.ParseSource[Source](text, sourceKind, "a refactoring")
}

// String writes the source as JSON.
func (s Source) String() string { return project.SourceText(sourceKind, s) }
