package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// scalars yields the strings and numbers in a document.
func scalars(raw []byte, yield func(string)) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return
	}
	walk(v, yield)
}

func walk(v any, yield func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			walk(v[name], yield)
		}
	case []any:
		for _, one := range v {
			walk(one, yield)
		}
	case string:
		yield(v)
	case json.Number:
		yield(v.String())
	}
}

// spaced takes names apart: unitPrice and unit_price become unit price.
func spaced(name string) string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		if r >= 'A' && r <= 'Z' && before >= 'a' && before <= 'z' {
			b.WriteByte(' ')
		}
		if r == '_' {
			r = ' '
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// value takes in a value under its key.
func (e *evidence) value(v any, key string, at *place, doc int) {
	switch v := v.(type) {
	case map[string]any:
		here := &place{}
		if at != e.docs[doc] { // what an object is in says what it is about
			here.merge(at.phrase)
			here.subject.merge(at.subject)
		}
		keys := sortedKeys(v)
		for _, name := range keys {
			switch one := v[name].(type) {
			case string:
				if len(one) <= mostLength {
					p := readPhrase(one)
					here.merge(p)
					here.subject.merge(p)
				}
			}
			here.merge(readPhrase(spaced(name)))
		}
		e.learn(&here.phrase)
		for _, name := range keys {
			e.value(v[name], spaced(name), here, doc)
		}
	case []any:
		e.count(len(v))
		e.columns(v)
		for _, one := range v {
			e.value(one, key, at, doc)
		}
		if len(v) == 0 {
			e.field(key, "", true, at, doc)
		}
	case string:
		e.raw.WriteString(strings.ToLower(v) + "\n")
		if len(v) > mostLength || strings.Contains(v, "\n") {
			e.text(v, doc)
			return
		}
		for _, part := range clauses(v) {
			e.field(key, part, v == "", at, doc)
		}
	case json.Number:
		e.raw.WriteString(v.String() + "\n")
		e.field(key, v.String(), false, at, doc)
	case bool:
		e.field(key, "", !v, at, doc)
	case nil:
		e.field(key, "", true, at, doc)
	}
}

// field is an atom of a key and its value. A unit in the key's name is the
// value's: price_usd, timeout_ms.
func (e *evidence) field(key, value string, denied bool, at *place, doc int) {
	p := readPhrase(value)
	for i := range p.numbers {
		p.numbers[i].named(key)
		if p.numbers[i].value == 0 {
			denied = false // the value denies by itself
		}
	}
	k := readPhrase(key)
	p.denied = p.denied != (denied != k.denied)
	p.merge(k)
	e.learn(&p)
	e.keep(atom{p, doc, at})
}

// named gives a number the unit in its name.
func (q *quantity) named(key string) {
	if u, ok := units[strings.ToLower(key[strings.LastIndexByte(key, ' ')+1:])]; ok && q.dim == "" {
		q.dim, q.unit = u.dim, u.size
	}
}

// keep takes in an atom.
func (e *evidence) keep(a atom) {
	for _, ident := range a.idents {
		if isoDate.MatchString(ident) { // a date names its year too
			if q, ok := readQuantity(ident[:4]); ok {
				a.numbers = append(a.numbers, q)
			}
		}
	}
	for _, w := range a.words {
		e.near[beginning(w)] = append(e.near[beginning(w)], len(e.atoms))
	}
	e.atoms = append(e.atoms, a)
}

// beginning is what all forms of a word share.
func beginning(stem string) string { return stem[:min(4, len(stem))] }

// merge adds what another phrase speaks of.
func (p *phrase) merge(other phrase) {
	for _, w := range other.words {
		p.add(w, false)
	}
	p.idents = append(p.idents, other.idents...)
}

// text takes in sentences. The two before each stand around it; the rows of a
// table stand for themselves.
func (e *evidence) text(text string, doc int) {
	e.raw.WriteString(strings.ToLower(text) + "\n")
	var places []*place
	var all [][]phrase
	var owns []phrase
	for line := range strings.Lines(text) {
		list := split(line)
		for _, s := range list {
			whole := &place{}
			var parts []phrase
			var own phrase
			for _, c := range clauses(s) {
				p := readPhrase(c)
				own.merge(p)
				parts = append(parts, p)
			}
			whole.merge(own)
			prose := strings.ContainsAny(s[max(0, len(s)-1):], ".!?")
			if prose { // what "it" is stands before
				for _, before := range owns[max(0, len(owns)-2):] {
					whole.merge(before)
				}
			}
			whole.subject = whole.phrase
			places, all, owns = append(places, whole), append(all, parts), append(owns, own)
		}
	}
	for i, parts := range all {
		for _, p := range parts {
			e.learn(&p)
			e.keep(atom{p, doc, places[i]})
		}
	}
}

func (e *evidence) add(doc int, text string) {
	p := readPhrase(text)
	e.learn(&p)
	e.keep(atom{p, doc, e.docs[doc]})
}

// lines counts those of a text, which is how many things some tools list.
func (e *evidence) lines(text string) {
	n := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	if n > 1 {
		e.count(n)
		e.count(n - 1) // a table has a heading
	}
}

func (e *evidence) count(n int) {
	e.counts = append(e.counts, quantity{value: float64(n), place: 1})
}

// mostRows is how many things are counted and added up by their fields.
const mostRows = 5000

// columns counts equal values of a list of objects by field, and adds up numbers.
func (e *evidence) columns(list []any) {
	sums, counts, numbers := map[string]float64{}, map[string]int{}, map[string]int{}
	for _, one := range list[:min(len(list), mostRows)] {
		row, ok := one.(map[string]any)
		if !ok {
			row = map[string]any{"": one}
		}
		for name, v := range row {
			switch v := v.(type) {
			case json.Number:
				if f, err := v.Float64(); err == nil {
					sums[name] += f
					numbers[name]++
				}
			case string, bool:
				counts[fmt.Sprintf("%s\x00%v", name, v)]++
			}
		}
	}
	for _, n := range counts {
		if n > 1 && n < len(list) {
			e.count(n)
		}
	}
	for name, sum := range sums {
		if n := numbers[name]; n > 1 {
			q := quantity{value: sum, place: 1e-9}
			q.named(spaced(name))
			mean := q
			mean.value /= float64(n)
			e.sums = append(e.sums, q, mean)
		}
	}
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
