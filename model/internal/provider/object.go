package provider

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/wire"
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
// that occur twice the last counts, and half a surrogate pair becomes U+FFFD.
// Numbers stay as they are written. A document with nothing to fix is returned
// byte for byte.
func Document(b json.RawMessage) json.RawMessage {
	var v any
	if _, err := wire.Decode(b); err == nil {
		return b
	}
	if wire.Unmarshal(b, &v) != nil { // as when it is too deep
		return b
	}
	return Marshal(v)
}

// Opaque reports whether an opaque part can be sent back: it is an object in
// valid UTF-8.
func Opaque(raw json.RawMessage) bool {
	b := bytes.TrimSpace(raw)
	return len(b) > 0 && b[0] == '{' && json.Valid(b) && utf8.Valid(b)
}
