package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"regexp"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// Responses is a model of OpenAI or of a compatible server, used through the
// Responses API. It is safe for concurrent use.
//
// It is a separate type with a separate name, because reasoning from one API is
// meaningless to the other, so a log must show which was used.
//
// The provider stores nothing: each request has the whole conversation, with
// store false. Reasoning models return their reasoning encrypted, and it goes
// back byte for byte directly before its call or text. Reasoning without one,
// or that only the provider's storage could resolve, is left out. A request
// that is refused because of its reasoning, as when keys of two organisations
// alternate, is sent once more without it; a refusal costs nothing.
//
// Calls keep the provider's ids where they are unique. Pictures are inside the
// results. An output schema is sent as text.format json_schema, not strict,
// because strict mode refuses most schemas; the reply is validated anyway.
// ThinkingTokens have no equivalent and are not sent; the option
// reasoning_effort sets reasoning.effort, as in Chat Completions. Other options
// of the sampling are put into the request under their own names and replace
// existing fields; null removes a field, as in {"include": null} for a server
// that does not support it.
//
// Hosted tools are sent as web_search and code_interpreter, with max_tool_calls for all of
// them together. Their items go back as they came.
//
// A stream is complete only after response.completed or response.incomplete.
type Responses struct{ server provider.Server }

// NewResponses returns the model with a name, such as gpt-5-mini. It reads the
// environment once. A missing key is reported by the first call of the model.
// MaxTokensKey of the options is only for Chat Completions.
func NewResponses(name string, o *Options) *Responses {
	if o == nil {
		o = &Options{}
	}
	return &Responses{newServer("openai-responses", name, o)}
}

// Describe returns the name openai-responses/NAME, the endpoint, and the price
// if it is given, or if it is in the price table and requests go to OpenAI or
// Azure.
func (m *Responses) Describe() pawl.ModelInfo { return describe(&m.server) }

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (m *Responses) Ready() error { return m.server.Ready() }

// Takes implements engine.Taker: pictures and PDFs, within OpenAI's limits.
func (m *Responses) Takes(files []pawl.File) error {
	return limits(&m.server, false).Takes(m.server.Full, files)
}

// Hosts implements tool.Host: web_search, and code_execution by the code interpreter.
func (m *Responses) Hosts(tools []pawl.ToolInfo) error { return provider.Hosts(m.server.Full, tools) }

// Stream sends the request and yields the reply as it arrives.
func (m *Responses) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return m.server.Stream(ctx, r, func(refused error) (*provider.Attempt, error) {
		if refused != nil && !forReasoning(refused) {
			return nil, refused
		}
		body, err := m.body(r, refused == nil)
		return &provider.Attempt{Path: "/responses", Body: body, Reader: &response{}}, err
	})
}

const longestCallID = 64

// unreasoning are the models that refuse to be asked for reasoning. The pattern
// lists the past, so that a model that is new to it gets what is new.
var unreasoning = regexp.MustCompile(`^(ft:)?(gpt-[34]|chatgpt-|gpt-5(\.\d+)?-chat)`)

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

// body is the request as JSON; unless it may recall, without any reasoning.
func (m *Responses) body(r pawl.Request, recall bool) ([]byte, error) {
	req := map[string]any{
		"model": m.server.Name, "input": m.input(r.Messages, recall), "stream": true, "store": false, "max_output_tokens": m.server.Limit(r),
	}
	var include []string
	if !unreasoning.MatchString(m.server.Name) {
		include = append(include, "reasoning.encrypted_content")
	}
	if strings.TrimSpace(r.System) != "" {
		req["instructions"] = r.System
	}
	if t := r.Sampling.Temperature; t != 0 {
		req["temperature"] = max(0, t)
	}
	if len(r.Tools) > 0 {
		own, hosted := provider.Split(r.Tools)
		list, uses := make([]any, 0, len(r.Tools)), 0
		for _, t := range tools(own) {
			list = append(list, responsesTool{"function", t.Function.Name, t.Function.Description, t.Function.Parameters, false})
		}
		for _, t := range hosted {
			uses += t.MaxCalls
			if t.Name == provider.WebSearch {
				list, include = append(list, map[string]any{"type": "web_search"}), append(include, "web_search_call.action.sources")
			} else {
				list, include = append(list, map[string]any{"type": "code_interpreter", "container": map[string]any{"type": "auto"}}), append(include, "code_interpreter_call.outputs")
			}
		}
		if req["tools"] = list; uses > 0 {
			req["max_tool_calls"] = uses
		}
	}
	if include != nil {
		req["include"] = include
	}
	lasting(&m.server, req, r)
	if r.Output != nil {
		req["text"] = map[string]any{"format": map[string]any{"type": "json_schema", "name": "output", "schema": r.Output, "strict": false}}
	}
	return provider.Encode(req, r.Sampling.Options, ownedByResponses, func(k string, v json.RawMessage) bool {
		switch {
		case string(v) == "null":
			return false
		case k == "reasoning_effort": // reasoning, which may be there too, has gone in before
			req["reasoning"] = with(req["reasoning"], "effort", v)
		case k == "text" && r.Output != nil:
			req[k] = with(v, "format", req[k].(map[string]any)["format"])
		default:
			return false
		}
		return true
	})
}

