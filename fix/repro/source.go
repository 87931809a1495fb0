package repro

import "github.com/pawl-run/pawl/fix/internal/project"

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
