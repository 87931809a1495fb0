package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// A Source says what working copy an agent has, and how its tests run: enough to open it again. Agent.Source
// has it as JSON, with more members for each kind of agent.
type Source struct {
	Dir     string        `json:"dir"`               // the project
	State   string        `json:"state"`             // the state directory of its working copy
	Test    []string      `json:"test"`              // the test command
	Env     []string      `json:"env,omitempty"`     // variables for the tests, as Options.Env
	Timeout time.Duration `json:"timeout,omitempty"` // as Options.Timeout
}

// Check says what the source lacks.
func (s Source) Check() error {
	if !filepath.IsAbs(s.State) || len(s.Test) == 0 {
		return errors.New("it needs an absolute state directory and a test command")
	}
	return nil
}

// ParseSource reads the source of a kind of agent, which SourceText wrote. It reports whether the source is of
// the kind; errors are about one of this kind.
func ParseSource[S interface{ Check() error }](text, kind string) (s S, is bool, err error) {
	var head struct{ Kind string }
	if json.Unmarshal([]byte(text), &head) != nil || head.Kind != kind {
		return s, false, nil
	}
	var read S
	err = json.Unmarshal([]byte(text), &read)
	if err == nil {
		err = read.Check()
	}
	if err != nil {
		return s, true, fmt.Errorf("source of %s: %w", kind, err)
	}
	return read, true, nil
}

// SourceText writes the source of a kind of agent, a struct with a member at least, as JSON.
func SourceText(kind string, source any) string {
	text, err := json.Marshal(source)
	if err != nil {
		return fmt.Sprintf("%s: %v", kind, err)
	}
	return fmt.Sprintf(`{"kind":%q,`, kind) + string(text[1:])
}
