package spec

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/expr"
)

// readProviders reads {anthropic: {rate: {requests: 50, tokens: 30000}}}.
func (s *Spec) readProviders(f fields) {
	n := f.value("providers", mapping, "a mapping such as {anthropic: {rate: {requests: 50, tokens: 30000}}}")
	if n == nil {
		return
	}
	for _, p := range n.pairs {
		var e Endpoint
		if wire := p.value.get("wire"); wire != nil {
			e = s.readEndpoint(f, p.key, p.place, p.value)
		} else if r := s.opt.Registry; r != nil && r.Models[p.key] == nil {
			known := slices.Sorted(maps.Keys(r.Models))
			f.problem(p.place, "there is no provider %s%s; one of your own has a wire and a base_url", p.key, expr.DidYouMean(p.key, known))
			continue
		}
		of := f.titled("the provider "+p.key, providerKeys, p.value)
		for _, key := range []string{"base_url", "key", "headers"} {
			if n := p.value.get(key); n != nil && p.value.get("wire") == nil {
				f.problem(n.place, "%s is for a provider of your own, which has a wire, such as wire: openai", key)
			}
		}
		e.Prices = of.prices()
		if n := of.value("price", text, "none"); n != nil {
			if e.Unpriced = n.text == "none"; !e.Unpriced {
				f.problem(n.place, "price is %q (write none, or under prices what each model costs)", n.text)
			}
		}
		if s.endpoints == nil {
			s.endpoints = map[string]Endpoint{}
		}
		s.endpoints[p.key] = e
		n := of.value("rate", mapping, "a mapping such as {requests: 50, tokens: 30000}")
		if n == nil {
			continue
		}
		var rate engine.Rate
		r := of.fields(rateKeys, n)
		r.count("requests", &rate.Requests, 1, "50")
		r.count("tokens", &rate.Tokens, 1, "30000")
		s.rate(p.key, rate)
	}
}

// An Endpoint is a provider that a spec describes, or what it says of the prices of one that
// the program has; that one has no wire.
type Endpoint struct {
	Provider string // its name, which comes before the / of its models' names
	Wire     string // the API that it speaks: openai, openai-responses, anthropic, google, bedrock, vertex or azure
	BaseURL  string
	Key      string // the variable with its key; empty: it needs none
	Headers  map[string]string

	Prices   map[string]pawl.Price // of its models, by their names there
	Unpriced bool                  // the others have no price, even if the model sheet has one for the name
}

var wires = []string{"openai", "openai-responses", "anthropic", "google", "bedrock", "vertex", "azure"}

var endpointName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

func (s *Spec) readEndpoint(f fields, name string, at place, n *node) Endpoint {
	e := Endpoint{Provider: name}
	of := f.titled("the provider "+name, providerKeys, n)
	of.text("wire", &e.Wire)
	of.text("base_url", &e.BaseURL)
	of.text("key", &e.Key)
	if h := of.value("headers", mapping, "a mapping such as {X-Title: pawl}"); h != nil {
		e.Headers = map[string]string{}
		for _, p := range h.pairs {
			e.Headers[p.key] = p.value.text
		}
	}
	address, err := url.Parse(e.BaseURL)
	switch r := s.opt.Registry; {
	case !slices.Contains(wires, e.Wire):
		f.problem(n.get("wire").place, "there is no wire %q (write %s)", e.Wire, strings.Join(wires, ", "))
		e.Wire = wires[0] // so that its models are not said to have no provider
	case !endpointName.MatchString(name):
		f.problem(at, "the name of a provider is small letters, digits and hyphens, not %q", name)
	case r != nil && r.Models[name] != nil:
		f.problem(at, "%s is a provider that Pawl has; give your own another name", name)
		return Endpoint{}
	case err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https":
		f.problem(at, "the provider %s needs its base_url, such as http://localhost:11434/v1", name)
	case r != nil && r.Wire != nil:
		if _, err := r.Wire(e, "-"); err != nil { // the program does not have this wire
			f.problem(n.get("wire").place, "%v", err)
			e.Wire = wires[0]
		}
	}
	return e
}

// known returns a registry that also has the providers of the spec.
func (s *Spec) known(r *Registry) *Registry {
	if r == nil || r.Wire == nil || len(s.endpoints) == 0 {
		return r
	}
	own := *r
	if own.Models = maps.Clone(r.Models); own.Models == nil {
		own.Models = map[string]Provider{}
	}
	for name, e := range s.endpoints {
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
	return s.endpoints, nil
}

// rate sets the rate of a provider.
func (s *Spec) rate(name string, rate engine.Rate) {
	if s.Rates == nil {
		s.Rates = map[string]engine.Rate{}
	}
	s.Rates[name] = rate
}

// RatesOf returns the rates in the source of an agent, and in those of its agents for
// providers that it does not name: none if the source is not of a spec.
func RatesOf(source string) map[string]engine.Rate { return readAgain(source).Rates }
