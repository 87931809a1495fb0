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
	"github.com/pawl-run/pawl/model/internal/provider"
)

// Responses is a model of OpenAI, or of a server that imitates it, spoken to
// through the Responses API. It may be used by many runs at once.
//
// It is a type of its own, under a name of its own, and no mode of [Model],
// because what a model thought through one API means nothing to the other: a log
// must say which of the two it was.
//
// Nothing is stored by the provider: each request carries the whole conversation
// with store false. Reasoning models are asked for their reasoning encrypted,
// and it goes back byte for byte right before the call or the text it led to.
// What led to nothing, or cannot be read without what the provider would have
// stored, stays out. A request that is refused for its reasoning, as when keys
// of two organisations take turns, is sent once more without any; a refusal costs
// nothing.
//
// Calls keep the provider's ids where they are unique. Pictures of results stand
// in the results. An output schema goes as text.format json_schema, not strict,
// since strict mode refuses most schemas; the reply is validated anyway.
// ThinkingTokens have no counterpart and are not sent; the option reasoning_effort
// stands for reasoning.effort, as in Chat Completions. Other options of the
// sampling are put into the request under their own names and replace what
// stands there; null takes it out, as in {"include": null} for a server that does
// not know it.
//
// A stream is whole with response.completed or response.incomplete, and not
// without.
type Responses struct{ server provider.Server }

// NewResponses makes the model of a name, such as gpt-5-mini. The environment is
// read here, once. A missing key shows when the model is first called.
// MaxTokensKey of the options is for Chat Completions alone.
func NewResponses(name string, o *Options) *Responses {
	if o == nil {
		o = &Options{}
	}
	return &Responses{newServer("openai-responses", name, o)}
}

// Describe names the model openai-responses/NAME, where its requests go, and its price
// when that is given, or is in the price table and they go to OpenAI or Azure.
func (m *Responses) Describe() pawl.ModelInfo { return describe(&m.server) }

// Ready returns an error if the model cannot be called because its key is missing.
// It sends nothing.
func (m *Responses) Ready() error { return m.server.Ready() }

// Stream sends the request and yields the reply as it comes.
func (m *Responses) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return m.server.Stream(ctx, r, "/responses", func(refused error) ([]byte, provider.Reader, error) {
		if refused != nil && !forReasoning(refused) {
			return nil, nil, refused
		}
		body, err := m.body(r, refused == nil)
		return body, &response{}, err
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
		"model": m.server.Name, "input": m.input(r.Messages, recall), "stream": true, "store": false, "max_output_tokens": provider.Limit(r),
	}
	if !unreasoning.MatchString(m.server.Name) {
		req["include"] = []string{"reasoning.encrypted_content"}
	}
	if strings.TrimSpace(r.System) != "" {
		req["instructions"] = r.System
	}
	if t := r.Sampling.Temperature; t != 0 {
		req["temperature"] = max(0, t)
	}
	if len(r.Tools) > 0 {
		list := make([]responsesTool, len(r.Tools))
		for i, t := range tools(r.Tools) {
			list[i] = responsesTool{"function", t.Function.Name, t.Function.Description, t.Function.Parameters, false}
		}
		req["tools"] = list
	}
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
	for role, parts := range limits.Turns(msgs) {
		if role == pawl.Assistant {
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
			var had kept
			_ = json.Unmarshal(part.Opaque, &had) // it is an object; what does not fit is not ours
			switch {
			case had.Type == "" && had.Phase != "":
				phase = had.Phase
			case recall && had.whole() && !seen[had.ID]:
				seen[had.ID] = had.ID != ""
				thoughts = append(thoughts, part.Opaque)
			}
		case pawl.Call:
			add(item{Type: "function_call", CallID: ids[cmp.Or(part.ID, part.Ref)], Name: provider.Name(part.Tool), Arguments: string(provider.Object(part.Args))})
		}
	}
	return list
}

// kept is what matters of an opaque part: a reasoning item, or {"phase": …} of
// the message that follows.
type kept struct {
	Type      string            `json:"type"`
	ID        string            `json:"id"`
	Encrypted string            `json:"encrypted_content"`
	Content   []json.RawMessage `json:"content"`
	Phase     string            `json:"phase"`
}

// whole reports whether a reasoning item says what was thought, encrypted or,
// with open models, plainly. Any other could only be looked up by its id.
func (k kept) whole() bool {
	return k.Type == "reasoning" && (k.Encrypted != "" || len(k.Content) > 0)
}

// asked is a user's turn: results, and then one message.
func asked(parts []pawl.Part, ids map[string]string) []any {
	var list []any
	var rest []content
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.ToolResult:
			it := item{Type: "function_call_output", CallID: answered(part, ids), Output: told(part)}
			if len(part.Images) > 0 {
				output := []content{{Type: "input_text", Text: told(part)}}
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
		case pawl.Image:
			rest = append(rest, content{Type: "input_image", Image: dataURL(part)})
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
