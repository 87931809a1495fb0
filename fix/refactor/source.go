package refactor

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// A Source says where a run's agent came from: enough to make it again, given the model. Agent.Source
// of this package's agents holds it as JSON.
type Source struct {
	Dir      string   // the project, or its module that is refactored
	Module   string   // that module's directory relative to the project; empty: the project itself
	State    string   // the state directory of its working copy
	Goal     string   // what is to be refactored
	Metric   string   // as Options.Metric, never empty
	Measure  []string // as Options.Measure
	AllowAPI bool
	Test     []string      // the test command
	Env      []string      // variables for the tests, as Options.Env
	Timeout  time.Duration // as Options.Timeout
}

// sourceKind distinguishes a refactoring from other sources of agents.
const sourceKind = "refactor"

type sourceJSON struct {
	Kind     string   `json:"kind"`
	Dir      string   `json:"dir"`
	Module   string   `json:"module,omitempty"`
	State    string   `json:"state"`
	Goal     string   `json:"goal"`
	Metric   string   `json:"metric"`
	Measure  []string `json:"measure,omitempty"`
	AllowAPI bool     `json:"allow_api,omitempty"`
	Test     []string `json:"test"`
	Env      []string `json:"env,omitempty"`
	Timeout  string   `json:"timeout,omitempty"`
}

// ParseSource reads what Source.String wrote. The second result is false for the source of another
// kind of agent; the error is about a source of this kind.
func ParseSource(text string) (Source, bool, error) {
	var j sourceJSON
	if json.Unmarshal([]byte(text), &struct {
		Kind *string `json:"kind"`
	}{&j.Kind}) != nil || j.Kind != sourceKind {
		return Source{}, false, nil
	}
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return Source{}, true, fmt.Errorf("source of a refactoring: %w", err)
	}
	s := Source{Dir: j.Dir, Module: j.Module, State: j.State, Goal: j.Goal, Metric: j.Metric, Measure: j.Measure, AllowAPI: j.AllowAPI, Test: j.Test, Env: j.Env}
	if j.Timeout != "" {
		d, err := time.ParseDuration(j.Timeout)
		if err != nil {
			return Source{}, true, fmt.Errorf("source of a refactoring: timeout: %w", err)
		}
		s.Timeout = d
	}
	if !filepath.IsAbs(s.State) || len(s.Test) == 0 || s.Goal == "" || s.Metric == "" {
		return Source{}, true, errors.New("source of a refactoring: it needs an absolute state directory, a test command, a goal and a metric")
	}
	return s, true, nil
}

// String writes the source as JSON.
func (s Source) String() string {
	j := sourceJSON{sourceKind, s.Dir, s.Module, s.State, s.Goal, s.Metric, s.Measure, s.AllowAPI, s.Test, s.Env, ""}
	if s.Timeout != 0 {
		j.Timeout = s.Timeout.String()
	}
	text, err := json.Marshal(j)
	if err != nil {
		return fmt.Sprintf("refactoring in %s: %v", s.Dir, err)
	}
	return string(text)
}
