package pawl

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl/internal/jsonin"
	"github.com/pawl-run/pawl/internal/wire"
)

// system is the system prompt of a request: the agent's, or the view's, and
// under the JSON strategy how to call tools.
func (m *Machine) system(v View) string {
	prompt := m.agent.Prompt
	if v.System != "" {
		prompt = v.System
	}
	if m.agent.Strategy != StrategyJSON || v.Bare || m.single {
		return prompt
	}
	var b strings.Builder
	b.WriteString(prompt)
	if prompt != "" {
		b.WriteString("\n\n")
	}
	b.WriteString(`Answer every turn with exactly one JSON object and nothing else:
{"thought": "why you do it", "action": "the name of one action", "action_input": {…}}
The result of the action comes back in the next message. The actions, each with the JSON Schema of its action_input:
`)
	for _, t := range m.offer {
		input := string(t.Input)
		if input == "" {
			input = "{}"
		}
		fmt.Fprintf(&b, "- %s: %s %s\n", t.Name, t.Description, input)
	}
	fmt.Fprintf(&b, "When the task is done, use the action %s.", completeTool)
	return b.String()
}

// readJSONReply reads a reply under the JSON strategy: the one JSON object in its text
// becomes a thought and a call. Prose around the object is tolerated. The
// second result says why it is rejected. number is the call's.
func readJSONReply(r Reply, number int) (Reply, string) {
	// An object within a broken one, such as its action_input, would otherwise be
	// taken for the reply.
	if broken := jsonin.Broken(r.Text()); broken != nil {
		return r, fmt.Sprintf("the reply has a JSON object that is malformed (%v); it needs exactly one that is not", broken)
	}
	plan, n := jsonin.Only(r.Text())
	switch {
	case n == 0:
		return r, "the reply has no JSON object; it needs exactly one, with thought, action and action_input"
	case n > 1:
		return r, fmt.Sprintf("the reply has %d JSON objects; it needs exactly one", n)
	}
	var members map[string]json.RawMessage // as a struct would take ACTION for action
	for _, key := range [...]string{"thought", "action", "action_input"} {
		if jsonin.Times(plan, key) > 1 { // another reader might take the other one
			return r, fmt.Sprintf("the JSON object has %q more than once", key)
		}
	}
	var thought, action *string
	if json.Unmarshal(plan, &members) != nil || !text(members["thought"], &thought) || !text(members["action"], &action) {
		return r, "thought and action must be strings"
	}
	if action == nil || *action == "" {
		return r, `the JSON object has no "action"`
	}
	parts := append([]Part(nil), r.Parts...)
	r.Parts = append(parts, Call{ID: callID(number), Tool: *action, Args: wire.Args(members["action_input"])})
	return r, ""
}

// text reads a text that may be missing or null.
func text(raw json.RawMessage, to **string) bool { return raw == nil || json.Unmarshal(raw, to) == nil }
