package spec

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
)

// Outdated is the age beyond which the prices of a model sheet are not trusted.
const Outdated = 30 * 24 * time.Hour

// soon is the time before a retirement in which it is a warning.
const soon = 60 * 24 * time.Hour

// vendors are the providers of the model sheet, by the wire that their models are asked over.
// Clouds have other names for the same models, and their own days of retirement.
var vendors = map[string]string{"anthropic": "anthropic", "openai": "openai", "openai-responses": "openai", "google": "google"}

// official are the providers' own hosts.
var official = map[string]string{"anthropic": "api.anthropic.com", "openai": "api.openai.com", "google": "generativelanguage.googleapis.com"}

// vendor returns the provider of the model sheet whose models a provider has; empty: none.
func (s *Spec) vendor(r *Registry, provider string) string {
	wire := provider
	for _, e := range s.entries(r, provider) {
		wire = cmp.Or(e.Wire, wire)
	}
	return vendors[wire]
}

// outdated reports whether the price of a model comes from a sheet that is too old.
func (s *Spec) outdated(r *Registry, provider, name string) bool {
	if r == nil {
		return false
	}
	_, listed := sheet.Lookup(s.vendor(r, provider), name)
	return listed && r.now().Sub(sheet.AsOf()) > Outdated
}

// Retiring lists the models of a spec and its agents that retire within 60 days or have retired.
func (s *Spec) Retiring(r *Registry) Problems {
	d := &document{text: s.doc.text, src: s.doc.src}
	s.retiring(d, r)
	for _, m := range s.members {
		d.problems = append(d.problems, m.Retiring(r)...)
	}
	return d.problems.sorted()
}

func (s *Spec) retiring(d *document, r *Registry) {
	own := s.known(r)
	for _, m := range s.named(r) {
		provider, name, err := own.resolve(m.name, m.dir)
		if err != nil {
			continue // reported as a problem of the spec
		}
		vendor := s.vendor(r, provider)
		row, listed := sheet.Lookup(vendor, name)
		if !listed && sheet.Retired(vendor, name) {
			d.about(m.dir == "", "model", m.place, "%s was retired (write %s/%s)", m.name, provider, sheet.Default(vendor))
			continue
		}
		left, known := row.Until(r.now())
		if !known || left > soon {
			continue
		}
		retires, instead := "retires on", "pawl models lists others"
		if left <= 0 {
			retires = "was retired on"
		}
		if row.Successor != "" {
			instead = "write " + provider + "/" + row.Successor
		}
		d.about(m.dir == "", "model", m.place, "%s %s %s (%s)", m.name, retires, row.Retires, instead)
	}
}

// age warns if the price of the model comes from an outdated sheet.
func (s *Spec) age(d *document, r *Registry) {
	given, dir := s.modelName(r)
	if r == nil || given == "" || s.model.name == "" && s.family.member() {
		return
	}
	own := s.known(r)
	provider, name, err := own.resolve(given, dir)
	if err != nil || !s.outdated(r, provider, name) {
		return
	}
	model, err := own.Models[provider](name)
	if err != nil || model == nil {
		return
	}
	price, ours := s.price(charge{given: given, name: name, by: s.entries(r, provider)}, describe(model))
	if ours || price == nil {
		return
	}
	became := "costs are estimates"
	if s.stale == staleTokenOnly {
		became = "nothing is priced, and a limit on cost has no effect"
	}
	d.about(dir == "", "model", s.model.place, "the price of %s is of %s, more than 30 days ago, so %s (give it under prices, or a newer sheet in PAWL_MODELS)",
		given, sheet.AsOf().Format(time.DateOnly), became)
}

// unknown returns an error for a model that is asked for at its provider's own host although
// the sheet does not have it. A price under prices says that the model exists.
func (s *Spec) unknown(r *Registry, model pawl.Model, provider string, c charge) error {
	vendor := s.vendor(r, provider)
	_, listed := sheet.Lookup(vendor, c.name)
	_, priced := s.price(c, describe(model))
	if listed || priced || sheet.Retired(vendor, c.name) || !atHome(model, vendor) {
		return nil
	}
	near := slices.DeleteFunc(sheet.Near(c.name), func(row sheet.Model) bool { return row.Provider != vendor })
	return fmt.Errorf("the model sheet does not have %s (there is %s; for a newer model give a price under prices, or a newer sheet in PAWL_MODELS)",
		c.given, cmp.Or(candidates(c.name, near, r.now()), vendor+"/"+sheet.Default(vendor)))
}

// unsuited warns of what the spec asks for and a model does not take.
func (s *Spec) unsuited(d *document, r *Registry) {
	own := s.known(r)
	for _, m := range s.named(r) {
		provider, name, err := own.resolve(m.name, m.dir)
		if err != nil {
			continue // reported as a problem of the spec
		}
		vendor := s.vendor(r, provider)
		if traits, known := sheet.TraitsOf(vendor, name); known && m.sampled {
			s.untaken(d, m.name, &traits)
		}
	}
}

// atHome reports whether a model is asked for at its provider's own host.
func atHome(model pawl.Model, vendor string) bool {
	at, err := url.Parse(describe(model).Endpoint)
	return vendor != "" && err == nil && (at.Hostname() == official[vendor] || strings.HasSuffix(at.Hostname(), "."+official[vendor]))
}

// untaken warns of a temperature, an effort and a limit that a model does not take.
func (s *Spec) untaken(d *document, given string, t *sheet.Traits) {
	effort := s.model.sampling.Effort
	for _, n := range slices.Concat(s.root.all("model.temperature"), s.root.all("properties.temperature")) {
		switch {
		case t.Sampling == sheet.Always || t.Sampling == sheet.Unthinking && !t.Thinks(effort):
		case t.Sampling == sheet.Unthinking && slices.Contains(t.Efforts, "none"):
			d.problem(n.place, "%s takes a temperature only without thinking; write effort: none, or leave it out", given)
		default:
			d.problem(n.place, "%s takes no temperature; leave it out (or use effort)", given)
		}
	}
	if near := t.Clamp(effort); near != effort {
		where := s.find("model", "effort")
		if t.Thinking == "" {
			d.about(s.opt.Effort != "", "effort", where, "%s does not think; leave effort out", given)
		} else {
			d.about(s.opt.Effort != "", "effort", where, "effort %s is not known to %s; %s is used", effort, given, near)
		}
	}
	for _, n := range s.root.all("model.max_tokens") {
		if t.Reply > 0 && s.model.sampling.MaxTokens > t.Reply {
			d.problem(n.place, "%s writes at most %d tokens in a reply; write max_tokens: %d, or leave it out", given, t.Reply, t.Reply)
		}
	}
}
