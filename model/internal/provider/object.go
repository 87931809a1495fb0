package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Object is args when they are an object, and {} when they are not: providers
// take nothing else, and refuse every later request of a conversation that has
// it once. The call's result says that it was something else.
//
// What providers refuse inside an object is fixed too, see [Document].
func Object(args json.RawMessage) json.RawMessage {
	b := bytes.TrimSpace(args)
	if len(b) == 0 || b[0] != '{' || !json.Valid(b) {
		return json.RawMessage("{}")
	}
	return Document(b)
}

// Document is a valid document without what providers refuse inside one: of keys
// that occur twice the last counts, in the place of the first, and half a
// surrogate pair becomes U+FFFD. Numbers stay as they are written. A document
// with nothing to fix is returned byte for byte.
func Document(b json.RawMessage) json.RawMessage {
	f := fixer{dec: json.NewDecoder(bytes.NewReader(b))}
	f.dec.UseNumber()
	if fixed := f.value(); f.fixed {
		return fixed
	}
	return b
}

// A fixer rewrites a valid document, so its decoder never fails.
type fixer struct {
	dec   *json.Decoder
	fixed bool // whether there was anything to fix
}

func (f *fixer) value() []byte {
	t, _ := f.dec.Token()
	if s, ok := t.(string); ok {
		return f.text(s)
	}
	open, ok := t.(json.Delim)
	if !ok {
		return Marshal(t) // a number as it is written, a truth value or null
	}
	var list [][]byte
	place := map[string]int{}
	for f.dec.More() {
		if open == '[' {
			list = append(list, f.value())
			continue
		}
		t, _ := f.dec.Token()
		key, _ := t.(string)
		field := append(append(f.text(key), ':'), f.value()...)
		if n, twice := place[key]; twice {
			list[n], f.fixed = field, true
			continue
		}
		place[key] = len(list)
		list = append(list, field)
	}
	end, _ := f.dec.Token()
	return fmt.Appendf(nil, "%v%s%v", open, bytes.Join(list, []byte{','}), end)
}

func (f *fixer) text(s string) []byte {
	// The decoder has put this in the place of what is not Unicode; one that was
	// there before does not change.
	f.fixed = f.fixed || strings.ContainsRune(s, '\uFFFD')
	return Marshal(s)
}

// Opaque reports whether an opaque part can be sent back: it is an object in
// valid UTF-8.
func Opaque(raw json.RawMessage) bool {
	b := bytes.TrimSpace(raw)
	return len(b) > 0 && b[0] == '{' && json.Valid(b) && utf8.Valid(b)
}
