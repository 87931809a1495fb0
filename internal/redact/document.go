package redact

import (
	"bytes"
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
// functions change. value is asked for each, with its kind as [wire.Reader.Kind]
// has it, the key it stands under, directly or in a list, and the text of a string
// or number. What is no JSON is a key.
func edit(raw []byte, key func(string) string, value func(kind byte, under, text string) string) []byte {
	e := editor{Reader: wire.NewReader(raw), raw: raw, key: key, value: value}
	if e.next(""); e.Done() != nil {
		return []byte(key(string(raw)))
	}
	if e.out == nil {
		return raw
	}
	return append(e.out, raw[e.rest:]...)
}

type editor struct {
	wire.Reader
	raw, out []byte
	rest     int // what of raw is not yet in out
	key      func(string) string
	value    func(kind byte, under, text string) string
}

func (e *editor) put(from, to int, text string) {
	e.out = append(append(e.out, e.raw[e.rest:from]...), wire.Quote(text)...)
	e.rest = to
}

func (e *editor) next(under string) {
	from, kind, text := e.Offset(), e.Kind(), ""
	switch kind {
	case '"':
		text = e.String()
	case '0':
		text = string(e.Number())
	}
	if now := e.value(kind, under, text); now != text {
		if kind != '"' && kind != '0' {
			e.Skip()
		}
		e.put(from, e.Offset(), now)
		return
	}
	switch kind {
	case '{':
		for e.Open(); e.More(); {
			from, key := e.Offset(), string(e.Key())
			now := e.key(key)
			if now != key {
				e.put(from, from+len(bytes.TrimRight(e.raw[from:e.Offset()], ": \t\r\n")), now)
			}
			e.next(now) // as it will be read
		}
	case '[':
		for e.List(); e.Element(); {
			e.next(under)
		}
	case '"', '0':
	default:
		e.Skip()
	}
}