// with is an option that is an object with one key more.
func with(option any, key string, value any) map[string]any {
	doc := map[string]any{}
	if raw, ok := option.(json.RawMessage); ok {
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(raw, &fields) // another form than an object would be refused anyway
		for k, v := range fields {
			doc[k] = v
		}
	}
	doc[key] = value
	return doc
}

// input is the conversation as items.
func (m *Responses) input(msgs []pawl.Message, recall bool) []any {
	ids, seen := callIDs(msgs, longestCallID), map[string]bool{}
	list := []any{}
	for role, parts := range limits(&m.server, false).Turns(msgs) {
		if role == pawl.RoleAssistant {
			list = append(list, m.said(parts, ids, seen, recall)...)
		} else {
			list = append(list, asked(parts, ids)...)
		}
	}
	return list
}

// said is an assistant's turn. Reasoning waits for what it led to, which the API
// demands right behind it. The ids of that are left out: with one, the API would
// want the reasoning that came before it, whatever has become of that.
func (m *Responses) said(parts []pawl.Part, ids map[string]string, seen map[string]bool, recall bool) (list []any) {
	var thoughts []any
	phase := ""
	add := func(it item) {
		list = append(append(list, thoughts...), it)
		thoughts, phase = nil, ""
	}
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.Text:
			if strings.TrimSpace(part.Text) != "" {
				add(item{Type: "message", Role: "assistant", Phase: phase, Content: []content{{Type: "output_text", Text: part.Text}}})
			}
		case pawl.Thinking:
			if part.Model != "" && part.Model != m.server.Full || !provider.Opaque(part.Opaque) {
				continue
			}
			var had opaquePart
			_ = json.Unmarshal(part.Opaque, &had) // it is an object; what does not fit is not ours
			switch {
			case had.Type == "" && had.Phase != "":
				phase = had.Phase
			case recall && (had.whole() || had.hosted()) && !seen[had.ID]:
				seen[had.ID] = had.ID != ""
				if thoughts = append(thoughts, part.Opaque); had.hosted() {
					list, thoughts = append(list, thoughts...), nil
				}
			}
		case pawl.Call:
			add(item{Type: "function_call", CallID: ids[cmp.Or(part.ID, part.Ref)], Name: provider.Name(part.Tool), Arguments: string(provider.Object(part.Args))})
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
func asked(parts []pawl.Part, ids map[string]string) []any {
	var list []any
	var rest []content
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.ToolResult:
			it := item{Type: "function_call_output", CallID: answered(part, ids), Output: resultText(part)}
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

// forReasoning reports whether a request was refused for the reasoning it
// recalls, which the API says in words, and by a code only when it cannot be read.
func forReasoning(err error) bool {
	me, ok := errors.AsType[*pawl.ModelError](err)
	if !ok || me.Class != pawl.ClassInvalid && me.Class != pawl.ClassNotFound {
		return false
	}
	for _, words := range []string{"encrypted content", "encrypted_content", "'reasoning'", "Item with id 'rs_"} {
		if strings.Contains(me.Message, words) {
			return true
		}
	}
	return false
}
