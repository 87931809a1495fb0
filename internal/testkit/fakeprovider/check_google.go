package fakeprovider

import (
	"cmp"
	"slices"
)

// checkGoogle is what Gemini asks of the contents of a request. The sentences
// are its own.
type checkGoogle struct {
	*inbound
	role  string
	open  []node // the calls of the turn before
	turns []googleTurn
}

type googleTurn struct {
	role    string
	calls   []node // parts
	results int
}

// Signatures that Google documents as standing for none.
var noSignature = []string{"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}

func (c *checkGoogle) content(msg node) {
	role := msg.at("role").text()
	role = cmp.Or(role, "user")
	if role != "user" && role != "model" && role != "function" {
		c.wrong("", "Please use a valid role: user, model.")
	}
	if role == "function" {
		role = "user"
	}
	parts := msg.at("parts").list("[%d]")
	if len(parts) == 0 {
		c.wrong(msg.path+".parts", "contents is not specified")
	}
	t := googleTurn{role: role}
	var results []node
	for _, p := range parts {
		c.part(p)
		if p.at("functionCall").has() {
			t.calls = append(t.calls, p)
		}
		if r := p.at("functionResponse"); r.has() {
			results = append(results, r)
		}
	}
	t.results = len(results)
	c.pair(role, results)
	switch {
	case len(t.calls) > 0 && role != "model":
		c.wrong("", "Please ensure that function call parts are only in turns of the model.")
	case len(t.calls) > 0 && c.role != "user":
		c.wrong("", "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
	}
	c.role, c.open = role, t.calls
	c.turns = append(c.turns, t)
}

// part must be of exactly one kind.
func (c *checkGoogle) part(p node) {
	m, _ := p.object()
	kinds := 0
	for _, key := range []string{"text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"} {
		if v, ok := m[key]; ok && v != "" {
			kinds++
		}
	}
	signature := p.at("thoughtSignature")
	if kinds != 1 && !(kinds == 0 && signature.has()) { // a signature may come with an empty text
		c.wrong(p.path+".data", "required oneof field 'data' must have one initialized field")
	}
	if s := signature.text(); signature.has() && !c.memory.genuine(s) && !slices.Contains(noSignature, s) {
		c.wrong("", "Corrupted thought signature.")
	}
	if call := p.at("functionCall"); call.has() {
		if call.at("name").text() == "" {
			c.wrong(p.path+".function_call.name", "Name cannot be empty.")
		}
		if _, ok := call.at("args").object(); !ok && call.at("args").has() {
			c.wrong("", "Invalid value at '%s.function_call.args' (type.googleapis.com/google.protobuf.Struct), expected an object", p.path)
		}
	}
	if r := p.at("functionResponse"); r.has() {
		switch _, ok := r.at("response").object(); {
		case r.at("name").text() == "":
			c.wrong(p.path+".function_response.name", "Name cannot be empty.")
		case !ok:
			c.wrong("", "Invalid value at '%s.function_response.response' (type.googleapis.com/google.protobuf.Struct), expected an object", p.path)
		}
	}
}

// pair compares results with the calls of the turn before. Google pairs them by
// number and, where there are any, by ids.
func (c *checkGoogle) pair(role string, results []node) {
	if len(results) > 0 && len(c.open) == 0 || len(results) > 0 && role != "user" {
		c.wrong("", "Please ensure that function response turn comes immediately after a function call turn.")
		return
	}
	if len(results) != len(c.open) {
		c.wrong("", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
		return
	}
	ids, want := map[string]bool{}, map[string]bool{}
	for i, p := range c.open {
		call := p.at("functionCall")
		if id := call.at("id").text(); id != "" {
			if want[id] {
				c.wrong("", "Please ensure that function call ids are unique: %s.", id)
			}
			want[id] = true
			ids[results[i].at("id").text()] = true
		} else if call.at("name").text() != results[i].at("name").text() {
			c.wrong("", "Please ensure that function response parts have the names of their function call parts, in the same order.")
		}
	}
	for id := range want {
		if !ids[id] {
			c.wrong("", "Please ensure that each function call has its function response: %s has none.", id)
		}
	}
}

func (c *checkGoogle) done(list []node) {
	if len(list) == 0 {
		c.wrong("contents", "contents is not specified")
		return
	}
	c.pair("user", nil)
	if c.turns[0].role != "user" {
		c.wrong("", "Please ensure that multiturn requests start with a user turn.")
	}
	if !c.demandsSignatures() {
		return
	}
	// The first call of each step must be signed while its turn goes on, that is
	// back to the last message of a user that brings no results.
	for _, t := range slices.Backward(c.turns) {
		if t.role == "user" && t.results == 0 {
			return
		}
		if len(t.calls) > 0 && !t.calls[0].at("thoughtSignature").has() {
			name := t.calls[0].at("functionCall").at("name").text()
			c.wrong("", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s`.", name)
		}
	}
}
