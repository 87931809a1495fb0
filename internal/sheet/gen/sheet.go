package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/sheet"
)

// A document is the text of a model sheet, with one row on a line.
type document struct {
	asOf     string
	families []string // their lines, as they are
	rows     []*row
	retired  []string // the lines of the providers
}

// A row is a model, with its keys in their order.
type row struct {
	sheet.Model

	keys []member
}

type member struct {
	name  string
	value json.RawMessage
}

func read(text []byte) (*document, error) {
	var doc struct {
		AsOf     string                     `json:"as_of"`
		Families []json.RawMessage          `json:"families"`
		Models   []json.RawMessage          `json:"models"`
		Retired  map[string]json.RawMessage `json:"retired"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	d := &document{asOf: doc.AsOf}
	for _, f := range doc.Families {
		d.families = append(d.families, string(f))
	}
	for _, provider := range slices.Sorted(maps.Keys(doc.Retired)) {
		d.retired = append(d.retired, fmt.Sprintf("%q: %s", provider, doc.Retired[provider]))
	}
	for _, raw := range doc.Models {
		r := &row{}
		if err := json.Unmarshal(raw, &r.Model); err != nil {
			return nil, err
		}
		in := json.NewDecoder(bytes.NewReader(raw))
		if _, err := in.Token(); err != nil {
			return nil, err
		}
		for in.More() {
			name, err := in.Token()
			m := member{name: fmt.Sprint(name)}
			if err := errors.Join(err, in.Decode(&m.value)); err != nil {
				return nil, err
			}
			r.keys = append(r.keys, m)
		}
		d.rows = append(d.rows, r)
	}
	return d, nil
}

// update sets the prices of a model, which gets a row if it has none and is not deprecated.
func (d *document) update(provider string, m model, date string) error {
	i := slices.IndexFunc(d.rows, func(r *row) bool { return r.Provider == provider && r.Name == m.ID })
	if i < 0 && m.Deprecated {
		return nil
	}
	all, err := m.all()
	if err != nil {
		return err
	}
	next := slices.IndexFunc(all, func(p dated) bool { return p.from > date })
	if next < 0 {
		next = len(all)
	}
	if next == 0 {
		return fmt.Errorf("no price on %s", date)
	}
	if i < 0 {
		return d.add(provider, m, all[next-1].Rates)
	}
	d.rows[i].price(all[next-1].Rates, all[next:], date)
	return nil
}

// add puts a new row behind those of its provider. What the data does not have is as in the last
// row of its family.
func (d *document) add(provider string, m model, now sheet.Rates) error {
	family, like, last := d.family(provider, m.ID), (*row)(nil), len(d.rows)
	for i, r := range d.rows {
		if r.Provider == provider {
			last = i + 1
			if r.Family == family {
				like = r
			}
		}
	}
	aliases := m.aliases()
	r := &row{Model: sheet.Model{Provider: provider, Name: m.ID, Aliases: aliases, Family: family}}
	r.set("provider", provider)
	r.set("name", m.ID)
	if len(aliases) > 0 {
		r.set("aliases", aliases)
	}
	if family != "" {
		r.set("family", family)
	}
	if like != nil {
		r.Input, r.CacheLong, r.Search, r.Session = like.Input, like.CacheLong, like.Search, like.Session
	}
	r.price(now, nil, "")
	if r.Search > 0 {
		r.set("web_search", r.Search)
	}
	if r.Session > 0 {
		r.set("code_session", r.Session)
	}
	d.rows = slices.Insert(d.rows, last, r)
	return nil
}

// family returns the family of a name that the sheet does not have.
func (d *document) family(provider, name string) string {
	family, longest := "", -1
	for _, line := range d.families {
		var f struct {
			Name, Provider string
			For            []string
		}
		if json.Unmarshal([]byte(line), &f) != nil || f.Provider != provider {
			continue
		}
		for _, prefix := range f.For {
			if strings.HasPrefix(name, prefix) && len(prefix) > longest {
				family, longest = f.Name, len(prefix)
			}
		}
	}
	return family
}

// prices are the keys that price writes, in their order.
var prices = []string{"input", "output", "cache_read", "cache_write", "cache_long", "long", "next"}

// price sets the prices of a row: now, and those that are announced. What the data does not have
// of a price keeps its ratio to the price of input, and what it does not announce stays until its day.
func (r *row) price(now sheet.Rates, announced []dated, date string) {
	complete(&now, r.Rates)
	var next []sheet.Change
	for _, a := range announced {
		complete(&a.Rates, now)
		a.Search, a.Session = r.Search, r.Session
		next = append(next, sheet.Change{From: a.from, Rates: a.Rates})
	}
	if next == nil {
		next = slices.DeleteFunc(r.Next, func(c sheet.Change) bool { return c.From <= date })
	}
	at := slices.IndexFunc(r.keys, func(m member) bool { return slices.Contains(prices, m.name) })
	r.keys = slices.DeleteFunc(r.keys, func(m member) bool { return slices.Contains(prices, m.name) })
	if at < 0 {
		at = len(r.keys)
	}
	behind := slices.Clone(r.keys[at:])
	r.keys = r.keys[:at]
	text, _ := json.Marshal(now) // numbers only
	var own map[string]json.RawMessage
	_ = json.Unmarshal(text, &own)
	for _, name := range prices {
		if value, ok := own[name]; ok {
			r.set(name, value)
		}
	}
	if len(next) > 0 {
		r.set("next", next)
	}
	r.keys = append(r.keys, behind...)
}

// complete sets what a price does not have to what another has, in its ratio to the price of input.
func complete(p *sheet.Rates, had sheet.Rates) {
	keep := func(to *float64, of, input, newInput float64) {
		if *to == 0 && input > 0 {
			*to = math.Round(of*newInput/input*1e6) / 1e6
		}
	}
	keep(&p.CacheRead, had.CacheRead, had.Input, p.Input)
	keep(&p.CacheWrite, had.CacheWrite, had.Input, p.Input)
	keep(&p.CacheLong, had.CacheLong, had.Input, p.Input)
	keep(&p.Long.CacheRead, p.CacheRead, p.Input, p.Long.Input)
	keep(&p.Long.CacheWrite, p.CacheWrite, p.Input, p.Long.Input)
	keep(&p.Long.CacheLong, p.CacheLong, p.Input, p.Long.Input)
}

func (r *row) set(name string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // values are texts and numbers
	}
	r.keys = append(r.keys, member{name, text})
}

// text writes one family and one row on a line, so that a new version shows what changed.
func (d *document) text(date, source string) []byte {
	lines := make([]string, len(d.rows))
	for i, r := range d.rows {
		var members []string
		for _, m := range r.keys {
			members = append(members, fmt.Sprintf("%q:%s", m.name, m.value))
		}
		lines[i] = "{" + strings.Join(members, ",") + "}"
	}
	return fmt.Appendf(nil, "{\"as_of\": %q, \"source\": %q,\n\"families\": [\n%s\n],\n\"models\": [\n%s\n],\n\"retired\": {\n%s\n}}\n",
		date, source, strings.Join(d.families, ",\n"), strings.Join(lines, ",\n"), strings.Join(d.retired, ",\n"))
}
