package repro

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
	Dir     string        // the project, or its module that is tested
	Module  string        // that module's directory relative to the project; empty: the project itself
	State   string        // the state directory of its working copy
	Test    []string      // the test command
	Env     []string      // variables for the tests, as Options.Env
	Timeout time.Duration // as Options.Timeout
}

// sourceKind distinguishes a reproduction from other sources of agents.
const sourceKind = "repro"

type sourceJSON struct {
	Kind    string   `json:"kind"`
	Dir     string   `json:"dir"`
	Module  string   `json:"module,omitempty"`
	State   string   `json:"state"`
	Test    []string `json:"test"`
	Env     []string `json:"env,omitempty"`
	Timeout string   `json:"timeout,omitempty"`
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
		return Source{}, true, fmt.Errorf("source of a reproduction: %w", err)
	}
	s := Source{Dir: j.Dir, Module: j.Module, State: j.State, Test: j.Test, Env: j.Env}
	if j.Timeout != "" {
		d, err := time.ParseDuration(j.Timeout)
		if err != nil {
			return Source{}, true, fmt.Errorf("source of a reproduction: timeout: %w", err)
		}
		s.Timeout = d
	}
	if !filepath.IsAbs(s.State) || len(s.Test) == 0 {
		return Source{}, true, errors.New("source of a reproduction: it needs an absolute state directory and a test command")
	}
	return s, true, nil
}

// String writes the source as JSON.
func (s Source) String() string {
	j := sourceJSON{Kind: sourceKind, Dir: s.Dir, Module: s.Module, State: s.State, Test: s.Test, Env: s.Env}
	if s.Timeout != 0 {
		j.Timeout = s.Timeout.String()
	}
	text, err := json.Marshal(j)
	if err != nil {
		return fmt.Sprintf("reproduction in %s: %v", s.Dir, err)
	}
	return string(text)
}
