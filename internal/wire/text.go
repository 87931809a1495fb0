package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Classes of bytes inside a string.
const (
	plain uint8 = iota
	quote
	backslash
	control
	high
)

var class = func() (t [256]uint8) {
	for i := range t {
		switch {
		case i < 0x20:
			t[i] = control
		case i >= 0x80:
			t[i] = high
		}
	}
	t['"'], t['\\'] = quote, backslash
	return t
}()

// skipPlain returns the position of the first byte from i on that is not plain,
// or one within eight bytes of the end before which all are. It looks at eight
// bytes at once, with the usual test for a zero byte (Warren, "Hacker's Delight",
// section 6-1).
func skipPlain[S string | []byte](s S, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		q, b := x^ones*'"', x^ones*'\\'
		// A byte's high bit is set where it is a quote, a backslash, below 0x20
		// or 0x80 and more. Borrows may set it in a byte after the first such,
		// never before.
		if hit := ((q-ones)&^q | (b-ones)&^b | (x-ones*0x20)&^x | x) & highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	return i
}

// AppendString appends s as a JSON string. It escapes only what JSON demands
// (quotes, backslashes, control characters) and writes U+FFFD for each byte that
// is not part of UTF-8.
func AppendString[S string | []byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	for i := skipPlain(s, 0); i < len(s); i++ {
		if class[s[i]] != plain {
			dst = append(dst, s[:i]...)
			return append(appendEscaped(dst, s[i:]), '"')
		}
	}
	dst = append(dst, s...)
	return append(dst, '"')
}

func appendEscaped[S string | []byte](dst []byte, s S) []byte {
	for i := 0; i < len(s); {
		switch c := s[i]; class[c] {
		case plain:
			next := skipPlain(s, i+1)
			dst = append(dst, s[i:next]...)
			i = next
		case high:
			c, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			dst = utf8.AppendRune(dst, c)
			i += n
		default:
			dst = appendEscape(dst, c)
			i++
		}
	}
	return dst
}

// meaning is the character that is escaped by a backslash and a letter.
var meaning = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func appendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	if letter := bytes.IndexByte(meaning[:], c); letter > 0 {
		return append(dst, '\\', byte(letter))
	}
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// unescape appends the text of a checked string's inside.
func unescape(dst, s []byte) []byte {
	for {
		text, escaped := s, false
		if i := bytes.IndexByte(s, '\\'); i >= 0 {
			text, s, escaped = s[:i], s[i:], true
		}
		if utf8.Valid(text) {
			dst = append(dst, text...)
		} else {
			dst = append(dst, string([]rune(string(text)))...)
		}
		switch {
		case !escaped:
			return dst
		case s[1] != 'u':
			dst, s = append(dst, meaning[s[1]]), s[2:]
		default:
			c, n := escape(s, 0), 6
			if pair := utf16.DecodeRune(c, escape(s, 6)); pair != utf8.RuneError {
				c, n = pair, 12
			}
			dst, s = utf8.AppendRune(dst, c), s[n:]
		}
	}
}

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

// Marshal is json.Marshal without the escapes of HTML: for models, people and
// logs, which no browser reads.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
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
