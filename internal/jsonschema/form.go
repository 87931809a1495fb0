package jsonschema

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// A form is a schema that says no more than most schemas of tools do: the types of
// values, the properties of objects, the elements of arrays and the words a string
// may be. It knows a document that is surely valid without decoding it. Any other
// document, be it wrong or merely rare, is left to the library: one with an
// exponent or a property that is not named.
type form struct {
	begins   string   // what a value may begin with, as [wire.Reader.Kind] says it
	whole    bool     // numbers are integers
	words    []string // if not nil, values are these strings
	names    []string // of properties
	values   []*form  // of properties; nil: left to the library
	required uint64   // bits of names
	items    *form
}

// formOf returns the form of a schema; nil: it says more than a form can.
func formOf(schema any) *form {
	keywords, _ := schema.(map[string]any)
	if keywords["type"] == nil {
		return nil
	}
	f := &form{whole: true}
	for name, value := range keywords {
		switch name {
		case "$schema", "title", "description", "additionalProperties": // the last speaks of properties not named
		case "type":
			types, ok := value.([]any)
			if !ok {
				types = []any{value}
			}
			for _, t := range types {
				f.begins += map[any]string{"object": "{", "array": "[", "string": `"`, "boolean": "t", "null": "n", "integer": "0", "number": "0"}[t]
				f.whole = f.whole && t != "number"
			}
		case "enum":
			f.words = []string{}
			list, _ := value.([]any)
			for _, v := range list {
				if word, ok := v.(string); ok {
					f.words = append(f.words, word)
				}
			}
		case "properties":
			properties, _ := value.(map[string]any)
			for name, inner := range properties {
				f.values[f.property(name)] = formOf(inner)
			}
		case "required":
			list, _ := value.([]any)
			for _, v := range list {
				name, _ := v.(string)
				f.required |= 1 << f.property(name)
			}
		case "items":
			f.items = formOf(value)
		default:
			return nil
		}
	}
	if len(f.names) > 64 {
		return nil
	}
	return f
}

// property returns the number of a property.
func (f *form) property(name string) int {
	i := slices.Index(f.names, name)
	if i < 0 {
		i = len(f.names)
		f.names, f.values = append(f.names, name), append(f.values, nil)
	}
	return i
}

// accepts reports whether a document is surely valid.
func (f *form) accepts(doc []byte) bool {
	r := wire.NewReader(doc)
	r.Strict = true
	return f.value(&r) && r.Done() == nil
}

// value goes past the next value. It reports whether the schema wants such a
// value, if it is one at all; false: it may not.
func (f *form) value(r *wire.Reader) bool {
	if f == nil {
		return false
	}
	c := r.Kind()
	if strings.IndexByte(f.begins, c) < 0 || f.words != nil && c != '"' {
		return false
	}
	switch c {
	case '{':
		return f.object(r)
	case '[':
		for r.List(); r.Element(); {
			if !f.items.value(r) {
				return false
			}
		}
	case '"':
		text := r.Text()
		return f.words == nil || slices.Contains(f.words, string(text))
	case '0':
		number := r.Number()
		return len(number) <= 20 && !bytes.ContainsAny(number, "eE") && !(f.whole && bytes.IndexByte(number, '.') >= 0)
	default:
		r.Skip()
	}
	return true
}

func (f *form) object(r *wire.Reader) bool {
	var seen uint64
	for r.Open(); r.More(); {
		name := r.Key()
		k := slices.IndexFunc(f.names, func(known string) bool { return known == string(name) })
		if k < 0 || seen&(1<<k) != 0 || !f.values[k].value(r) {
			return false
		}
		seen |= 1 << k
	}
	return f.required&^seen == 0
}
