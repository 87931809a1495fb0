package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/tool"
)

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
