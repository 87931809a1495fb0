package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/tool"
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
		Trusted: a.trusted(),
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

// clouds are the providers that authenticate by the login of their own tools, and their wires.
var clouds = []string{"azure", "bedrock", "vertex"}

// wired makes a model at a provider that a spec or the user's file describes.
func (a *app) wired(e spec.Endpoint, name string) (pawl.Model, error) {
	header := http.Header{}
	for key, value := range e.Headers {
		header.Set(key, value)
	}
	key := ""
	if e.Key != "" {
		key = a.getenv(e.Key)
	}
	var m pawl.Model
	switch e.Wire {
	case "openai":
		m = openai.New(name, &openai.Options{API: openai.Chat, APIKey: key, BaseURL: e.BaseURL, Provider: e.Provider, Header: header})
	case "openai-responses":
		m = openai.New(name, &openai.Options{API: openai.Responses, APIKey: key, BaseURL: e.BaseURL, Provider: e.Provider, Header: header})
	case "anthropic":
		m = anthropic.New(name, &anthropic.Options{APIKey: key, BaseURL: e.BaseURL, Provider: e.Provider, Header: header})
	case "google":
		m = google.New(name, &google.Options{APIKey: key, BaseURL: e.BaseURL, Provider: e.Provider, Header: header})
	case "azure", "bedrock", "vertex":
		var err error
		if m, err = cloud(e, name, key, header); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("the provider %s has the wire %q, which this program does not know", e.Provider, e.Wire)
	}
	if e.Key != "" && key == "" {
		return keyless{m, fmt.Errorf("no key for %s/%s; set %s", e.Provider, name, e.Key)}, nil
	}
	return m, nil
}

// keyless is a model whose key is not set.
type keyless struct {
	pawl.Model
	why error
}

// Describe implements pawl.Describer.
func (k keyless) Describe() pawl.ModelInfo { return describes(k.Model) }

// Takes implements engine.Taker.
func (k keyless) Takes(files []pawl.File) error { return engine.Takes(k.Model, files) }

// Hosts implements tool.Host.
func (k keyless) Hosts(tools []pawl.ToolInfo) error { return tool.Hosts(k.Model, tools) }

// Ready implements spec.Readiness.
func (k keyless) Ready() error { return k.why }

// endpointsFile is where a user describes providers for all specs; empty: it is not known.
func (env *environment) endpointsFile() string {
	dir := env.getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home := env.getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "pawl", "providers.yaml")
}

// endpoints are the providers of the user's file. It is read once, and a problem is said once.
func (a *app) endpoints() map[string]spec.Endpoint {
	a.described.Do(func() {
		path := a.endpointsFile()
		text, err := os.ReadFile(path)
		if path == "" || errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err == nil {
			a.own, err = spec.Endpoints(path, text, a.models())
		}
		if err != nil {
			a.sayf("pawl: the providers in %s are left out: %v", path, err)
		}
	})
	return a.own
}

// An unreadyError says that an agent cannot run here because keys of its models are
// missing.
type unreadyError struct {
	agent    string
	problems spec.Problems
}

func (e *unreadyError) Error() string { return e.problems.Error() }
func (e *unreadyError) Unwrap() error { return e.problems }

// ready refuses a spec whose models cannot be called, before a run is recorded that would fail.
func ready(s *spec.Spec, r *spec.Registry) error {
	if missing := s.Unready(r); len(missing) > 0 {
		return &unreadyError{s.Name, flagged(missing)}
	}
	return nil
}

// readyModel is ready for a model that no spec names, and that could be made or not.
func readyModel(m pawl.Model, err error) (pawl.Model, error) {
	if keyed, ok := m.(spec.Readiness); ok && err == nil {
		if err := keyed.Ready(); err != nil {
			return nil, misuse("%s: %w", modelSetting, err)
		}
	}
	return m, err
}
