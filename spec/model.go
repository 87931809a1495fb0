package spec

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
)

// readModel reads the model: a name, or a mapping.
func (s *Spec) readModel(f fields) {
	n := f.n.get("model")
	switch {
	case n == nil:
		s.model.place = f.n.place
		return
	case n.kind == text:
		f.text("model", &s.model.name)
		s.model.place = n.place
		return
	case n.kind != mapping:
		if n.kind != 0 {
			f.problem(n.place, "model is %v (write a name such as anthropic/claude-sonnet-5-5, or a mapping with name)", n.kind)
		}
		s.model.unreadable = true
		return
	}
	m := f.fields(modelKeys, n)
	s.model.place = n.place
	if name := n.get("name"); name != nil {
		s.model.place = name.place
	}
	m.text("name", &s.model.name)
	sampling := &s.model.sampling
	m.temperature(sampling)
	m.count("max_tokens", &sampling.MaxTokens, 1, "16384")
	sampling.Effort = m.word("effort")
	if sampling.Cache = m.word("cache"); sampling.Cache == "auto" {
		sampling.Cache = ""
	}
	names, at := m.words("fallback", "[openai/gpt-6.2-sol]")
	for i, name := range names {
		s.model.fallback = append(s.model.fallback, model{name: name, place: at[i].place})
	}
}

// temperature reads the sampling temperature.
func (f fields) temperature(to *pawl.Sampling) {
	if f.measure("temperature", &to.Temperature, "0.2") && to.Temperature == 0 {
		to.Temperature = -1 // zero leaves it to the provider, negative is exactly zero
	}
}

// modelName returns the name of the model, and the directory of its files.
func (s *Spec) modelName(r *Registry) (name, dir string) {
	switch {
	case s.opt.Model != "":
		return s.opt.Model, ""
	case s.model.name != "":
		return s.model.name, s.base
	case r != nil:
		return r.Default, ""
	}
	return "", ""
}

// makeModel creates the model, or a placeholder if that fails. Its price may
// change the limits.
func (s *Spec) makeModel(d *document, r *Registry, caller pawl.Model, limits *pawl.Limits) pawl.Model {
	if s.model.name == "" && s.family.member() {
		if caller == nil { // the caller is not known yet
			return standIn{}
		}
		name := describe(caller).Name
		provider, short, _ := strings.Cut(name, "/")
		_, fixed := caller.(priced) // by the spec that names it, so its price is not the table's
		return s.atPrice(d, caller, charge{given: name, name: short, outdated: !fixed && s.outdated(r, provider, short)}, limits)
	}
	if r == nil || s.model.unreadable && s.opt.Model == "" {
		return standIn{}
	}
	given, dir := s.modelName(r)
	if s.asksNobody() {
		return nil
	}
	if given == "" {
		d.problem(s.model.place, "the spec names no model, and there is no default (write model: PROVIDER/NAME)")
		return standIn{}
	}
	return s.make(d, r, given, dir, s.model.place, limits)
}

// asksNobody reports whether the spec is a workflow without a model and without
// a step that needs one.
func (s *Spec) asksNobody() bool {
	needs := func(d delegate) bool { return d.spec.model.name == "" && !d.spec.asksNobody() }
	return s.flow != nil && !s.flow.asks && s.model.name == "" && s.opt.Model == "" && !slices.ContainsFunc(s.agents, needs)
}

// makeFallback creates the fallback models. A model named on the command line
// has none.
func (s *Spec) makeFallback(d *document, r *Registry, limits *pawl.Limits) (all []pawl.Model) {
	if r == nil || s.opt.Model != "" {
		return nil
	}
	for _, m := range s.model.fallback {
		all = append(all, s.make(d, r, m.name, s.base, m.place, limits))
	}
	return all
}

// make creates the model with a name at a place.
func (s *Spec) make(d *document, r *Registry, given, dir string, at place, limits *pawl.Limits) pawl.Model {
	bad := func(err error) pawl.Model {
		d.about(dir == "", "model", at, "%v", err)
		return standIn{}
	}
	r = s.known(r)
	provider, name, err := r.resolve(given, dir)
	if err != nil {
		return bad(err)
	}
	model, err := r.Models[provider](name)
	switch {
	case err != nil:
		return bad(fmt.Errorf("model %s: %w", given, err))
	case model == nil:
		return bad(fmt.Errorf("model %s: the provider has no model of that name", given))
	}
	c := charge{given: given, name: name, outdated: s.outdated(r, provider, name), by: s.entries(r, provider)}
	if err := s.unknown(r, model, provider, c); err != nil {
		return bad(err)
	}
	return s.atPrice(d, model, c, limits)
}

// A charge is what a model is priced by, besides its own description.
type charge struct {
	given    string     // its name in the spec
	name     string     // its name at the provider
	by       []Endpoint // the entries of the provider, that of the spec first
	outdated bool       // the sheet has its price, and is too old
}

// entries returns what the spec and the user say about a provider.
func (s *Spec) entries(r *Registry, provider string) []Endpoint {
	return []Endpoint{s.endpoints[provider], r.Endpoints[provider]}
}

// atPrice returns a model with its price in this spec: the spec's own, or that of the model
// sheet, to which price_staleness applies if it is outdated.
func (s *Spec) atPrice(d *document, model pawl.Model, c charge, limits *pawl.Limits) pawl.Model {
	info, given := describe(model), c.given
	price, own := s.price(c, info)
	if own {
		model = priced{model, price}
	} else if c.outdated && price != nil {
		switch s.stale {
		case staleRefuse:
			d.problem(s.root.get("price_staleness").place, "the price of %s is of %s, more than 30 days ago (give it under prices, or a newer sheet in PAWL_MODELS)", given, sheet.AsOf().Format(time.DateOnly))
		case staleTokenOnly:
			price, model = nil, priced{model, nil}
			limits.Cost = 0
		}
	}
	if limits.Cost > 0 && price == nil {
		where := ""
		if info.Endpoint != "" {
			where = " at " + info.Endpoint
		}
		d.about(s.opt.Limits.Cost != 0, "limits", s.find("limits", "cost"),
			"cost is $%.2f, but the model %s%s has no price (give it one under prices, or drop the ceiling)", limits.Cost, given, where)
	}
	for _, b := range s.Budgets {
		if b.Cost > 0 && price == nil {
			d.problem(s.find("budgets"), "%s cannot be enforced, since the model %s has no price (give it one under prices, or limit tokens)", b, given)
			break
		}
	}
	return model
}

// price returns the price of a model, nil if it has none, and whether the spec or the entry of
// its provider says so.
func (s *Spec) price(c charge, info pawl.ModelInfo) (*pawl.Price, bool) {
	_, short, _ := strings.Cut(info.Name, "/")
	for _, key := range []string{c.given, info.Name, c.name, short} {
		if p, ok := s.prices[key]; ok {
			return &p, true
		}
	}
	for _, e := range c.by {
		if p, ok := e.Prices[c.name]; ok {
			return &p, true
		}
		if e.Unpriced {
			return nil, true
		}
	}
	return info.Price, false
}

// find returns the place of the value at a path of keys, or of its nearest
// ancestor.
func (s *Spec) find(keys ...string) place {
	n := s.root
	for _, key := range keys {
		next := n.get(key)
		if next == nil {
			break
		}
		n = next
	}
	return n.place
}
