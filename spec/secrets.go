package spec

import (
	"os"
	"slices"

	"github.com/pawl-run/pawl/internal/redact"
)

// Secrets returns the current values, by name, of the variables under env and
// of the tokens of MCP servers and remote agents, in this spec and those of its agents. Give them
// to the engine that runs the agent as its Secrets. Variables that are not set,
// or whose values cannot be removed from texts, are left out; [Spec.Warnings]
// reports both.
func (s *Spec) Secrets() map[string]string {
	names := slices.Concat(s.Env, s.beyond)
	for _, e := range s.endpoints {
		if e.Key != "" {
			names = append(names, e.Key)
		}
	}
	return secrets(names)
}

func secrets(names []string) map[string]string {
	values := map[string]string{}
	for _, name := range names {
		if value := os.Getenv(name); value != "" && unsafe(name, value) == nil {
			values[name] = value
		}
	}
	return values
}

// unsafe returns why a value cannot be removed from texts.
func unsafe(name, value string) error {
	_, err := redact.New(map[string]string{name: value})
	return err
}
