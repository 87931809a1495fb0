package anthropic

import (
	"encoding/json"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A sent is what matters of a block that goes back as it came.
type sent struct {
	Type      string `json:"type"`
	Signature string `json:"signature"`
	Data      string `json:"data"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Of        string `json:"tool_use_id"`
}

func read(opaque json.RawMessage) (had sent) {
	if provider.Opaque(opaque) {
		_ = json.Unmarshal(opaque, &had)
	}
	return had
}

// recalled returns an opaque part to send back, nil if it cannot be sent, and
// whether it is thinking. A part without the name of a model is sent back only
// if it has the form of this API's thinking. What is not thinking is not bound to what stood
// before it.
func (c *call) recalled(t pawl.Thinking) (block json.RawMessage, thought bool) {
	had := read(t.Opaque)
	thought = had.Type == "thinking" || had.Type == "redacted_thinking"
	if !thought {
		t.Moved = false
	}
	if !c.server.Recalls(t) {
		return nil, false
	}
	switch {
	case had.Type == "thinking" && had.Signature != "", had.Type == "redacted_thinking" && had.Data != "":
		return t.Opaque, true
	case thought, had.Type == "", t.Model == "":
		return nil, false
	}
	return t.Opaque, false
}

// unled reports whether a call of the current turn has no thinking before it,
// as when another model made it.
func (c *call) unled() bool {
	for _, msg := range slices.Backward(c.Messages) {
		calls, led, answers := false, false, false
		for _, p := range msg.Parts {
			switch p := p.(type) {
			case pawl.Call:
				calls = true
			case pawl.Thinking:
				_, thought := c.recalled(p)
				led = led || !calls && thought
			case pawl.ToolResult:
				answers = true
			}
		}
		switch {
		case msg.Role == pawl.RoleAssistant && calls && !led:
			return true
		case msg.Role == pawl.RoleUser && !answers:
			return false
		}
	}
	return false
}

// unpaired returns the ids of the hosted calls that a request cannot have: those
// without a result, unless it is still to come, and those of which only the result is left.
func (c *call) unpaired() map[string]bool {
	calls, results, all := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, msg := range c.Messages {
		last := !slices.ContainsFunc(c.Messages[i+1:], func(m pawl.Message) bool { return m.Role == pawl.RoleAssistant })
		for _, part := range msg.Parts {
			t, is := part.(pawl.Thinking)
			if !is {
				continue
			}
			had := read(t.Opaque)
			switch {
			case had.Type == "server_tool_use":
				calls[had.ID] = true
				all[had.ID] = !last
			case had.Of != "":
				results[had.Of] = true
				all[had.Of] = all[had.Of] || !calls[had.Of]
			}
		}
	}
	for id := range all {
		all[id] = all[id] && !(calls[id] && results[id])
	}
	return all
}
