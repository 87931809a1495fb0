package fakeprovider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
)

// A node is a value of a request's JSON and where it stands, for a wire whose
// values may be of several types each. What is missing reads as nothing.
type node struct {
	v    any
	path string
}

func (n node) at(key string) node {
	m, _ := n.v.(map[string]any)
	path := key
	if n.path != "" {
		path = n.path + "." + key
	}
	return node{m[key], path}
}

func (n node) text() string { s, _ := n.v.(string); return s }

// all is the value's text and those of its elements.
func (n node) all() string {
	var s strings.Builder
	s.WriteString(n.text())
	for _, p := range n.list("[%d]") {
		s.WriteString(p.at("text").text())
	}
	return s.String()
}

func (n node) has() bool { return n.v != nil }

func (n node) flag() bool { b, _ := n.v.(bool); return b }

func (n node) object() (object, bool) { m, ok := n.v.(map[string]any); return m, ok }

func (n node) number() float64 {
	x, _ := n.v.(json.Number)
	f, _ := x.Float64()
	return f
}

func (n node) whole() int { return int(n.number()) }

// list gives the elements of a list; join writes their places.
func (n node) list(join string) []node {
	l, _ := n.v.([]any)
	nodes := make([]node, len(l))
	for i, v := range l {
		nodes[i] = node{v, n.path + fmt.Sprintf(join, i)}
	}
	return nodes
}

// raw is the value as JSON; nil for nothing.
func (n node) raw() json.RawMessage {
	if n.v == nil {
		return nil
	}
	return marshal(n.v)
}

// parse reads a body, or says why it cannot be.
func parse(body []byte) (node, string) {
	if !utf8.Valid(body) {
		return node{}, "invalid UTF-8 in string"
	}
	if at := surrogate(body); at >= 0 {
		return node{}, fmt.Sprintf("no low surrogate in string: line 1 column %d (char %d)", at+1, at)
	}
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return node{}, err.Error()
	}
	if _, ok := v.(map[string]any); !ok {
		return node{}, "Input should be an object"
	}
	return node{v: v}, ""
}

// surrogate finds the first escape of half a UTF-16 pair without its other
// half, which Go reads as U+FFFD but others refuse; -1: there is none.
func surrogate(b []byte) int {
	unit := func(i int) (rune, bool) {
		if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 16)
		return rune(n), err == nil
	}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		u, ok := unit(i)
		switch {
		case !ok:
			i++
		case u >= 0xDC00 && u < 0xE000:
			return i
		case u >= 0xD800 && u < 0xDC00:
			if low, ok := unit(i + 6); !ok || low < 0xDC00 || low >= 0xE000 {
				return i
			}
			i += 11
		default:
			i += 5
		}
	}
	return -1
}

// say adds parts to the conversation, to the last message if it has the role.
func (in *inbound) say(role pawl.Role, parts ...pawl.Part) {
	if len(parts) == 0 {
		return
	}
	list := in.Decoded.Messages
	if n := len(list); n > 0 && list[n-1].Role == role {
		list[n-1].Parts = append(list[n-1].Parts, parts...)
		return
	}
	in.Decoded.Messages = append(list, pawl.Message{Role: role, Parts: parts})
}

// called is the name of the tool of a call, by its id.
func (in *inbound) called(id string) string {
	for _, v := range slices.Backward(in.Decoded.Messages) {
		for _, p := range v.Parts {
			if c, ok := p.(pawl.Call); ok && c.ID == id {
				return c.Tool
			}
		}
	}
	return ""
}

// dataURL reads data:TYPE;base64,DATA.
func dataURL(s string) (pawl.File, bool) {
	head, data, ok := strings.Cut(strings.TrimPrefix(s, "data:"), ",")
	kind, b64 := strings.CutSuffix(head, ";base64")
	raw, err := base64.StdEncoding.DecodeString(data)
	return pawl.File{Type: kind, Data: raw}, ok && b64 && err == nil && strings.HasPrefix(s, "data:")
}

// isObject reports whether a text is the JSON of an object. Its numbers may be
// beyond any machine's.
func isObject(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") && json.Valid([]byte(text))
}

func quoted(s string) json.RawMessage { return marshal(s) }
