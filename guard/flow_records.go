package guard

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// An id that searching found was chosen by nobody's words: a person says "the lunch
// with Sarah", and the calendar has an id for it. The id counts as picked by that
// person when the record it stands in holds what the person named. It must be a
// field of the result's own structure, which the author of a text in it cannot write.

// A record is an object of an untrusted result that has an id.
type record struct {
	fields []string // its other texts and numbers, folded
	asked  []string // what a person named of what the search was asked with, folded
}

// remember takes in the records of a result.
func (k *known) remember(result, args json.RawMessage) {
	var asked []string
	for _, v := range valuesOf(args, nil) {
		if s := fold(v.text); every(s, func(word string) bool { return idle[word] || k.person.uses(word) }) {
			asked = append(asked, s)
		}
	}
	dec := json.NewDecoder(bytes.NewReader(result))
	dec.UseNumber()
	var tree any
	if dec.Decode(&tree) == nil {
		k.walk(tree, asked)
	}
}

func (k *known) walk(v any, asked []string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			k.walk(item, asked)
		}
	case map[string]any:
		ids, r := []string{}, record{asked: asked}
		for key, item := range v {
			text := scalar(item)
			if yes, _ := item.(bool); yes {
				text = fold(key) // it is unread
			}
			switch {
			case text == "":
				k.walk(item, asked)
			case identifiers[lastWord(key)] && !strings.Contains(text, " "):
				ids = append(ids, text)
			case titles[lastWord(key)] && !identifies(text):
				ids, r.fields = append(ids, text), append(r.fields, text)
			default:
				r.fields = append(r.fields, text)
			}
		}
		for _, id := range ids {
			k.records[id] = append(k.records[id], r)
		}
	}
}

// identifiers are the names under which systems give ids.
var identifiers = one("id key no number uid uuid")

// titles are those under which a record has a name that a call may be made with, too.
var titles = one("file filename name path slug")

// scalar is a text or a number, folded; empty: it is neither.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return fold(v)
	case json.Number:
		return v.String()
	}
	return ""
}

// picked is the record with an id that holds what a person named: in a field, all
// of whose words are a person's, or all that a person had looked for.
func (w *view) picked(id string) *record {
	said := func(word string) bool { return w.person.uses(word) || w.said.uses(word) }
	for i, r := range w.records[id] {
		all := strings.Join(r.fields, "\n")
		holds := func(word string) bool { return idle[word] || strings.Contains(all, strings.TrimSuffix(word, "s")) }
		if slices.ContainsFunc(r.fields, func(f string) bool { return every(f, said) }) ||
			slices.ContainsFunc(r.asked, func(q string) bool { return every(q, holds) }) {
			return &w.records[id][i]
		}
	}
	return nil
}

// every reports whether all words of a text are such, and one of them says something.
func every(folded string, such func(string) bool) bool {
	const least = 3 // letters
	says, all := false, true
	eachWord(folded, func(word string, _ int) bool {
		says = says || len(word) >= least && !idle[word] && !digit(word[0])
		all = such(word)
		return all
	})
	return all && says
}

// wanted reports whether a call has a value that was named for it, and not only to
// search with.
func wanted(picked []*record, named []value) bool {
	return slices.ContainsFunc(named, func(v value) bool {
		s := fold(v.text)
		return !slices.ContainsFunc(picked, func(r *record) bool { return slices.Contains(r.asked, s) })
	})
}

// harmless reports whether a call has nothing but dates and what is prose: as its
// tool declares or, beside a date, by the name.
func harmless(h held, info *pawl.ToolInfo) bool {
	date, named := false, false
	for _, v := range slices.Concat(h.values, h.prose) {
		switch {
		case slices.Contains(info.Content, v.name) && reads(&v):
		case dated(fold(v.text)):
			date = true
		case isContent(&v) && reads(&v):
			named = true
		default:
			return false
		}
	}
	return date || !named
}

// dated reports whether a folded value is a date, a time or both. It reaches nobody
// and names nothing, so it does not decide by itself.
func dated(folded string) bool {
	if _, _, ok := moment(folded); ok {
		return true
	}
	_, day := dateOf(folded)
	_, clock := clockOf(folded)
	return day || clock
}
