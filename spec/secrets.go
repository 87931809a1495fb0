package spec

import (
	"os"

	"github.com/pawl-run/pawl/internal/redact"
)

// Secrets returns the current values, by name, of the variables under env and
// of the tokens of MCP servers and remote agents, in this spec and those of its agents. Give them
// to the engine that runs the agent as its Secrets. Variables that are not set,
// or whose values cannot be removed from texts, are left out; [Spec.Warnings]
// reports both.
func (s *Spec) Secrets() map[string]string {
	values := map[string]string{}
	for _, name := range s.secrets() {
		if value := os.Getenv(name); value != "" && unsafe(name, value) == nil {
			values[name] = value
		}
	}
	return values
}

// secrets returns the names of these variables: those of all texts that name one.
func (s *Spec) secrets() (names []string) {
	for _, n := range s.doc.variables {
		names = append(names, n.text)
	}
	for _, m := range s.members {
		names = append(names, m.secrets()...)
	}
	if s.shelved != nil {
		names = append(names, s.shelved.secrets()...)
	}
	return names
}

// unsafe returns why a value cannot be removed from texts.
func unsafe(name, value string) error {
	_, err := redact.New(map[string]string{name: value})
	return err
}
