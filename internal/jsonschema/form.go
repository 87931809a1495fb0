package jsonschema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// A form is a schema that says no more than most schemas of tools do: the types of
// values, the properties of objects, the elements of arrays and the words a string
// may be. It knows a document that is surely valid without decoding it. Any other
// document, be it wrong or merely rare, is left to the library: one with an escape,
// an exponent or a property that is not named.
type form struct {
	begins   string   // what a value may begin with: { [ " t f n, and 0 for a number
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
				f.begins += map[any]string{"object": "{", "array": "[", "string": `"`, "boolean": "tf", "null": "n", "integer": "0", "number": "0"}[t]
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
	return f != nil && bytes.IndexByte(doc, '\\') < 0 && utf8.Valid(doc) && json.Valid(doc) && f.value(doc, space(doc, 0)) > 0
}

// value returns the index after the value at i of a valid document without
// escapes; negative: it may not be what the schema wants.
func (f *form) value(d []byte, i int) int {
	if f == nil {
		return -1
	}
	c := d[i]
	if c == '-' || '0' <= c && c <= '9' {
		c = '0'
	}
	if strings.IndexByte(f.begins, c) < 0 || f.words != nil && c != '"' {
		return -1
	}
	switch c {
	case '{':
		return f.object(d, i)
	case '[':
		return f.array(d, i)
	case '"':
		end := quoteEnd(d, i)
		if f.words != nil && !slices.Contains(f.words, string(d[i+1:end])) {
			return -1
		}
		return end + 1
	case '0':
		end := i + 1
		for end < len(d) && ('0' <= d[end] && d[end] <= '9' || d[end] == '.' && !f.whole) {
			end++
		}
		if end-i > 20 || end < len(d) && strings.IndexByte(".eE", d[end]) >= 0 {
			return -1
		}
		return end
	case 'f':
		return i + len("false")
	default:
		return i + len("true")
	}
}

func (f *form) array(d []byte, i int) int {
	for i = space(d, i+1); d[i] != ']'; {
		if d[i] == ',' {
			i = space(d, i+1)
		}
		if i = f.items.value(d, i); i < 0 {
			return -1
		}
		i = space(d, i)
	}
	return i + 1
}

func (f *form) object(d []byte, i int) int {
	var seen uint64
	for i = space(d, i+1); d[i] != '}'; {
		if d[i] == ',' {
			i = space(d, i+1)
		}
		end := quoteEnd(d, i)
		k := slices.IndexFunc(f.names, func(name string) bool { return name == string(d[i+1:end]) })
		if k < 0 || seen&(1<<k) != 0 {
			return -1
		}
		seen |= 1 << k
		colon := space(d, end+1)
		if i = f.values[k].value(d, space(d, colon+1)); i < 0 {
			return -1
		}
		i = space(d, i)
	}
	if f.required&^seen != 0 {
		return -1
	}
	return i + 1
}

// quoteEnd returns the index of the quote that ends the string at i.
func quoteEnd(d []byte, i int) int { return i + 1 + bytes.IndexByte(d[i+1:], '"') }

// space returns the index of what follows white space at i.
func space(d []byte, i int) int {
	for i < len(d) && d[i] <= ' ' {
		i++
	}
	return i
}
