package pawltest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

// content is a message's: a text, or a list of blocks.
type content []block

type block struct {
	Type, Text, ID, Name string
	Input                json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
	IsError              bool   `json:"is_error"`
	Content              content
}

// UnmarshalJSON reads a text as a block.
func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]block)(c))
}

func (c content) text() string {
	var b strings.Builder
	for _, x := range c {
		b.WriteString(x.Text)
	}
	return b.String()
}

// readChat reads a request of Chat Completions.
func readChat(body []byte) (r pawl.Request, err error) {
	var doc struct {
		Messages []struct {
			Role      string
			Content   content
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
			ToolCallID string `json:"tool_call_id"`
		}
	}
	err = json.Unmarshal(body, &doc)
	for _, m := range doc.Messages {
		switch m.Role {
		case "system", "developer":
			r.System += m.Content.text()
		case "tool":
			result, _ := json.Marshal(m.Content.text())
			r.Messages = joined(r.Messages, pawl.RoleUser, pawl.ToolResult{Call: m.ToolCallID, Content: result})
		case "user":
			r.Messages = joined(r.Messages, pawl.RoleUser, pawl.Text{Text: m.Content.text()})
		default:
			var parts []pawl.Part
			if text := m.Content.text(); text != "" {
				parts = append(parts, pawl.Text{Text: text})
			}
			for _, c := range m.ToolCalls {
				parts = append(parts, pawl.Call{ID: c.ID, Tool: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
			}
			r.Messages = joined(r.Messages, pawl.RoleAssistant, parts...)
		}
	}
	return r, err
}

// joined adds parts to the last message if it has the same role, or else adds a message.
func joined(list []pawl.Message, role pawl.Role, parts ...pawl.Part) []pawl.Message {
	if n := len(list); n > 0 && list[n-1].Role == role {
		list[n-1].Parts = append(list[n-1].Parts, parts...)
		return list
	}
	return append(list, pawl.Message{Role: role, Parts: parts})
}

// reason returns the wire's word for why a reply ended: one of those given.
func reason(r pawl.Reply, end, calls, limit, refusal string) string {
	switch r.Stop {
	case pawl.StopLength:
		return limit
	case pawl.StopRefusal:
		return refusal
	}
	for _, p := range r.Parts {
		if _, ok := p.(pawl.Call); ok {
			return calls
		}
	}
	return end
}

func writeChat(model string, r pawl.Reply) (whole any, events []event) {
	var text strings.Builder
	var calls []object
	for i, p := range r.Parts {
		switch p := p.(type) {
		case pawl.Text:
			text.WriteString(p.Text)
		case pawl.Call:
			calls = append(calls, object{
				"index": len(calls), "id": cmp.Or(p.ID, fmt.Sprint("call_", i)), "type": "function",
				"function": object{"name": p.Tool, "arguments": string(p.Args)},
			})
		}
	}
	message := object{"role": "assistant", "content": text.String()}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	doc := func(kind, key string, end any) object {
		return object{
			"id": "chatcmpl-1", "object": kind, "model": model,
			"choices": []any{object{"index": 0, key: message, "finish_reason": end}},
			"usage":   object{"prompt_tokens": r.Usage.Input, "completion_tokens": r.Usage.Output, "total_tokens": r.Usage.Total()},
		}
	}
	end := reason(r, "stop", "tool_calls", "length", "content_filter")
	return doc("chat.completion", "message", end), []event{{data: doc("chat.completion.chunk", "delta", end)}, {data: "[DONE]"}}
}

// readMessages reads a request of Anthropic's Messages.
func readMessages(body []byte) (r pawl.Request, err error) {
	var doc struct {
		System   content
		Messages []struct {
			Role    string
			Content content
		}
	}
	err = json.Unmarshal(body, &doc)
	r.System = doc.System.text()
	for _, m := range doc.Messages {
		role := map[string]pawl.Role{"user": pawl.RoleUser, "assistant": pawl.RoleAssistant}[m.Role]
		for _, b := range m.Content {
			var part pawl.Part
			switch b.Type {
			case "text":
				part = pawl.Text{Text: b.Text}
			case "tool_use":
				part = pawl.Call{ID: b.ID, Tool: b.Name, Args: b.Input}
			case "tool_result":
				result, _ := json.Marshal(b.Content.text())
				part = pawl.ToolResult{Call: b.ToolUseID, Content: result, Failed: b.IsError}
			default:
				continue
			}
			r.Messages = joined(r.Messages, role, part)
		}
	}
	return r, err
}

func writeMessages(model string, r pawl.Reply) (whole any, events []event) {
	usage := object{"input_tokens": r.Usage.Input, "output_tokens": r.Usage.Output}
	message := func(content []any, end any) object {
		return object{
			"id": "msg_1", "type": "message", "role": "assistant", "model": model,
			"content": content, "stop_reason": end, "stop_sequence": nil, "usage": usage,
		}
	}
	add := func(name string, data object) {
		data["type"] = name
		events = append(events, event{name, data})
	}
	add("message_start", object{"message": message([]any{}, nil)})
	content := []any{}
	for i, p := range r.Parts {
		var whole, begun, rest object
		switch p := p.(type) {
		case pawl.Text:
			whole, begun = object{"type": "text", "text": p.Text}, object{"type": "text", "text": ""}
			rest = object{"type": "text_delta", "text": p.Text}
		case pawl.Call:
			id := cmp.Or(p.ID, fmt.Sprint("toolu_", i))
			whole = object{"type": "tool_use", "id": id, "name": p.Tool, "input": p.Args}
			begun = object{"type": "tool_use", "id": id, "name": p.Tool, "input": object{}}
			rest = object{"type": "input_json_delta", "partial_json": string(p.Args)}
		default:
			continue
		}
		n := len(content)
		content = append(content, whole)
		add("content_block_start", object{"index": n, "content_block": begun})
		add("content_block_delta", object{"index": n, "delta": rest})
		add("content_block_stop", object{"index": n})
	}
	end := reason(r, "end_turn", "tool_use", "max_tokens", "refusal")
	add("message_delta", object{"delta": object{"stop_reason": end, "stop_sequence": nil}, "usage": usage})
	add("message_stop", object{})
	return message(content, end), events
}
