package cli

import (
	"cmp"
	"errors"
	"maps"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/spec"
)

// registry has the models of pawl, and what the program adds: other models, and tools,
// loops, policies and conditions.
func (a *app) registry() *spec.Registry {
	own := a.models()
	own.Endpoints = a.endpoints()
	for name, e := range own.Endpoints {
		if e.Wire != "" {
			own.Models[name] = func(model string) (pawl.Model, error) { return a.wired(e, model) }
		}
	}
	if p := a.program; p != nil {
		maps.Copy(own.Models, p.Models)
		own.Tools, own.Loops, own.Policies, own.When = p.Tools, p.Loops, p.Policies, p.When
		own.Default = cmp.Or(own.Default, p.Default)
	}
	own.Default = cmp.Or(own.Default, a.defaultModel())
	return own
}

func (a *app) models() *spec.Registry {
	r := &spec.Registry{
		Default: unfiled(a.getenv("PAWL_MODEL")),
		MCP:     a.connect,
		Wire:    a.wired,
		Models: map[string]spec.Provider{
			"anthropic": func(name string) (pawl.Model, error) {
				return anthropic.New(name, &anthropic.Options{APIKey: a.getenv("ANTHROPIC_API_KEY"), BaseURL: a.getenv("ANTHROPIC_BASE_URL")}), nil
			},
			"openai": func(name string) (pawl.Model, error) {
				return openai.New(name, &openai.Options{APIKey: a.getenv("OPENAI_API_KEY"), BaseURL: a.getenv("OPENAI_BASE_URL")}), nil
			},
			"google": func(name string) (pawl.Model, error) {
				key := cmp.Or(a.getenv("GEMINI_API_KEY"), a.getenv("GOOGLE_API_KEY"))
				return google.New(name, &google.Options{APIKey: key, BaseURL: a.getenv("GOOGLE_GEMINI_BASE_URL")}), nil
			},
			"script":      scripted,
			mechanic.Name: func(string) (pawl.Model, error) { return mechanic.New(), nil },
		},
	}
	for _, name := range clouds {
		r.Models[name] = func(model string) (pawl.Model, error) { return cloud(spec.Endpoint{Wire: name}, model, "", nil) }
	}
	return r
}

// providers are those with a default model, in the order in which their keys count.
var providers = []struct{ name, key string }{{"anthropic", "ANTHROPIC_API_KEY"}, {"openai", "OPENAI_API_KEY"}, {"google", "GEMINI_API_KEY"}}

// defaultModel is the default of the provider whose key is set; empty: no key is set.
func (env *environment) defaultModel() string {
	for _, p := range providers {
		if env.getenv(p.key) != "" {
			return p.name + "/" + sheet.Default(p.name)
		}
	}
	return ""
}

// model makes the model with a name, as in a spec.
func (a *app) model(name string) (pawl.Model, error) {
	registry := a.registry()
	s, err := spec.Parse("model", []byte("name: model"), &spec.Options{Registry: registry, Model: name})
	if problems, ok := errors.AsType[spec.Problems](err); ok {
		return nil, misuse("%s: %s", modelSetting, problems[0].Message)
	}
	if err != nil {
		return nil, err
	}
	agent, err := s.Agent(registry)
	return agent.Model, err
}
