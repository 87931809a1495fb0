package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds on the arguments of a call. The arguments that tools take are far within
// them; the arguments that a model gone wild writes must not make the log, or every
// later request, unreadable.
const (
	mostArgs    = 1 << 20 // bytes
	mostNesting = 64
)

// Args makes a call's arguments valid JSON. No arguments, and null, are an empty
// object. A text that is no JSON, or nests too deep, becomes a JSON string, to be
// refused. Of arguments that are too long, their length is kept.
func Args(args json.RawMessage) json.RawMessage {
	var text string
	switch {
	case len(args) == 0, string(args) == "null":
		return json.RawMessage("{}")
	case len(args) > mostArgs:
		text = fmt.Sprintf("%d bytes, where a call may have %d; they were not kept", len(args), mostArgs)
	case Valid(args, mostNesting):
		return Pair(args)
	default:
		text = Text(string(args))
	}
	return Quote(text)
}

// Quote is the JSON string of a text as encoding/json writes it, with the escapes
// of HTML: in the form that calls and results have in logs.
func Quote(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil { // a Go string always marshals
		return json.RawMessage(`""`)
	}
	return raw
}

// Text is a text with replacement characters for the bytes that are not UTF-8.
func Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
