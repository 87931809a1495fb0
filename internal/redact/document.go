package redact

import (
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// JSON takes out of a JSON document what looks like a secret: in its strings as
// [Text] does, and the text or number behind every key that is called like one.
// It takes out the whole value behind the key opaque, where a log keeps what only a
// provider may see. The document stays valid and its other bytes as they were. What
// is no JSON is treated as a text.
func JSON(raw []byte) []byte {
	return edit(raw, Text, func(kind byte, under, text string) string {
		switch {
		case under == opaqueKey && kind != 'n', kind == '0' && secretKey(under):
			return Marker
		case kind != '"':
			return text
		case secretKey(under) && text != "" && !workingDir(under, text) &&
			(!strings.HasPrefix(text, opening) || !strings.HasSuffix(text, closing)):
			return Marker
		}
		return Text(text)
	})
}

const opaqueKey = "opaque"

// fewest is how many bytes a number must have to be looked at: no secret, card
// or account has fewer digits.
const fewest = Least

// Strings returns a JSON document with f applied to every string, the keys of
// objects included; all the rest of it, white space and the order of keys too,
// stays as it was. A number of six digits or more is a text to f as well: what
// f changes of it becomes a string. What is no JSON is one text.
func Strings(raw []byte, f func(string) string) []byte {
	return edit(raw, f, func(kind byte, _, text string) string {
		if kind == '"' || kind == '0' && len(text) >= fewest {
			return f(text)
		}
		return text
	})
}

// edit returns a document with texts in place of the keys and values that the
// functions change. value is asked for each, with its kind as [wire.Token] has it, the
// key it stands under, directly or in a list, and the text of a string or number. What
// is no JSON is a key.
func edit(raw []byte, key func(string) string, value func(kind byte, under, text string) string) []byte {
	if wire.Check(raw, 0) != nil {
		return []byte(key(string(raw)))
	}
	var out []byte
	rest := 0 // what of raw is not yet in out
	put := func(from, to int, text string) {
		out = append(append(out, raw[rest:from]...), wire.Quote(text)...)
		rest = to
	}
	under, outer := "", []string(nil) // the key of the present value, and those of the values around it
	within, from := 0, 0              // the depth in an object or array that is replaced, and where it begins
	for t := range wire.Tokens(raw) {
		opens, closes := t.Kind == '{' || t.Kind == '[', t.Kind == '}' || t.Kind == ']'
		switch {
		case opens && within > 0:
			within++
		case closes && within > 0:
			if within--; within == 0 {
				put(from, t.End, value(raw[from], under, ""))
			}
		case within > 0:
		case closes:
			under, outer = outer[len(outer)-1], outer[:len(outer)-1]
		case t.Kind == 'k':
			now := key(t.Text)
			if now != t.Text {
				put(t.Start, t.End, now)
			}
			under = now // as it will be read
		case opens && value(t.Kind, under, "") != "":
			within, from = 1, t.Start
		case opens:
			outer = append(outer, under)
		default:
			text := t.Text
			if t.Kind != '"' && t.Kind != '0' {
				text = ""
			}
			if now := value(t.Kind, under, text); now != text {
				put(t.Start, t.End, now)
			}
		}
	}
	if out == nil {
		return raw
	}
	return append(out, raw[rest:]...)
}
