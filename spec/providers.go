package spec

import (
	"maps"
	"slices"

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
		if r := s.opt.Registry; r != nil && r.Models[p.key] == nil {
			known := slices.Sorted(maps.Keys(r.Models))
			f.problem(p.place, "there is no provider %s%s", p.key, expr.DidYouMean(p.key, known))
			continue
		}
		of := f.titled("the provider "+p.key, providerKeys, p.value)
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

// rate sets the rate of a provider.
func (s *Spec) rate(name string, rate engine.Rate) {
	if s.Rates == nil {
		s.Rates = map[string]engine.Rate{}
	}
	s.Rates[name] = rate
}

// RatesOf returns the rates in the source of an agent, and in those of its agents for
// providers that it does not name: none if the source is not of a spec.
func RatesOf(source string) map[string]engine.Rate {
	s := readAgain(source)
	if s == nil {
		return nil
	}
	return s.Rates
}
