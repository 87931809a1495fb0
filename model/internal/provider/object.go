package provider

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"
)

// Object is args when they are an object, and {} when they are not: providers
// take nothing else, and refuse every later request of a conversation that has
// it once. That it was something else, the call's result says.
//
// What providers refuse inside an object is mended too: of keys that are there
// twice the last counts, in the place of the first, and half a surrogate pair
// becomes U+FFFD. Numbers stay as they are written. An object with nothing to
// mend is given back byte for byte.
func Object(args json.RawMessage) json.RawMessage {
	b := bytes.TrimSpace(args)
	if len(b) == 0 || b[0] != '{' || !json.Valid(b) {
		return json.RawMessage("{}")
	}
	m := mender{dec: json.NewDecoder(bytes.NewReader(b))}
	m.dec.UseNumber()
	fixed := m.value()
	if m.err != nil || !m.mended {
		return b
	}
	return fixed
}

// A mender writes a valid document anew.
type mender struct {
	dec    *json.Decoder
	mended bool // whether there was anything to mend
	err    error
}

func (m *mender) value() []byte {
	t, err := m.dec.Token()
	if err != nil {
		m.err = err
		return nil
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return m.list()
		}
		return m.object()
	case string:
		return m.text(t)
	}
	return Marshal(t) // a number as it is written, a truth value or null
}

func (m *mender) text(s string) []byte {
	// The decoder has put this in the place of what is no Unicode; one that stood
	// there before does not change.
	m.mended = m.mended || strings.ContainsRune(s, '\uFFFD')
	return Marshal(s)
}

func (m *mender) list() []byte {
	var list [][]byte
	for m.err == nil && m.dec.More() {
		list = append(list, m.value())
	}
	m.end()
	return wrap('[', list, ']')
}

func (m *mender) object() []byte {
	var list [][]byte
	place := map[string]int{}
	for m.err == nil && m.dec.More() {
		t, _ := m.dec.Token()
		key, _ := t.(string)
		field := append(append(m.text(key), ':'), m.value()...)
		if n, twice := place[key]; twice {
			list[n], m.mended = field, true
			continue
		}
		place[key] = len(list)
		list = append(list, field)
	}
	m.end()
	return wrap('{', list, '}')
}

func (m *mender) end() {
	if _, err := m.dec.Token(); err != nil && err != io.EOF && m.err == nil {
		m.err = err
	}
}

func wrap(open byte, list [][]byte, end byte) []byte {
	return append(append([]byte{open}, bytes.Join(list, []byte{','})...), end)
}

// Opaque reports whether a part that a provider wants back as it came can be
// sent at all: it is an object, and its text is UTF-8.
func Opaque(raw json.RawMessage) bool {
	b := bytes.TrimSpace(raw)
	return len(b) > 0 && b[0] == '{' && json.Valid(b) && utf8.Valid(b)
}
