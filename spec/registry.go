package spec

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/tool"
)

// A Provider creates the model with a name. The name is the part after the
// provider's: "claude-sonnet-5-5", or for script:FILE the path of the file. It
// must not call the model. It also creates a model whose key is missing, which
// then implements [Readiness].
type Provider func(name string) (pawl.Model, error)

// Readiness is implemented by models that know whether they can be called.
type Readiness interface {
	// Ready returns an error that names what is missing, such as a key, and the
	// remedy. It calls no model, but may ask a service for a login.
	Ready() error
}

// A Registry is what a program provides for its specs. It may be shared once
// filled.
type Registry struct {
	// Models are the providers by name: "anthropic", "openai", "google", and
	// "script" and "mechanic" for the models that are written script:FILE and
	// mechanic. The last gets an empty name.
	Models map[string]Provider
	// Wire creates the model with a name at a provider that a spec describes; nil: specs may
	// describe none. It fails for a wire that the program does not have.
	Wire func(e Endpoint, name string) (pawl.Model, error)
	// Endpoints are the providers that the user describes for all specs. Models has those
	// of them with a wire.
	Endpoints map[string]Endpoint
	// Default is the model of specs that name none; empty: specs must name one.
	Default string
	// Tools are the program's own, which specs name under builtin.
	Tools []pawl.Tool
	// Loops are what loop: NAME names, Policies what policies: [NAME] names, and When
	// what when("NAME") names in a condition. They must be pure, and the same in every
	// process that resumes their runs.
	Loops    map[string]pawl.Loop
	Policies map[string]pawl.Policy
	When     map[string]func(*pawl.State) bool
	// MCP connects to the MCP servers that specs name; nil: specs may name
	// none.
	MCP Connector
	// Trusted are directories, with those below them, whose AGENTS.md is part of the prompt
	// of agents with instructions: agents.md. Of any other it is untrusted text.
	Trusted []string
	// Now returns the time for judging the age of the model sheet. Nil is
	// [time.Now].
	Now func() time.Time

	remote   map[*Spec]map[string][]pawl.Tool // tools of servers by name, of specs that are connected
	declared map[*Spec][]pawl.ToolInfo        // the tools that recorded runs of specs declared
}

func (r *Registry) now() time.Time {
	if r == nil || r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// The models that are not written as provider/name.
const (
	scriptProvider = "script"
	mechanic       = "mechanic"
)

// resolve returns the provider of a model and its name there. File names are
// relative to dir; empty is the working directory.
func (r *Registry) resolve(model, dir string) (provider, name string, err error) {
	registered := slices.Sorted(maps.Keys(r.Models))
	if file, ok := strings.CutPrefix(model, scriptProvider+":"); ok {
		switch {
		case file == "":
			return "", "", errors.New(`"script:" names no file (write script:FILE)`)
		case !filepath.IsAbs(file) && dir != "":
			file = filepath.Join(dir, file)
		}
		provider, name = scriptProvider, file
	} else if model == mechanic {
		provider = mechanic
	} else if provider, name, ok = strings.Cut(model, "/"); !ok {
		if provider, err = bare(model, r.now()); err != nil {
			return "", "", err
		}
		name = model
	}
	switch {
	case r.Models[provider] == nil:
		return "", "", fmt.Errorf("model %q: there is no provider %s%s", model, provider, expr.DidYouMean(provider, registered))
	case name == "" && provider != mechanic:
		return "", "", fmt.Errorf("model %q names only the provider (write %s/NAME)", model, provider)
	}
	return provider, name, nil
}

// bare returns the provider of a model name without one.
func bare(model string, now time.Time) (string, error) {
	rows := sheet.Find(model)
	switch len(rows) {
	case 1:
		return rows[0].Provider, nil
	case 0:
		if near := candidates(model, sheet.Near(model), now); near != "" {
			return "", fmt.Errorf("model %q is not in the model sheet (write PROVIDER/NAME; there is %s)", model, near)
		}
		return "", fmt.Errorf("model %q is not in the model sheet (write PROVIDER/NAME, such as %s, or script:FILE)", model, "anthropic/"+sheet.Default("anthropic"))
	}
	return "", fmt.Errorf("model %q is ambiguous (write one of %s)", model, candidates(model, rows, now))
}

// candidates lists the models with the names nearest to one, without those that retire soon.
func candidates(name string, rows []sheet.Model, now time.Time) string {
	slices.SortStableFunc(rows, func(a, b sheet.Model) int { return naming.Distance(name, a.Name) - naming.Distance(name, b.Name) })
	var names []string
	for _, row := range rows {
		if left, known := row.Until(now); !known || left > soon {
			names = append(names, row.Provider+"/"+row.Name)
		}
	}
	const most = 6
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return strings.Join(names, ", ")
}

// priced is a model with another price; nil is none.
type priced struct {
	pawl.Model
	price *pawl.Price
}

// Describe returns the model's description with the other price.
func (p priced) Describe() pawl.ModelInfo {
	info := describe(p.Model)
	info.Price, info.PriceFrom = p.price, ""
	if p.price != nil {
		info.PriceFrom = "spec"
	}
	return info
}

// Takes implements engine.Taker.
func (p priced) Takes(files []pawl.File) error { return engine.Takes(p.Model, files) }

// Hosts implements tool.Host.
func (p priced) Hosts(tools []pawl.ToolInfo) error { return tool.Hosts(p.Model, tools) }

func describe(m pawl.Model) pawl.ModelInfo {
	if d, ok := m.(pawl.Describer); ok {
		return d.Describe()
	}
	return pawl.ModelInfo{Name: "func"}
}

// standIn replaces a model that cannot be created, so that the rest of an agent
// can be checked.
type standIn struct{}

func (standIn) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "none", Price: &pawl.Price{Input: 1, Output: 1, Search: 1}}
}

// Hosts implements tool.Host: nobody knows what the model will be.
func (standIn) Hosts([]pawl.ToolInfo) error { return nil }

func (standIn) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		yield(pawl.Chunk{}, errors.New("this model could not be made"))
	}
}
