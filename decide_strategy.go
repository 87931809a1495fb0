package pawl

import (
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

// readJSONReply reads a reply under the JSON strategy: the one JSON object in its
// text becomes a call with this number. The second result says why the reply is
// rejected; empty: it is not.
func readJSONReply(r Reply, number int) (Reply, string) {
	action, input, flaw := jsonin.Action(r.Text())
	if flaw == "" {
		r.Parts = append(append([]Part(nil), r.Parts...), Call{ID: callID(number), Tool: action, Args: wire.Args(input)})
	}
	return r, flaw
}
