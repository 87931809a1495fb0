package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Only finds the JSON objects in a text, and returns the first and how many
// there are. A brace that begins no valid object is prose. A text in which
// thousands of objects begin within each other and none ends is read once for
// each of them, so the search stops when it has read too much in vain.
func Only(text string) (object []byte, n int) {
	left := 32*len(text) + 1<<20 // bytes to read in vain
	for data := []byte(text); ; {
		i := bytes.IndexByte(data, '{')
		if i < 0 {
			return object, n
		}
		r := NewReader(data[i:])
		v := r.Raw()
		if !r.OK() {
			if left -= r.Offset(); left < 0 {
				return nil, 0
			}
			data = data[i+1:]
			continue
		}
		if n++; n == 1 {
			object = v
		}
		data = data[i+len(v):]
	}
}

// Broken returns what is wrong with the first brace that is meant to begin an
// object, because a quote follows it, and does not; nil: there is none. What is
// wrong is in the words of encoding/json: they stand in logs that are decided
// again.
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

// times counts how often a key stands in an object.
func times(object []byte, key string) (n int) {
	r := NewReader(object)
	for r.Open(); r.More(); r.Skip() {
		if string(r.Key()) == key {
			n++
		}
	}
	return n
}

// Protocol adds to a system prompt how to call tools in the texts that Action reads.
// Each of actions is a name, a description and a JSON Schema, and finish names the
// action that ends.
func Protocol(prompt string, actions [][3]string, finish string) string {
	if prompt != "" {
		prompt += "\n\n"
	}
	prompt += `Answer every turn with exactly one JSON object and nothing else:
{"thought": "why you do it", "action": "the name of one action", "action_input": {…}}
The result of the action comes back in the next message. The actions, each with the JSON Schema of its action_input:
`
	for _, a := range actions {
		prompt += fmt.Sprintf("- %s: %s %s\n", a[0], a[1], cmp.Or(a[2], "{}"))
	}
	return prompt + fmt.Sprintf("When the task is done, use the action %s.", finish)
}

// Action reads the one JSON object in a text that names an action and its input,
// and may have a thought. Text around the object is ignored. flaw says why there is
// none, for a model to read; empty: there is one.
func Action(text string) (action string, input json.RawMessage, flaw string) {
	// An object within a broken one, such as its action_input, would otherwise be
	// taken for the reply.
	if fault := Broken(text); fault != nil {
		return "", nil, fmt.Sprintf("the reply has a JSON object that is malformed (%v); it needs exactly one that is not", fault)
	}
	object, n := Only(text)
	switch {
	case n == 0:
		return "", nil, "the reply has no JSON object; it needs exactly one, with thought, action and action_input"
	case n > 1:
		return "", nil, fmt.Sprintf("the reply has %d JSON objects; it needs exactly one", n)
	}
	for _, key := range [...]string{"thought", "action", "action_input"} {
		if times(object, key) > 1 { // another reader might take the other one
			return "", nil, fmt.Sprintf("the JSON object has %q more than once", key)
		}
	}
	var members map[string]json.RawMessage // as a struct would take ACTION for action
	var thought string
	err := json.Unmarshal(object, &members)
	for key, to := range map[string]*string{"thought": &thought, "action": &action} {
		if raw := members[key]; raw != nil && err == nil {
			err = json.Unmarshal(raw, to) // leaves a text empty for null
		}
	}
	switch {
	case err != nil:
		return "", nil, "thought and action must be strings"
	case action == "":
		return "", nil, `the JSON object has no "action"`
	}
	return action, members["action_input"], ""
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

// Scalars yields the keys, strings and numbers of a JSON document in their order,
// with k for a key and else what [Reader.Kind] says. Of what is no JSON it
// yields those before the fault.
func Scalars(raw []byte, yield func(kind byte, text string)) {
	r := NewReader(raw)
	scalars(&r, yield)
}

func scalars(r *Reader, yield func(kind byte, text string)) {
	var text []byte
	kind := r.Kind()
	switch kind {
	case '{':
		for r.Open(); r.More(); scalars(r, yield) {
			if key := r.Key(); r.OK() {
				yield('k', string(key))
			}
		}
		return
	case '[':
		for r.List(); r.Element(); {
			scalars(r, yield)
		}
		return
	case '"':
		text = r.Text()
	case '0':
		text = r.Number()
	default:
		r.Skip()
		return
	}
	if r.OK() {
		yield(kind, string(text))
	}
}

// White counts the bytes of white space between the tokens of a JSON text.
func White(raw []byte) (n int) { return len(raw) - len(Compact(raw)) }

// Plain is the text of a JSON string, and the JSON itself of any other value.
func Plain(raw json.RawMessage) string {
	if r := NewReader(raw); len(raw) > 0 && raw[0] == '"' {
		if s := r.Text(); r.Done() == nil {
			return string(s)
		}
	}
	return string(raw)
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
