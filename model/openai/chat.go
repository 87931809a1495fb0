package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/model/internal/provider"
)

const longestID = 40 // OpenAI refuses longer ids of calls

type message struct {
	Role    string           `json:"role"`
	Content any              `json:"content,omitempty"` // a string, or []content
	Calls   []map[string]any `json:"tool_calls,omitempty"`
	CallID  string           `json:"tool_call_id,omitempty"`
	kept
}

// kept is what a server wants back of its message, under the names it was received with: its
// thinking, and what belongs to it. Call has the fields of the call that follows.
type kept struct {
	Reasoning        string                     `json:"reasoning,omitempty"`
	ReasoningContent string                     `json:"reasoning_content,omitempty"`
	Details          []json.RawMessage          `json:"reasoning_details,omitempty"`
	Extra            json.RawMessage            `json:"extra_content,omitempty"`
	Call             map[string]json.RawMessage `json:"call,omitempty"`
}

type content struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitempty"`
	Image any    `json:"image_url,omitempty"` // an image; in Responses its URL
	// Of what the model said in Responses.
	Annotations []json.RawMessage `json:"annotations,omitempty"`
	File        *file             `json:"file,omitempty"`
	Sound       *sound            `json:"input_audio,omitempty"`
	// A file in Responses.
	Name string `json:"filename,omitempty"`
	Data string `json:"file_data,omitempty"`
}

type file struct {
	Name string `json:"filename"`
	Data string `json:"file_data"`
}

type sound struct {
	Data   []byte `json:"data"`
	Format string `json:"format"`
}

type image struct {
	URL string `json:"url"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Arguments   string          `json:"arguments,omitempty"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

var owned = []string{"model", "messages", "tools", "stream", olderLimit, newerLimit, "n"}

// chatRequest returns a request of Chat Completions.
func (a *asking) chatRequest() (map[string]any, []string, error) {
	r := a.r
	req := map[string]any{
		"model":          a.server.Name,
		"messages":       a.messages(),
		"stream":         true,
		"stream_options": map[string]any{"include_usage": true},
		a.limit:          a.server.Limit(r),
	}
	if t := r.Sampling.Temperature; t != 0 {
		req["temperature"] = max(0, t)
	}
	effort, notes := a.server.Effort(r.Sampling.Effort)
	if effort != "" {
		req["reasoning_effort"] = effort
	}
	if own, hosted := provider.Split(r.Tools); len(hosted) > 0 {
		return nil, nil, provider.Invalid("%s does not run %s itself in Chat Completions", a.server.Full, hosted[0].Name)
	} else if len(own) > 0 {
		req["tools"] = tools(own)
		switch r.ToolChoice {
		case "":
		case "none", "required":
			req["tool_choice"] = r.ToolChoice
		default:
			req["tool_choice"] = map[string]any{"type": "function", "function": map[string]any{"name": r.ToolChoice}}
		}
		if l, ok := a.lessons.Of("reasoning_effort"); ok && l.Instead == "none" { // even if nothing is asked for
			req["reasoning_effort"] = cmp.Or(effort, "default")
		}
	}
	a.cache(req)
	if a.formats() {
		req["response_format"] = map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": "output", "schema": r.Output},
		}
	}
	return req, notes, provider.Merge(req, r.Sampling.Options, append([]string{a.limit}, owned...), nil)
}

// messages joins consecutive messages of one role, except that each result is a
// message of its own, directly after the calls.
func (a *asking) messages() []message {
	var list []message
	if system := a.system("response_format"); system != "" {
		list = append(list, message{Role: "system", Content: system})
	}
	ids := provider.CallIDs(a.r.Messages, longestID, anyID)
	for role, parts := range a.limits(true).Turns(a.r.Messages) {
		if role == pawl.RoleAssistant {
			if msg := a.assistant(parts, ids); msg.Content != nil || msg.Calls != nil {
				list = append(list, msg)
			}
		} else {
			list = append(list, user(parts, ids)...)
		}
	}
	return list
}

// assistant is the model's turn. Some servers refuse the results of calls without what they
// sent with them. Without calls nothing goes back but the text.
func (a *asking) assistant(parts []pawl.Part, ids provider.IDs) message {
	msg := message{Role: "assistant"}
	var text strings.Builder
	var next map[string]json.RawMessage // fields of the next call
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.Text:
			text.WriteString(part.Text)
		case pawl.Thinking:
			var had kept
			if !a.server.Recalls(part) || json.Unmarshal(part.Opaque, &had) != nil {
				continue
			}
			next = had.Call
			msg.Reasoning += had.Reasoning
			msg.ReasoningContent += had.ReasoningContent
			msg.Details = append(msg.Details, had.Details...)
			if had.Extra != nil {
				msg.Extra = had.Extra
			}
		case pawl.Call:
			call := map[string]any{
				"id": ids.Of(part.ID, part.Ref), "type": "function",
				"function": function{Name: provider.Name(part.Tool), Arguments: string(provider.Object(part.Args))},
			}
			for name, value := range next {
				call[name] = value
			}
			msg.Calls, next = append(msg.Calls, call), nil
		}
	}
	if strings.TrimSpace(text.String()) != "" {
		msg.Content = text.String()
	}
	if msg.Calls == nil {
		msg.kept = kept{}
	}
	return msg
}

// user is a user's turn: each result, and then one message.
func user(parts []pawl.Part, ids provider.IDs) []message {
	var list []message
	var pictures, rest []content
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.ToolResult:
			list = append(list, message{Role: "tool", CallID: ids.Of(part.Call, part.Ref), Content: resultText(part)})
			if len(part.Images) > 0 {
				pictures = append(pictures, content{Type: "text", Text: "Images of the result of " + part.Tool + ":"})
			}
			for _, i := range part.Images {
				pictures = append(pictures, picture(i))
			}
		case pawl.Text:
			if strings.TrimSpace(part.Text) != "" {
				rest = append(rest, content{Type: "text", Text: part.Text})
			}
		case pawl.File:
			rest = append(rest, picture(part))
		}
	}
	rest = append(pictures, rest...)
	var texts []string
	for _, c := range rest {
		if c.Type == "text" {
			texts = append(texts, c.Text)
		}
	}
	switch {
	case len(list)+len(rest) == 0: // a turn that was taken must not go missing
		return []message{{Role: "user", Content: provider.Empty}}
	case len(rest) == 0:
		return list
	case len(texts) == len(rest): // some servers take no lists
		return append(list, message{Role: "user", Content: strings.Join(texts, "\n\n")})
	}
	return append(list, message{Role: "user", Content: rest})
}

func picture(f pawl.File) content {
	switch f.Type {
	case media.PDF:
		return content{Type: "file", File: &file{f.Name, dataURL(f)}}
	case "audio/mpeg":
		return content{Type: "input_audio", Sound: &sound{f.Data, "mp3"}}
	case "audio/wav":
		return content{Type: "input_audio", Sound: &sound{f.Data, "wav"}}
	}
	return content{Type: "image_url", Image: image{dataURL(f)}}
}
