package spec

import (
	"os"
	"slices"

	"github.com/pawl-run/pawl/internal/redact"
)

// Secrets are the values of the variables under env, and of the tokens of MCP
// servers, here and in the specs of its agents, as they are set now, by name. An
// engine that is to run the agent is given them as its Secrets. Those that are
// not set, or cannot be kept out of texts, are not among them; [Spec.Warnings]
// tells of both.
func (s *Spec) Secrets() map[string]string { return secrets(slices.Concat(s.Env, s.beyond)) }

func secrets(names []string) map[string]string {
	values := map[string]string{}
	for _, name := range names {
		if value := os.Getenv(name); value != "" && unsafe(name, value) == nil {
			values[name] = value
		}
	}
	return values
}

// unsafe says why a value cannot be kept out of texts.
func unsafe(name, value string) error {
	_, err := redact.New(map[string]string{name: value})
	return err
}

// known are the secrets of what is printed by a program that gets them.
func known(names []string) *redact.Secrets {
	if len(names) == 0 {
		return nil
	}
	all, _ := redact.New(secrets(names)) // each was looked at
	return all
}
