package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/model/internal/provider"
)

const longestCallID = 64

var ownedByResponses = []string{"model", "input", "instructions", "tools", "stream", "max_output_tokens", "previous_response_id", "conversation", "background"}

// An item is one of the input's, but for reasoning, which goes as it came.
type item struct {
	Type string `json:"type"`

	Role    string    `json:"role,omitempty"` // of a message
	Content []content `json:"content,omitempty"`
	Phase   string    `json:"phase,omitempty"`

	CallID    string `json:"call_id,omitempty"` // of a function_call and its output
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Output    any    `json:"output,omitempty"` // a string, or []content
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // said, because the default is true
}

// responsesRequest returns a request of the Responses API.
func (a *asking) responsesRequest() (map[string]any, []string, error) {
	r, t := a.r, &a.server.Traits
	req := map[string]any{
		"model": a.server.Name, "input": a.input(), "stream": true, "store": false, "max_output_tokens": a.server.Limit(r),
	}
	var include []string
	if t.Thinking != "" || !a.server.Known {
		include = append(include, "reasoning.encrypted_content")
	}
	if system := a.system("text.format"); system != "" {
		req["instructions"] = system
	}
	if t := r.Sampling.Temperature; t != 0 {
		req["temperature"] = max(0, t)
	}
	effort, notes := a.server.Effort(r.Sampling.Effort)
	if reasoning := a.reasoning(effort); reasoning != nil {
		req["reasoning"] = reasoning
	}
	if len(r.Tools) > 0 {
		include = append(include, a.offer(req)...)
	}
	if include != nil {
		req["include"] = include
	}
	a.cache(req)
	var format map[string]any
	if a.formats() {
		format = map[string]any{"type": "json_schema", "name": "output", "schema": r.Output, "strict": false}
		req["text"] = map[string]any{"format": format}
	}
	err := provider.Merge(req, r.Sampling.Options, ownedByResponses, func(k string, v json.RawMessage) bool {
		switch k {
		case "reasoning_effort": // its name in Chat Completions; reasoning, which may be there too, has gone in before
			join(req, "reasoning", provider.Marshal(map[string]json.RawMessage{"effort": v}))
		case "reasoning", "text":
			join(req, k, v)
			if text, ok := req["text"].(map[string]any); ok && format != nil { // which only the run sets
				text["format"] = format
			}
		default:
			return false
		}
		return true
	})
	return req, notes, err
}

// join is provider.Join for a field that need not be there.
func join(req map[string]any, name string, v json.RawMessage) {
	if req[name] == nil && string(v) != "null" {
		req[name] = map[string]any{}
	}
	provider.Join(req, name, v)
}

// reasoning returns how the model is to think, with a summary for the watcher; nil: as it does
// by itself.
func (a *asking) reasoning(effort string) map[string]any {
	switch {
	case effort == "none":
		return map[string]any{"effort": effort}
	case effort != "":
		return map[string]any{"effort": effort, "summary": "auto"}
	case a.server.Traits.Thinks(""):
		return map[string]any{"summary": "auto"}
	}
	return nil
}

// offer puts the tools into a request, and returns what the reply has to include of them.
func (a *asking) offer(req map[string]any) (include []string) {
	own, hosted := provider.Split(a.r.Tools)
	list, uses := make([]any, 0, len(a.r.Tools)), 0
	for _, t := range tools(own) {
		list = append(list, responsesTool{"function", t.Function.Name, t.Function.Description, t.Function.Parameters, false})
	}
	for _, t := range hosted {
		uses += t.MaxCalls
		kind := map[string]any{"type": cmp.Or(a.server.Traits.Hosted[t.Name], hostedKinds[t.Name])}
		if t.Name == provider.WebSearch {
			include = append(include, "web_search_call.action.sources")
		} else {
			kind["container"] = map[string]any{"type": "auto"}
			include = append(include, "code_interpreter_call.outputs")
		}
		list = append(list, kind)
	}
	if req["tools"] = list; uses > 0 {
		req["max_tool_calls"] = uses
	}
	switch a.r.ToolChoice {
	case "":
	case "none", "required":
		req["tool_choice"] = a.r.ToolChoice
	default:
		req["tool_choice"] = map[string]any{"type": "function", "name": a.r.ToolChoice}
	}
	return include
}

// hostedKinds are the types of hosted tools at servers whose models the sheet does not have.
var hostedKinds = map[string]string{provider.WebSearch: "web_search", provider.CodeExecution: "code_interpreter"}

