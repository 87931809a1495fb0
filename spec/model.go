package spec

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
)

// modelName returns the name of the model where it is given, and the directory of its files; empty
// for an option.
func (s *Spec) modelName(r *Registry) (name *node, dir string) {
	switch {
	case s.opt.Model != "":
		return option("model", s.opt.Model), ""
	case s.Model.Name != "":
		return s.at("model", "name"), s.base
	case s.Demo(r):
		demo := *s.at("model", "demo")
		demo.text = scriptProvider + ":" + demo.text
		return &demo, s.base
	}
	return option("model", r.program().Default), ""
}

// fallbacks are where the fallback models are named. A model named on the command line has none.
func (s *Spec) fallbacks() []*node {
	if s.opt.Model != "" {
		return nil
	}
	return s.n.all("model.fallback.*")
}

// Demo reports whether a script takes the place of the model, because no model is named and the
// registry has no default.
func (s *Spec) Demo(r *Registry) bool {
	return s.Model.Demo != "" && s.opt.Model == "" && s.Model.Name == "" && r.program().Default == ""
}

// makeModel creates the model, or a placeholder if that fails. Its price may
// change the limits.
func (s *Spec) makeModel(d *document, r *Registry, caller pawl.Model, limits *pawl.Limits) pawl.Model {
	if s.Model.Name == "" && s.family.member() {
		if caller == nil { // the caller is not known yet
			return standIn{}
		}
		name := describe(caller).Name
		m := named{at: option("model", name)}
		m.provider, m.name, _ = strings.Cut(name, "/")
		if _, fixed := caller.(priced); r != nil && !fixed { // else its price is not the sheet's
			s.list(r, &m)
		}
		return s.atPrice(d, caller, m, limits)
	}
	if r == nil || s.at("model", "name").kind == 0 && s.opt.Model == "" {
		return standIn{}
	}
	given, dir := s.modelName(r)
	if s.asksNobody() {
		return nil
	}
	if given.text == "" {
		d.problem(s.at("model"), "the spec names no model, and there is no default (write model: PROVIDER/NAME)")
		return standIn{}
	}
	return s.make(d, r, given, dir, limits)
}

// asksNobody reports whether the spec is a workflow without a model and without
// a step that needs one.
func (s *Spec) asksNobody() bool {
	needs := func(e entry) bool {
		return e.agent != nil && e.agent.spec.Model.Name == "" && !e.agent.spec.asksNobody()
	}
	return s.flow != nil && !s.flow.asks && s.Model.Name == "" && s.opt.Model == "" && !slices.ContainsFunc(s.entries, needs)
}

// make creates the model that is named at a place.
func (s *Spec) make(d *document, r *Registry, at *node, dir string, limits *pawl.Limits) pawl.Model {
	m, err := s.lookup(r, at, dir)
	var model pawl.Model
	if err == nil {
		if model, err = s.known(r).Models[m.provider](m.name); err != nil {
			err = fmt.Errorf("model %s: %w", at.text, err)
		} else if model == nil {
			err = fmt.Errorf("model %s: the provider has no model of that name", at.text)
		} else {
			err = s.unknown(r, model, m)
		}
	}
	if err != nil {
		d.problem(at, "%v", err)
		return standIn{}
	}
	return s.atPrice(d, model, m, limits)
}

// atPrice returns a model with its price in this spec: the spec's own, or that of the model
// sheet, to which price_staleness applies if it is outdated.
func (s *Spec) atPrice(d *document, model pawl.Model, m named, limits *pawl.Limits) pawl.Model {
	info, given := describe(model), m.at.text
	price, own := s.price(m, info)
	if own {
		model = priced{model, price}
	} else if m.outdated && price != nil {
		switch s.PriceStaleness {
		case "refuse":
			d.problem(s.at("price_staleness"), "the price of %s is of %s, more than 30 days ago (give it under prices, or a newer sheet in PAWL_MODELS)", given, sheet.AsOf().Format(time.DateOnly))
		case "token-only":
			price, model = nil, priced{model, nil}
			limits.Cost = 0
		}
	}
	if limits.Cost > 0 && price == nil {
		where := ""
		if info.Endpoint != "" {
			where = " at " + info.Endpoint
		}
		at := s.at("limits", "cost")
		if s.opt.Limits.Cost != 0 {
			at = option("limits", "")
		}
		d.problem(at, "cost is $%.2f, but the model %s%s has no price (give it one under prices, or drop the ceiling)", limits.Cost, given, where)
	}
	for _, b := range s.Budgets {
		if b.Cost > 0 && price == nil {
			d.problem(s.at("budgets"), "%s cannot be enforced, since the model %s has no price (give it one under prices, or limit tokens)", b, given)
			break
		}
	}
	return model
}

// price returns the price of a model, nil if it has none, and whether the spec or the entry of
// its provider says so.
func (s *Spec) price(m named, info pawl.ModelInfo) (*pawl.Price, bool) {
	_, short, _ := strings.Cut(info.Name, "/")
	for _, key := range []string{m.at.text, info.Name, m.name, short} {
		if p, ok := s.Prices[key]; ok {
			return &p, true
		}
	}
	for _, e := range m.by {
		if p, ok := e.Prices[m.name]; ok {
			return &p, true
		}
		if e.Price == "none" {
			return nil, true
		}
	}
	return info.Price, false
}
