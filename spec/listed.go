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

// A named model is one that a spec or an option names, with what is known of it.
type named struct {
	at      *node
	dir     string // of its files; empty for an option
	main    bool   // it is the model of the spec, and no fallback or judge
	sampled bool   // it is asked with the spec's temperature and effort

	provider, name string
	by             []Endpoint // what the spec and the user say about the provider
	vendor         string     // the provider of the model sheet that has it; empty: none
	row            sheet.Model
	listed         bool
	outdated       bool // the sheet has its price, and is too old
}

// lookup finds the model with the name at a place.
func (s *Spec) lookup(r *Registry, at *node, dir string) (m named, err error) {
	m = named{at: at, dir: dir}
	if m.provider, m.name, err = s.known(r).resolve(at.text, dir); err == nil {
		s.list(r, &m)
	}
	return m, err
}

// list finds a model in the model sheet.
func (s *Spec) list(r *Registry, m *named) {
	m.by = []Endpoint{s.Providers[m.provider], r.Endpoints[m.provider]}
	m.vendor = vendors[cmp.Or(m.by[1].Wire, m.by[0].Wire, m.provider)]
	m.row, m.listed = sheet.Lookup(m.vendor, m.name)
	m.outdated = m.listed && r.now().Sub(sheet.AsOf()) > Outdated
}

// named returns the models of the spec without those of its agents. A name that cannot be resolved
// is a problem of the spec.
func (s *Spec) named(r *Registry) (all []named) {
	if r == nil {
		return nil
	}
	add := func(at *node, dir string, main, sampled bool) {
		if m, err := s.lookup(r, at, dir); err == nil {
			m.main, m.sampled = main, sampled
			all = append(all, m)
		}
	}
	inherits := s.Model.Name == "" && s.family.member()
	if at, dir := s.modelName(r); at.text != "" && !inherits && !s.asksNobody() {
		add(at, dir, true, true)
	}
	for _, n := range s.fallbacks() {
		add(n, s.base, false, true)
	}
	for _, path := range judgeModels {
		for _, n := range s.n.all(path) {
			add(n, s.base, false, false)
		}
	}
	return all
}

// Unready lists the models of a spec that cannot be called, because their keys
// are missing: its own, the fallbacks, those of its judges and summaries, and
// all of these of its agents; and its webhooks without a secret. A run that
// needs one of them fails.
func (s *Spec) Unready(r *Registry) Problems {
	d := &document{}
	for _, m := range s.named(r) {
		model, err := s.known(r).Models[m.provider](m.name)
		if keyed, ok := model.(Readiness); err == nil && ok {
			if err := keyed.Ready(); err != nil {
				d.problem(m.at, "%v", err)
			}
		}
	}
	s.unsigned(d)
	for _, m := range s.members {
		d.problems = append(d.problems, m.Unready(r)...)
	}
	return d.problems.sorted()
}

// Retiring lists the models of a spec and its agents that retire within 60 days or have retired.
func (s *Spec) Retiring(r *Registry) Problems {
	d := &document{}
	for _, m := range s.named(r) {
		m.retiring(d, r.now())
	}
	for _, m := range s.members {
		d.problems = append(d.problems, m.Retiring(r)...)
	}
	return d.problems.sorted()
}

func (m *named) retiring(d *document, now time.Time) {
	if !m.listed && sheet.Retired(m.vendor, m.name) {
		d.problem(m.at, "%s was retired (write %s/%s)", m.at.text, m.provider, sheet.Default(m.vendor))
		return
	}
	left, known := m.row.Until(now)
	if !known || left > soon {
		return
	}
	retires, instead := "retires on", "pawl models lists others"
	if left <= 0 {
		retires = "was retired on"
	}
	if m.row.Successor != "" {
		instead = "write " + m.provider + "/" + m.row.Successor
	}
	d.problem(m.at, "%s %s %s (%s)", m.at.text, retires, m.row.Retires, instead)
}

// unfit warns of models that retire, have outdated prices or do not take what the spec asks for.
func (s *Spec) unfit(d *document, r *Registry) {
	for _, m := range s.named(r) {
		m.retiring(d, r.now())
		if m.main && m.outdated {
			s.age(d, r, m)
		}
		if traits, known := sheet.TraitsOf(m.vendor, m.name); known && m.sampled {
			s.untaken(d, m.at.text, &traits)
		}
	}
}

// age warns if the price of the model comes from an outdated sheet.
func (s *Spec) age(d *document, r *Registry, m named) {
	model, err := s.known(r).Models[m.provider](m.name)
	if err != nil || model == nil {
		return
	}
	if price, own := s.price(m, describe(model)); own || price == nil {
		return
	}
	became := "costs are estimates"
	if s.PriceStaleness == "token-only" {
		became = "nothing is priced, and a limit on cost has no effect"
	}
	d.problem(m.at, "the price of %s is of %s, more than 30 days ago, so %s (give it under prices, or a newer sheet in PAWL_MODELS)",
		m.at.text, sheet.AsOf().Format(time.DateOnly), became)
}

// unknown returns an error for a model that is asked for at its provider's own host although
// the sheet does not have it. A price under prices says that the model exists.
func (s *Spec) unknown(r *Registry, model pawl.Model, m named) error {
	_, priced := s.price(m, describe(model))
	if m.listed || priced || sheet.Retired(m.vendor, m.name) || !atHome(model, m.vendor) {
		return nil
	}
	near := slices.DeleteFunc(sheet.Near(m.name), func(row sheet.Model) bool { return row.Provider != m.vendor })
	return fmt.Errorf("the model sheet does not have %s (there is %s; for a newer model give a price under prices, or a newer sheet in PAWL_MODELS)",
		m.at.text, cmp.Or(candidates(m.name, near, r.now()), m.vendor+"/"+sheet.Default(m.vendor)))
}

// atHome reports whether a model is asked for at its provider's own host.
func atHome(model pawl.Model, vendor string) bool {
	at, err := url.Parse(describe(model).Endpoint)
	return vendor != "" && err == nil && (at.Hostname() == official[vendor] || strings.HasSuffix(at.Hostname(), "."+official[vendor]))
}

// untaken warns of a temperature, an effort and a limit that a model does not take.
func (s *Spec) untaken(d *document, given string, t *sheet.Traits) {
	effort := s.Model.Effort
	for _, n := range s.n.all("model.temperature") {
		switch {
		case t.Sampling == sheet.Always || t.Sampling == sheet.Unthinking && !t.Thinks(effort):
		case t.Sampling == sheet.Unthinking && slices.Contains(t.Efforts, "none"):
			d.problem(n, "%s takes a temperature only without thinking; write effort: none, or leave it out", given)
		default:
			d.problem(n, "%s takes no temperature; leave it out (or use effort)", given)
		}
	}
	if near := t.Clamp(effort); near != effort {
		where := s.at("model", "effort")
		if s.opt.Effort != "" {
			where = option("effort", "")
		}
		if t.Thinking == "" {
			d.problem(where, "%s does not think; leave effort out", given)
		} else {
			d.problem(where, "effort %s is not known to %s; %s is used", effort, given, near)
		}
	}
	for _, n := range s.n.all("model.max_tokens") {
		if t.Reply > 0 && s.Model.MaxTokens > t.Reply {
			d.problem(n, "%s writes at most %d tokens in a reply; write max_tokens: %d, or leave it out", given, t.Reply, t.Reply)
		}
	}
}
