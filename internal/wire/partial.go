package wire

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Complete makes a document of the beginning of one, as a model writes it: of the
// longest part of it that can be ended by closing what is open. Scalars are whole or
// left out, except that a string is cut where the text ends if any string would do
// for the schema there. An object that a code fence begins is found too. Nil: there is no beginning of an
// object or a list.
func Complete(text string, schema json.RawMessage) json.RawMessage {
	text = strings.TrimLeft(text, " \t\r\n")
	if fence, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(fence, "```") {
		text = strings.TrimLeft(rest, " \t\r\n")
	}
	if text == "" || text[0] != '{' && text[0] != '[' {
		return nil
	}
	var open []level
	whole, end := 0, 0 // how much of the text can be ended by closing what is open; where the last token ends
	for t := range Tokens([]byte(text)) {
		end = t.End
		switch t.Kind {
		case 'k':
			open[len(open)-1].key = t.Text
			continue
		case '{', '[':
			open = append(open, level{list: t.Kind == '['})
		case '}', ']':
			open = open[:len(open)-1]
		case '0':
			if t.End == len(text) {
				continue // it may go on
			}
		}
		if whole = t.End; len(open) == 0 {
			break
		}
	}
	doc := []byte(text[:whole] + closers(open))
	if rest := strings.TrimLeft(text[end:], " \t\r\n"); len(open) > 0 {
		// A string is a value in a list, and behind a colon.
		body, begun := strings.CutPrefix(strings.TrimLeft(rest, ",: \t\r\n"), `"`)
		if begun && (open[len(open)-1].list || rest[0] == ':') && anyString(schema, open) {
			doc = []byte(text[:len(text)-len(body)] + beginning(body) + `"` + closers(open))
		}
	}
	if !json.Valid(doc) {
		return nil
	}
	return doc
}

// A level is an object or a list that is open.
type level struct {
	list bool
	key  string // of the present member
}

// closers end the levels that are open.
func closers(open []level) string {
	var s strings.Builder
	for _, l := range slices.Backward(open) {
		if l.list {
			s.WriteByte(']')
		} else {
			s.WriteByte('}')
		}
	}
	return s.String()
}

// beginning returns the inside of a string that has not ended, without what is not whole at its end: an escape, a
// character, or a pair of surrogates.
func beginning(body string) string {
	const longest = len(`\ud83d\ude00`)
	for n := len(body); n >= 0 && n > len(body)-longest; n-- {
		if quoted := []byte(`"` + body[:n] + `"`); json.Valid(quoted) && utf8.Valid(quoted) && unpaired(quoted) < 0 {
			return body[:n]
		}
	}
	return body
}

// anyString reports whether any string would do for a schema at a place. It says no
// where it cannot tell, as beyond a reference.
func anyString(schema json.RawMessage, place []level) bool {
	at := schema
	for _, l := range place {
		var next struct {
			Properties map[string]json.RawMessage
			Items      json.RawMessage
		}
		if at == nil || json.Unmarshal(at, &next) != nil {
			return false
		}
		if at = next.Properties[l.key]; l.list {
			at = next.Items
		}
	}
	var keywords map[string]json.RawMessage
	if at == nil || json.Unmarshal(at, &keywords) != nil {
		return false
	}
	text := false
	for name, value := range keywords {
		switch name {
		case "type":
			var one string
			var several []string
			text = json.Unmarshal(value, &one) == nil && one == "string" || json.Unmarshal(value, &several) == nil && slices.Contains(several, "string")
		case "title", "description", "default", "examples", "maxLength", "$comment", "deprecated", "readOnly", "writeOnly":
		default:
			return false
		}
	}
	return text
}
