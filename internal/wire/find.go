package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Objects finds the JSON objects in a text, and returns the first and how many there are. A brace that begins no
// valid object is prose, unless a quote follows it: broken says what is wrong with the first object that is meant
// to begin so, in the words of encoding/json. A text in which thousands of objects begin within each other and
// none ends is read once for each of them, so the search stops when it has read too much in vain.
func Objects(text string) (first json.RawMessage, n int, broken error) {
	left := 32*len(text) + 1<<20 // bytes to read in vain
	for {
		_, rest, found := strings.Cut(text, "{")
		if !found {
			return first, n, broken
		}
		d := json.NewDecoder(strings.NewReader(text[len(text)-len(rest)-1:]))
		var object json.RawMessage
		if err := d.Decode(&object); err != nil {
			if broken == nil && strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), `"`) {
				broken = err
			}
			if left -= faultIn(err, len(rest)); left < 0 {
				return nil, 0, broken
			}
			text = rest
			continue
		}
		if n++; n == 1 {
			first = object
		}
		text = rest[len(object)-1:]
	}
}

// faultIn returns how much of a text of a length was read up to an error.
func faultIn(err error, length int) int {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return int(syntax.Offset)
	}
	return length
}

// Protocol adds to a system prompt how to call tools in the texts that Action reads.
// Each of actions is a name, a description and a JSON Schema, and finish names the
// action that ends.
func Protocol(prompt string, actions [][3]string, finish, answer string) string {
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
	if answer != "" {
		answer = " Its answer must fit this JSON Schema: " + answer
	}
	return prompt + fmt.Sprintf("When the task is done, use the action %s.%s", finish, answer)
}

// Action reads the one JSON object in a text that names an action and its input,
// and may have a thought. Text around the object is ignored. flaw says why there is
// none, for a model to read; empty: there is one.
func Action(text string) (action string, input json.RawMessage, flaw string) {
	// An object within a broken one, such as its action_input, would otherwise be
	// taken for the reply.
	object, n, broken := Objects(text)
	switch {
	case broken != nil:
		return "", nil, fmt.Sprintf("the reply has a JSON object that is malformed (%v); it needs exactly one that is not", broken)
	case n == 0:
		return "", nil, "the reply has no JSON object; it needs exactly one, with thought, action and action_input"
	case n > 1:
		return "", nil, fmt.Sprintf("the reply has %d JSON objects; it needs exactly one", n)
	}
	if _, twice := read(object); twice != nil { // another reader might take the other value
		return "", nil, "in the JSON object, " + twice.Err.Error()
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
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		if body, ok := strings.CutSuffix(rest, "```"); ok && !strings.Contains(body, "```") {
			if _, after, ok := strings.Cut(body, "\n"); ok {
				text = strings.TrimSpace(after)
			}
		}
	}
	return slices.Clip([]byte(text))
}

// White counts the bytes of white space between the tokens of a JSON text.
func White(raw []byte) (n int) { return len(raw) - len(Compact(raw)) }

// Plain is the text of a JSON string, and the JSON itself of any other value.
func Plain(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// Thought is the member "thought" of the only JSON object in a text; the text, if
// there is no such object.
func Thought(text string) string {
	object, n, _ := Objects(text)
	var p struct {
		Thought string `json:"thought"`
	}
	if n != 1 || json.Unmarshal(object, &p) != nil {
		return text
	}
	return p.Thought
}
