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
	s := scanner{text: text}
	s.scan()
	doc := append([]byte(text[:s.whole]), s.closers(s.depth)...)
	if s.inString && anyString(schema, s.stack) {
		doc = append(append([]byte(text[:s.cut()]), '"'), s.closers(len(s.stack))...)
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

type scanner struct {
	text     string
	stack    []level
	whole    int // how much of the text can be ended by closing depth levels
	depth    int
	from     int  // where the string begins that is open
	inString bool // a value that is a string is open
	over     bool // the document has ended, or is broken
}

// scan reads the whole text.
func (s *scanner) scan() {
	for i := 0; i < len(s.text) && !s.over; {
		i = s.value(i)
	}
}

// value reads from one value or what stands between values, and returns where to go on.
func (s *scanner) value(i int) int {
	t := s.text
	switch c := t[i]; c {
	case ' ', '\t', '\r', '\n', ':':
		return i + 1
	case ',':
		s.top().key = ""
		return i + 1
	case '{', '[':
		s.stack = append(s.stack, level{list: c == '['})
		s.mark(i + 1)
		return i + 1
	case '}', ']':
		if s.stack = s.stack[:len(s.stack)-1]; len(s.stack) == 0 {
			s.over = true
		}
		s.mark(i + 1)
		return i + 1
	case '"':
		end := closing(t, i+1)
		isKey := !s.top().list && s.top().key == ""
		switch {
		case end < 0 && !isKey:
			s.inString, s.from = true, i+1
			return len(t)
		case end < 0:
			return len(t)
		case isKey:
			s.top().key = t[i : end+1] // quoted, so that it is not empty
		default:
			s.mark(end + 1)
		}
		return end + 1
	default:
		end := i
		for end < len(t) && !strings.ContainsRune(" \t\r\n,:{}[]\"", rune(t[end])) {
			end++
		}
		if end < len(t) || slices.Contains([]string{"true", "false", "null"}, t[i:end]) {
			s.mark(end)
		}
		return max(end, i+1)
	}
}

func (s *scanner) top() *level { return &s.stack[len(s.stack)-1] }

// mark says that the text up to i is whole.
func (s *scanner) mark(i int) { s.whole, s.depth = i, len(s.stack) }

// closers end the levels that are open.
func (s *scanner) closers(depth int) []byte {
	var b []byte
	for _, l := range slices.Backward(s.stack[:min(depth, len(s.stack))]) {
		if l.list {
			b = append(b, ']')
		} else {
			b = append(b, '}')
		}
	}
	return b
}

// cut returns where to end the open string: before an escape or a character that is
// not whole, and before half of a surrogate pair.
func (s *scanner) cut() int {
	t := s.text
	for i := s.from; i < len(t); {
		var n int
		switch {
		case t[i] != '\\':
			if !utf8.FullRuneInString(t[i:]) {
				return i
			}
			_, n = utf8.DecodeRuneInString(t[i:])
		case i+1 == len(t):
			return i
		case t[i+1] != 'u':
			n = 2
		default:
			n = 6
			if i+n <= len(t) && strings.ContainsAny(t[i+2:i+3], "dD") && strings.ContainsAny(t[i+3:i+4], "89aAbB") {
				n = 12 // the other half follows
			}
		}
		if i+n > len(t) {
			return i
		}
		i += n
	}
	return len(t)
}

// closing returns where a string ends that begins at i; negative: it does not.
func closing(t string, i int) int {
	for ; i < len(t); i++ {
		switch t[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
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
		var key string
		switch {
		case l.list:
			at = next.Items
		case json.Unmarshal([]byte(l.key), &key) == nil:
			at = next.Properties[key]
		default:
			return false
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
