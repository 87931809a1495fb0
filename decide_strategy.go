package pawl

import (
	"github.com/pawl-run/pawl/internal/wire"
)

// system is the system prompt of a request: the agent's, or the view's, and
// under the JSON strategy how to call the tools that the model is shown.
func (m *Machine) system(v View, tools []ToolInfo) string {
	prompt := m.agent.Prompt
	if v.System != "" {
		prompt = v.System
	}
	if m.agent.Strategy != StrategyJSON || v.Bare || m.single {
		return prompt
	}
	var actions [][3]string
	for _, t := range tools {
		actions = append(actions, [3]string{t.Name, t.Description, string(t.Input)})
	}
	return wire.Protocol(prompt, actions, completeTool)
}

// readJSONReply reads a reply under the JSON strategy: the one JSON object in its
// text becomes a call with this number. The second result says why the reply is
// rejected; empty: it is not.
func readJSONReply(r Reply, number int) (Reply, string) {
	action, input, flaw := wire.Action(r.Text())
	if flaw == "" {
		r.Parts = append(append([]Part(nil), r.Parts...), Call{ID: callID(number), Tool: action, Args: wire.Args(input)})
	}
	return r, flaw
}
