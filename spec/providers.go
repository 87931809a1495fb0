package spec

import (
	"maps"
	"net/url"
	"regexp"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/expr"
)

// checkProviders reports providers that cannot be called, and leaves out those of which nothing
// can be said.
func (s *Spec) checkProviders() {
	for _, p := range s.n.get("providers").keys() {
		name := p.key.text
		e, r := s.Providers[name], s.opt.Registry
		e.Provider = name
		switch {
		case p.value.get("wire") != nil:
			s.checkEndpoint(p.key, &e)
		case r != nil && r.Models[name] == nil:
			s.doc.problem(p.key, "there is no provider %s%s; one of your own has a wire and a base_url", name, expr.DidYouMean(name, slices.Sorted(maps.Keys(r.Models))))
			delete(s.Providers, name)
			continue
		}
		if s.Providers != nil {
			s.Providers[name] = e
		}
	}
}

// anyWire stands for a wire that was refused.
const anyWire = "openai"

var endpointName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

func (s *Spec) checkEndpoint(at *node, e *Endpoint) {
	address, err := url.Parse(e.BaseURL)
	switch r := s.opt.Registry; {
	case e.Wire == "":
		e.Wire = anyWire // so that its models are not said to have no provider
	case !endpointName.MatchString(e.Provider):
		s.doc.problem(at, "the name of a provider is small letters, digits and hyphens, not %q", e.Provider)
	case r != nil && r.Models[e.Provider] != nil:
		s.doc.problem(at, "%s is a provider that Pawl has; give your own another name", e.Provider)
		e.Wire = ""
	case err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https":
		s.doc.problem(at, "the provider %s needs its base_url, such as http://localhost:11434/v1", e.Provider)
	case r != nil && r.Wire != nil:
		if _, err := r.Wire(*e, "-"); err != nil { // the program does not have this wire
			s.doc.problem(e.at("wire"), "%v", err)
			e.Wire = anyWire
		}
	}
}

// known returns a registry that also has the providers of the spec.
func (s *Spec) known(r *Registry) *Registry {
	if r == nil || r.Wire == nil || len(s.Providers) == 0 {
		return r
	}
	own := *r
	if own.Models = maps.Clone(r.Models); own.Models == nil {
		own.Models = map[string]Provider{}
	}
	for name, e := range s.Providers {
		if e.Wire == "" {
			continue
		}
		own.Models[name] = func(model string) (pawl.Model, error) { return r.Wire(e, model) }
	}
	return &own
}

// Endpoints reads a file of providers: the key providers of a spec, alone.
func Endpoints(path string, text []byte, r *Registry) (map[string]Endpoint, error) {
	s, err := Parse(path, append(slices.Clone(text), "\nname: providers\nmodel: mechanic\n"...), &Options{Registry: r})
	if err != nil {
		return nil, err
	}
	return s.Providers, nil
}

// Rates returns the rates of providers, with those of the spec's agents for others.
func (s *Spec) Rates() map[string]engine.Rate {
	all := map[string]engine.Rate{}
	for _, m := range slices.Backward(s.members) {
		maps.Copy(all, m.Rates())
	}
	for name, e := range s.Providers {
		if e.Rate != nil {
			all[name] = *e.Rate
		}
	}
	return all
}