// input is the conversation as items.
func (a *asking) input() []any {
	ids, seen := provider.CallIDs(a.r.Messages, longestCallID, anyID), map[string]bool{}
	list := []any{}
	a.recalls = false
	for role, parts := range a.limits(false).Turns(a.r.Messages) {
		if role == pawl.RoleAssistant {
			list = append(list, a.said(parts, ids, seen)...)
		} else {
			list = append(list, asked(parts, ids)...)
		}
	}
	return list
}

// said is an assistant's turn. Reasoning waits for what it led to, which the API
// demands right behind it. The ids of that are left out: with one, the API would
// want the reasoning that came before it, whatever has become of that.
func (a *asking) said(parts []pawl.Part, ids provider.IDs, seen map[string]bool) (list []any) {
	var thoughts []any
	var text *item // the last one of text
	phase := ""
	add := func(it *item) {
		list = append(append(list, thoughts...), it)
		thoughts, phase, text = nil, "", nil
	}
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.Text:
			if strings.TrimSpace(part.Text) != "" {
				it := &item{Type: "message", Role: "assistant", Phase: phase, Content: []content{{Type: "output_text", Text: part.Text}}}
				add(it)
				text = it
			}
		case pawl.Citation:
			if text != nil && part.Model == a.server.Full && provider.Opaque(part.Opaque) {
				text.Content[0].Annotations = append(text.Content[0].Annotations, part.Opaque)
			}
		case pawl.Thinking:
			if !a.server.Recalls(part) || !provider.Opaque(part.Opaque) {
				continue
			}
			var had opaquePart
			_ = json.Unmarshal(part.Opaque, &had) // it is an object; what does not fit is not ours
			switch {
			case had.Type == "" && had.Phase != "":
				phase = had.Phase
			case !a.forget && (had.whole() || had.hosted()) && !seen[had.ID]:
				seen[had.ID] = had.ID != ""
				if thoughts = append(thoughts, part.Opaque); had.hosted() {
					list, thoughts = append(list, thoughts...), nil
				}
				a.recalls = true
			}
		case pawl.Call:
			add(&item{Type: "function_call", CallID: ids.Of(part.ID, part.Ref), Name: provider.Name(part.Tool), Arguments: string(provider.Object(part.Args))})
		}
	}
	return list
}

// opaquePart is what matters of an opaque part: a reasoning item, or {"phase": …} of
// the message that follows.
type opaquePart struct {
	Type      string            `json:"type"`
	ID        string            `json:"id"`
	Encrypted string            `json:"encrypted_content"`
	Content   []json.RawMessage `json:"content"`
	Phase     string            `json:"phase"`
}

// whole reports whether a reasoning item says what was thought, encrypted or,
// with open models, plainly. Any other could only be looked up by its id.
func (k opaquePart) whole() bool {
	return k.Type == "reasoning" && (k.Encrypted != "" || len(k.Content) > 0)
}

// hosted reports whether it is a call of a hosted tool, which the API wants back with the
// reasoning before it.
func (k opaquePart) hosted() bool { return hostedTools[k.Type] != "" }

// hostedTools are the names of hosted tools, by the types of their calls.
var hostedTools = map[string]string{"web_search_call": provider.WebSearch, "code_interpreter_call": provider.CodeExecution}

// asked is a user's turn: results, and then one message.
func asked(parts []pawl.Part, ids provider.IDs) []any {
	var list []any
	var rest []content
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.ToolResult:
			it := item{Type: "function_call_output", CallID: ids.Of(part.Call, part.Ref), Output: resultText(part)}
			if len(part.Images) > 0 {
				output := []content{{Type: "input_text", Text: resultText(part)}}
				for _, i := range part.Images {
					output = append(output, content{Type: "input_image", Image: dataURL(i)})
				}
				it.Output = output
			}
			list = append(list, it)
		case pawl.Text:
			if strings.TrimSpace(part.Text) != "" {
				rest = append(rest, content{Type: "input_text", Text: part.Text})
			}
		case pawl.File:
			if part.Type == media.PDF {
				rest = append(rest, content{Type: "input_file", Name: part.Name, Data: dataURL(part)})
			} else {
				rest = append(rest, content{Type: "input_image", Image: dataURL(part)})
			}
		}
	}
	if len(list)+len(rest) == 0 { // a turn that was taken must not go missing
		rest = []content{{Type: "input_text", Text: provider.Empty}}
	}
	if len(rest) > 0 {
		list = append(list, item{Type: "message", Role: "user", Content: rest})
	}
	return list
}
