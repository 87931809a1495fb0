package cli

import (
	"log/slog"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/hook"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/telemetry/export"
)

// ownKeys are variables of ours that no tool is given, and that one may find all
// the same, as by looking at the processes of its user.
var ownKeys = []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "PAWL_TOKEN"}

// leastKey is how long such a value must be to be one. Who runs a model of his
// own gives it a word for a key, and that word stands in many texts.
const leastKey = 16

// options are what an engine must know of the agent that came from a source:
// the values no event may hold, and the hooks that specs name.
func (a *app) options(source string) *engine.Options {
	secrets := spec.SecretsOf(source)
	if secrets == nil {
		secrets = map[string]string{}
	}
	for _, name := range ownKeys {
		if value := a.getenv(name); len(value) >= leastKey {
			secrets[name] = value
		}
	}
	for name, value := range export.Secrets(a.getenv) {
		if len(value) >= leastKey {
			secrets[name] = value
		}
	}
	return &engine.Options{Secrets: secrets, HooksOf: a.hooksOf()}
}

// hooksOf returns the hooks that the spec of an agent names. A spec is read once.
func (a *app) hooksOf() func(pawl.Declaration) []engine.Hook {
	var mu sync.Mutex
	made := map[string][]engine.Hook{}
	return func(d pawl.Declaration) []engine.Hook {
		mu.Lock()
		defer mu.Unlock()
		hooks, ok := made[d.Source]
		if !ok {
			hooks = a.hooks(spec.HooksOf(d.Source))
			made[d.Source] = hooks
		}
		return hooks
	}
}

// hooks makes the hooks that a spec names. What is for people is not shown to
// those who want quiet.
func (a *app) hooks(named []spec.Hook) (all []engine.Hook) {
	for _, h := range named {
		switch {
		case h.Name == "retry":
			all = append(all, hook.Retry(h.Attempts, nil))
		case h.JSON:
			all = append(all, hook.Records(slog.New(slog.NewJSONHandler(a.err, nil)), nil))
		case !a.quiet:
			all = append(all, hook.Log(slog.New(slog.NewTextHandler(a.err, nil)), nil))
		}
	}
	return all
}
