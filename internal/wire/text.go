package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escape is the code unit that is escaped as \u and four digits at s[i]; negative:
// there is none.
func escape(s []byte, i int) rune {
	if i+6 > len(s) || s[i] != '\\' || s[i+1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(s[i+2:i+6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// unpaired returns where in a document, or in the inside of a string, the first
// escaped half of a surrogate pair stands without its other half; -1: nowhere.
func unpaired(d []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(d[min(i, len(d)):], '\\')
		if n < 0 {
			return -1
		}
		switch i += n; {
		case !utf16.IsSurrogate(escape(d, i)):
			i += 2
		case utf16.DecodeRune(escape(d, i), escape(d, i+6)) == utf8.RuneError:
			return i
		default:
			i += 12
		}
	}
}

// Pair returns a JSON document with every escaped half of a surrogate pair that
// lacks its other half replaced by U+FFFD. Such halves are JSON, but no text: a
// decoder makes something else of them, or refuses the whole document. A document
// without any is returned as it is, else a copy.
func Pair(d []byte) []byte {
	var out []byte
	for {
		i := unpaired(d)
		if i < 0 && out == nil {
			return d
		}
		if i < 0 {
			return append(out, d...)
		}
		out = append(append(out, d[:i]...), `\ufffd`...)
		d = d[i+6:]
	}
}

// Bounds on the arguments of a call. The arguments that tools take are far within
// them; the arguments that a model gone wild writes must not make the log, or every
// later request, unreadable.
const (
	mostArgs    = 1 << 20 // bytes
	mostNesting = 64
)

// Compact is a JSON text without the white space between its tokens.
func Compact(d []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, d) // what is no JSON is empty
	return b.Bytes()
}

// Args makes a call's arguments valid JSON. No arguments, and null, are an empty
// object. A text that is no JSON, or nests too deep, becomes a JSON string, to be
// refused. Of arguments that are too long, their length is kept.
func Args(args json.RawMessage) json.RawMessage {
	switch {
	case len(args) == 0, string(args) == "null":
		return json.RawMessage("{}")
	case len(args) > mostArgs:
		return Quote(fmt.Sprintf("%d bytes, where a call may have %d; they were not kept", len(args), mostArgs))
	case Valid(args, mostNesting):
		return Pair(args)
	}
	return Quote(Text(string(args)))
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
func Text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Quoted is how many bytes a text has between the quotes of a JSON string, as
// encoding/json writes it with the escapes of HTML, which are the longest that
// any encoder of a provider's wire writes.
func Quoted[S string | []byte](s S) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"', c == '\\', c == '\b', c == '\f', c == '\n', c == '\r', c == '\t':
			n++
		case c < ' ', c == '<', c == '>', c == '&':
			n += len(`\u003c`) - 1
		case c == 0xE2 && i+2 < len(s) && s[i+1] == 0x80 && (s[i+2] == 0xA8 || s[i+2] == 0xA9): // line and paragraph separator
			n += len(`\u2028`) - len("\u2028")
		}
	}
	return n
}

// QuotedText is [Quoted] of the text that a JSON document stands for: of a
// string what it says, of anything else its source.
func QuotedText(doc []byte) int {
	if len(doc) < 2 || doc[0] != '"' {
		return Quoted(doc)
	}
	inner := doc[1 : len(doc)-1]
	return len(inner) + 5*(bytes.Count(inner, []byte("<"))+bytes.Count(inner, []byte(">"))+bytes.Count(inner, []byte("&")))
}
