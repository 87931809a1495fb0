// Package jsonin finds JSON in the texts that models write.
package jsonin

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Only finds the JSON objects in a text, and returns the first and how many
// there are. A brace that begins no valid object is prose. A text in which
// thousands of objects begin within each other and none ends is read once for
// each of them, so the search stops when it has read too much in vain.
func Only(text string) (object []byte, n int) {
	left := 32*len(text) + 1<<20 // bytes to read in vain
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		d := json.NewDecoder(strings.NewReader(text[i:]))
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			read := len(text) - i
			if wrong, ok := err.(*json.SyntaxError); ok {
				read = int(wrong.Offset)
			}
			if left -= read; left < 0 {
				return nil, 0
			}
			continue
		}
		if n++; n == 1 {
			object = v
		}
		i += len(v) - 1
	}
	return object, n
}

// Broken returns what is wrong with the first brace that is meant to begin an
// object, because a quote follows it, and does not; nil: there is none.
func Broken(text string) error {
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		var v json.RawMessage
		switch err := json.NewDecoder(strings.NewReader(text[i:])).Decode(&v); {
		case err == nil:
			i += len(v) - 1
		case strings.HasPrefix(strings.TrimLeft(text[i+1:], " \t\r\n"), `"`):
			return err
		}
	}
	return nil
}

// Times counts how often a key stands in an object.
func Times(object []byte, key string) (n int) {
	d := json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token()
	for d.More() {
		var value json.RawMessage
		if k, _ := d.Token(); k == key {
			n++
		}
		if d.Decode(&value) != nil {
			break // what Only returned never gets here
		}
	}
	return n
}

// Document returns the JSON document in a text: the text itself, or the content
// of its only code fence, since models like to wrap documents.
func Document(text string) []byte {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		if body, ok := strings.CutSuffix(rest, "```"); ok && !strings.Contains(body, "```") {
			if _, after, ok := strings.Cut(body, "\n"); ok {
				text = strings.TrimSpace(after)
			}
		}
	}
	return slices.Clip([]byte(text))
}

// Answer is what a reply amounts to: its text or, when it follows a schema, the
// JSON document in it. A word that is no JSON stands for itself, so that a model
// asked for one of a few words need not quote it.
func Answer(text string, schema bool) json.RawMessage {
	if doc := Document(text); schema && json.Valid(doc) {
		return doc
	}
	return Quote(strings.TrimSpace(text))
}

// White counts the bytes of white space between the tokens of a JSON text.
func White(raw []byte) (n int) {
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && (c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			n++
		}
	}
	return n
}

// Plain is the text of a JSON string, and the JSON itself of any other value.
func Plain(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// Quote is the JSON string of a text.
func Quote(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil { // a Go string always marshals
		return json.RawMessage(`""`)
	}
	return raw
}

// Thought is the member "thought" of the only JSON object in a text; the text, if
// there is no such object.
func Thought(text string) string {
	object, n := Only(text)
	var p struct {
		Thought string `json:"thought"`
	}
	if n != 1 || json.Unmarshal(object, &p) != nil {
		return text
	}
	return p.Thought
}
