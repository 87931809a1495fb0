package guard

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// A person names a thing in words, such as the lunch with Sarah, and a search
// finds its id. The id counts as chosen by that person if its record contains
// the words. It must be a field of the result's own structure, which the author
// of a text in it cannot write.

// A record is an object of an untrusted result that has an id.
type record struct {
	fields []string // the other texts and numbers, folded
	asked  []string // the arguments of the search that a person had named, folded
}

// remember records the records of a result.
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
				text = fold(key) // the value is not read yet
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

// identifiers are common names of id fields.
var identifiers = one("id key no number uid uuid")

// titles are common names of fields that name a record and may also be used as
// arguments.
var titles = one("file filename name path slug")

// scalar returns a text or a number, folded; empty: it is neither.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return fold(v)
	case json.Number:
		return v.String()
	}
	return ""
}

// picked returns a record with an id and a person's words: a field consists of
// such words, or a person named the whole search.
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

// every reports whether all words of a text satisfy such and one of them is
// meaningful.
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

// wanted reports whether a call has a named value that was not only used to
// search.
func wanted(picked []*record, named []value) bool {
	return slices.ContainsFunc(named, func(v value) bool {
		s := fold(v.text)
		return !slices.ContainsFunc(picked, func(r *record) bool { return slices.Contains(r.asked, s) })
	})
}

// harmless reports whether a call has nothing but dates and prose: as its tool
// declares or, with a date, by the argument's name.
func harmless(h heldCall, info *pawl.ToolInfo) bool {
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

// dated reports whether a folded value is a date, a time or both. Such a value
// names no recipient or object, so it is not decisive.
func dated(folded string) bool {
	if _, _, ok := moment(folded); ok {
		return true
	}
	_, day := dateOf(folded)
	_, clock := clockOf(folded)
	return day || clock
}
