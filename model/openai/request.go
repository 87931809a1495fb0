package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// limits are OpenAI's limits on files (its guides to images and vision, to file
// inputs and to audio): 50 MB per request, part of which is for the rest of the
// request. Its models for sound take nothing else, and the others none; what
// another server takes, only that server knows.
func limits(s *provider.Server, chat bool) provider.Limits {
	l := provider.Limits{
		Types: []string{"image/png", "image/jpeg", "image/webp", "image/gif"},
		Files: []string{media.PDF},
		Each:  20 << 20,
		Count: 500,
		Total: 40 << 20,
	}
	sounds := []string{"audio/wav", "audio/mpeg"}
	switch {
	case !s.Official() && chat:
		l.Files = append(l.Files, sounds...)
	case !s.Official():
	case chat && strings.Contains(s.Name, "audio"):
		l.Types, l.Files = []string{}, sounds
	case textOnly.MatchString(s.Name):
		l.Types, l.Files = []string{}, nil
	}
	return l
}

// textOnly are OpenAI's older models that see nothing.
var textOnly = regexp.MustCompile(`^(gpt-3\.5|gpt-4(-\d{4}.*)?$|o1-(mini|preview)|o3-mini)`)

const longestID = 40 // OpenAI refuses longer ids of calls

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content,omitempty"` // a string, or []content
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`

	// The model's thinking, under the name it was received with.
	Reasoning        string `json:"reasoning,omitempty"`
	ReasoningContent string `json:"reasoning_content,omitempty"`
}

type content struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitempty"`
	Image any    `json:"image_url,omitempty"` // an image; in Responses its URL
	File  *file  `json:"file,omitempty"`
	Sound *sound `json:"input_audio,omitempty"`
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

type call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
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

// body returns the request as JSON, with the server's name for the limit of the
// reply.
func (m *Model) body(r pawl.Request, limitKey string) ([]byte, error) {
	req := map[string]any{
		"model":          m.server.Name,
		"messages":       m.messages(r),
		"stream":         true,
		"stream_options": map[string]any{"include_usage": true},
		limitKey:         m.server.Limit(r),
	}
	if t := r.Sampling.Temperature; t != 0 {
		req["temperature"] = max(0, t)
	}
	if len(r.Tools) > 0 {
		req["tools"] = tools(r.Tools)
	}
	lasting(&m.server, req, r)
	if r.Output != nil {
		req["response_format"] = map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": "output", "schema": r.Output},
		}
	}
	return provider.Encode(req, r.Sampling.Options, append([]string{limitKey}, owned...), nil)
}

// daily are the models that keep a request in their cache for a day when they are asked
// to (the guide to prompt caching, prompt_cache_retention).
var daily = regexp.MustCompile(`^gpt-(4\.1|5|5-codex|5\.[12](-codex(-m(ax|ini))?|-chat-latest)?)(-\d{4}-\d\d-\d\d)?$`)

// lasting asks OpenAI to keep a request in its cache for long. Other servers do not know
// the parameter.
func lasting(s *provider.Server, req map[string]any, r pawl.Request) {
	if r.Long && s.Official() && daily.MatchString(s.Name) {
		req["prompt_cache_retention"] = "24h"
	}
}

func tools(infos []pawl.ToolInfo) []tool {
	list := make([]tool, len(infos))
	for i, info := range infos {
		schema := info.Input
		if schema == nil {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		list[i] = tool{"function", function{Name: info.Name, Description: info.Description, Parameters: schema}}
	}
	return list
}

// messages joins consecutive messages of one role, except that each result is a
// message of its own, directly after the calls.
func (m *Model) messages(r pawl.Request) []message {
	var list []message
	if strings.TrimSpace(r.System) != "" {
		list = append(list, message{Role: "system", Content: r.System})
	}
	ids := callIDs(r.Messages, longestID)
	for role, parts := range limits(&m.server, true).Turns(r.Messages) {
		if role == pawl.RoleAssistant {
			if msg := m.assistant(parts, ids); msg.Content != nil || msg.Calls != nil {
				list = append(list, msg)
			}
		} else {
			list = append(list, user(parts, ids)...)
		}
	}
	return list
}

func (m *Model) assistant(parts []pawl.Part, ids map[string]string) message {
	msg := message{Role: "assistant"}
	var text strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.Text:
			text.WriteString(part.Text)
		case pawl.Thinking:
			if part.Model == "" || part.Model == m.server.Full {
				msg.recall(part.Opaque)
			}
		case pawl.Call:
			msg.Calls = append(msg.Calls, call{
				ID: ids[cmp.Or(part.ID, part.Ref)], Type: "function",
				Function: function{Name: provider.Name(part.Tool), Arguments: string(provider.Object(part.Args))},
			})
		}
	}
	if strings.TrimSpace(text.String()) != "" {
		msg.Content = text.String()
	}
	if msg.Calls == nil {
		msg.Reasoning, msg.ReasoningContent = "", ""
	}
	return msg
}

// recall adds the reasoning of an opaque part, an object whose only key is the
// name it was received with.
func (m *message) recall(opaque json.RawMessage) {
	var had struct {
		Reasoning        string `json:"reasoning"`
		ReasoningContent string `json:"reasoning_content"`
	}
	if json.Unmarshal(opaque, &had) == nil {
		m.Reasoning += had.Reasoning
		m.ReasoningContent += had.ReasoningContent
	}
}

// user is a user's turn: each result, and then one message.
func user(parts []pawl.Part, ids map[string]string) []message {
	var list []message
	var pictures, rest []content
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.ToolResult:
			list = append(list, message{Role: "tool", CallID: answered(part, ids), Content: resultText(part)})
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

// callIDs returns the id to send for each call: the provider's, if it is unique
// and at most most bytes long, or the run's own.
func callIDs(msgs []pawl.Message, most int) map[string]string {
	ids, taken := map[string]string{}, map[string]bool{}
	for _, msg := range msgs {
		for _, part := range msg.Parts {
			if c, ok := part.(pawl.Call); ok {
				k := cmp.Or(c.ID, c.Ref)
				ids[k] = provider.UniqueID(c.Ref, k, most, taken)
			}
		}
	}
	return ids
}

// answered returns the id of the call that a result answers.
func answered(r pawl.ToolResult, ids map[string]string) string {
	k := cmp.Or(r.Call, r.Ref)
	if id, paired := ids[k]; paired {
		return id
	}
	return k
}

// resultText returns the text of a result.
func resultText(r pawl.ToolResult) string {
	if text := r.Text(); strings.TrimSpace(text) != "" {
		return text
	}
	return provider.Empty
}

func dataURL(i pawl.File) string {
	return "data:" + i.Type + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}
