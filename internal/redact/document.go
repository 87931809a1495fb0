package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// JSON takes out of a JSON document what looks like a secret: in its strings as
// [Text] does, and the text or number behind every key that is called like one.
// What stands behind the key opaque, where a log keeps what only a provider may
// see, goes altogether. The document stays valid and its other bytes as they
// were. What is no JSON is treated as a text.
func JSON(raw []byte) []byte {
	if !json.Valid(raw) {
		return []byte(Text(string(raw)))
	}
	d := document{raw: raw, doc: string(raw)}
	for d.i < len(raw) {
		d.next()
	}
	if d.out == nil {
		return raw
	}
	return append(d.out, raw[d.rest:]...)
}

// document is a JSON document that is being gone through.
type document struct {
	raw   []byte
	doc   string // the same, so that its strings are parts of one
	i     int
	out   []byte
	rest  int // what of raw is not yet in out
	stack []container
}

// container is an object or list that is open, and what is known of its present member.
type container struct {
	object bool
	key    string
	value  bool // the key has been read
	secret bool
}

const opaqueKey = "opaque"

func (d *document) next() {
	switch c := d.raw[d.i]; c {
	case '{', '[':
		secret := false
		if n := len(d.stack); n > 0 && c == '[' {
			secret = d.stack[n-1].secret
		}
		d.stack = append(d.stack, container{object: c == '{', secret: secret})
		d.i++
	case '}', ']':
		d.stack = d.stack[:len(d.stack)-1]
		d.i++
	case ',':
		if top := &d.stack[len(d.stack)-1]; top.object {
			top.value, top.secret = false, false
		}
		d.i++
	case '"':
		d.text()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end := numberEnd(d.raw, d.i)
		if d.secret() {
			d.put(end, Marker)
		}
		d.i = end
	default:
		d.i++
	}
}

func (d *document) secret() bool { return len(d.stack) > 0 && d.stack[len(d.stack)-1].secret }

func (d *document) put(end int, text string) {
	d.out = append(append(d.out, d.raw[d.rest:d.i]...), quote(text)...)
	d.rest = end
}

func (d *document) text() {
	end := stringEnd(d.raw, d.i)
	text := unquote(d.doc[d.i:end])
	key := len(d.stack) > 0 && d.stack[len(d.stack)-1].object && !d.stack[len(d.stack)-1].value
	clean := Text(text)
	if !key && d.secret() && text != "" && (!strings.HasPrefix(text, opening) || !strings.HasSuffix(text, closing)) &&
		!workingDir(d.stack[len(d.stack)-1].key, text) {
		clean = Marker
	}
	if clean != text {
		d.put(end, clean)
	}
	d.i = end
	if !key {
		return
	}
	top := &d.stack[len(d.stack)-1]
	top.key, top.value, top.secret = clean, true, secretKey(clean) // as it will be read
	if text == opaqueKey {
		d.hide()
	}
}

// unquote is the text of a valid JSON string.
func unquote(quoted string) string {
	text := quoted[1 : len(quoted)-1]
	if strings.IndexByte(text, '\\') < 0 && utf8.ValidString(text) {
		return text
	}
	var unescaped string
	_ = json.Unmarshal([]byte(quoted), &unescaped)
	return unescaped
}

// hide takes a whole value out.
func (d *document) hide() {
	d.i += bytes.IndexByte(d.raw[d.i:], ':') + 1
	for strings.IndexByte(" \t\r\n", d.raw[d.i]) >= 0 {
		d.i++
	}
	dec := json.NewDecoder(bytes.NewReader(d.raw[d.i:]))
	var value json.RawMessage
	_ = dec.Decode(&value) // the document is valid
	if end := d.i + len(value); string(value) != "null" {
		d.put(end, Marker)
		d.i = end
	}
}
