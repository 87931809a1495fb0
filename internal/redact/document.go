package redact

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// JSON takes out of a JSON document what looks like a secret: in its strings as
// [Text] does, and the text or number behind every key that is called like one.
// It takes out the whole value behind the key opaque, where a log keeps what only a
// provider may see. The document stays valid and its other bytes as they were. What
// is no JSON is treated as a text.
func JSON(raw []byte) []byte {
	if len(raw) == 0 {
		return nil
	}
	return edit(raw, Text, func(kind byte, under, text string) string {
		switch {
		case under == "opaque" && kind != 'n', kind == '0' && secretKey(under):
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

// Strings returns a JSON document with f applied to every string, the keys of
// objects included; all the rest of it, white space and the order of keys too,
// stays as it was. A number of six digits or more is a text to f as well: what
// f changes of it becomes a string. What is no JSON is one text.
func Strings(raw []byte, f func(string) string) []byte {
	return edit(raw, f, func(kind byte, _, text string) string {
		if kind == '"' || kind == '0' && len(text) >= Least { // no secret, card or account has fewer digits
			return f(text)
		}
		return text
	})
}

// edit returns a document with texts in place of the keys and values that the
// functions change. value is asked for each, with its kind as [wire.Token] has it, the
// key it stands under, directly or in a list, and the text of a scalar. What is no JSON
// is a key.
func edit(raw []byte, key func(string) string, value func(kind byte, under, text string) string) []byte {
	if wire.Check(raw, 0) != nil {
		return []byte(key(string(raw)))
	}
	var out []byte
	rest := 0 // where that begins of raw which is not yet in out
	put := func(from, to int, text string) {
		out = append(append(out, raw[rest:from]...), wire.Quote(text)...)
		rest = to
	}
	under, outer := "", []string(nil) // the key of the present value, and those of the values around it
	for t := range wire.TokensOfValid(raw) {
		if t.Start < rest {
			continue // it is replaced
		}
		switch t.Kind {
		case '{', '[':
			if text := value(t.Kind, under, ""); text != "" {
				put(t.Start, ending(raw, t.Start), text)
				continue
			}
			outer = append(outer, under)
		case '}', ']':
			under, outer = outer[len(outer)-1], outer[:len(outer)-1]
		case 'k':
			under = key(t.Text) // as it will be read
			if under != t.Text {
				put(t.Start, t.End, under)
			}
		default:
			if now := value(t.Kind, under, t.Text); now != t.Text {
				put(t.Start, t.End, now)
			}
		}
	}
	if out == nil {
		return raw
	}
	return append(out, raw[rest:]...)
}

// ending returns where the value ends that begins at start.
func ending(raw []byte, start int) int {
	var value json.RawMessage
	_ = json.NewDecoder(bytes.NewReader(raw[start:])).Decode(&value) // it is valid
	return start + len(value)
}
