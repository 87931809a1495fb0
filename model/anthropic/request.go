package anthropic

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// What the API takes of pictures (its guide to vision): 5 MB each, measured in
// base64, and 32 MB in a request, of which some are for the rest of it.
var limits = provider.Limits{
	Types:    []string{"image/png", "image/jpeg", "image/webp", "image/gif"},
	Each:     5 << 20,
	Side:     8000,
	Count:    100,
	Total:    24 << 20,
	Many:     20,
	ManySide: 2000,
}

const minThinking = 1024

// Generations of models that differ in what they take. Both patterns list the
// past, so that a model that is new to them gets what is new.
var (
	budgeted   = regexp.MustCompile(`^claude-(3|(opus|sonnet|haiku)-4(-[015]|-20\d{6}|$))`)
	schemaless = regexp.MustCompile(`^claude-(3|(opus|sonnet)-4(-0|-20\d{6}|$))`)
	owned      = []string{"model", "messages", "system", "tools", "max_tokens", "stream"}
)

type message struct {
	Content []any  `json:"content"` // of type *part, or thinking as it came
	Role    string `json:"role"`
}

// A part is a block of any type.
type part struct {
	ResultOf string          `json:"tool_use_id,omitempty"`
	Failed   bool            `json:"is_error,omitempty"`
	ID       string          `json:"id,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	Name     string          `json:"name,omitempty"`
	Text     string          `json:"text,omitempty"`
	Source   *source         `json:"source,omitempty"`
	Cache    *kind           `json:"cache_control,omitempty"`
	Content  []*part         `json:"content,omitempty"`
	Type     string          `json:"type"`
}

type source struct {
	Data []byte `json:"data"`
	Kind string `json:"media_type"`
	Type string `json:"type"`
}

type kind struct {
	Type string `json:"type"`
}

var cached = &kind{"ephemeral"}

type tool struct {
	Schema      json.RawMessage `json:"input_schema"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
}

// body is the request as JSON; unless it may recall, without any thinking.
func (m *Model) body(r pawl.Request, recall bool) ([]byte, error) {
	limit := provider.Limit(r)
	req := map[string]any{"model": m.server.Name, "max_tokens": limit, "stream": true, "messages": m.messages(r.Messages, r.Marks, recall)}
	if strings.TrimSpace(r.System) != "" {
		req["system"] = []*part{{Type: "text", Text: r.System, Cache: cached}}
	}
	// The temperature depends on the thinking.
	budget := min(r.Sampling.ThinkingTokens, limit-1)
	switch thinks := recall && budget >= minThinking && !m.unled(r.Messages); {
	case thinks && strings.HasPrefix(m.server.Name, "claude-") && !budgeted.MatchString(m.server.Name):
		req["thinking"] = kind{"adaptive"}
	case thinks:
		req["thinking"] = map[string]any{"type": "enabled", "budget_tokens": budget}
	case r.Sampling.Temperature != 0:
		req["temperature"] = max(0, r.Sampling.Temperature)
	}
	if len(r.Tools) > 0 {
		req["tools"] = tools(r.Tools)
	} else if called := calledTools(r.Messages); len(called) > 0 {
		req["tools"], req["tool_choice"] = tools(called), kind{"none"}
	}
	if schema, ok := m.format(r.Output); ok {
		req["output_config"] = map[string]any{"format": map[string]any{"type": "json_schema", "schema": schema}}
	}
	return provider.Encode(req, r.Sampling.Options, owned, nil)
}

func tools(infos []pawl.ToolInfo) []tool {
	list := make([]tool, len(infos))
	for i, info := range infos {
		list[i] = tool{info.Input, info.Name, info.Description}
		if info.Input == nil {
			list[i].Schema = json.RawMessage(`{"properties":{},"type":"object"}`)
		}
	}
	return list
}

// calledTools declares the tools that messages call, in the order of their first call.
func calledTools(msgs []pawl.Message) []pawl.ToolInfo {
	var infos []pawl.ToolInfo
	seen := map[string]bool{}
	for _, msg := range msgs {
		for _, part := range msg.Parts {
			if c, ok := part.(pawl.Call); ok && !seen[provider.Name(c.Tool)] {
				seen[provider.Name(c.Tool)] = true
				infos = append(infos, pawl.ToolInfo{Name: provider.Name(c.Tool)})
			}
		}
	}
	return infos
}

// messages are the turns of the conversation.
//
// The API takes four marks, looks no further back than twenty blocks from each,
// and finds only what had a mark before: so beside prompt and last message, those
// places have one that earlier requests had, or later ones will look for.
func (m *Model) messages(msgs []pawl.Message, marks []int, recall bool) (list []message) {
	var place []int // in the list, by turn
	for role, parts := range limits.Turns(msgs) {
		if n := len(place); n > 0 {
			place[n-1] = len(list) - 1
		}
		place = append(place, 0)
		if role == pawl.Assistant {
			if blocks := m.said(parts, recall); len(blocks) > 0 {
				list = append(list, message{Role: "assistant", Content: blocks})
			}
			continue
		}
		blocks := asked(parts)
		if n := len(list); n > 0 && list[n-1].Role == "user" { // what was between them said nothing
			blocks = append(list[n-1].Content, blocks...)
			list = list[:n-1]
		}
		list = append(list, message{Role: "user", Content: blocks})
	}
	if n := len(list); n > 0 {
		mark(list[n-1].Content)
	}
	if len(place) != len(msgs) {
		return list // turns were joined, which those of a run never are
	}
	for _, n := range marks[:min(len(marks), 2)] {
		if n > 0 && n < len(place) && place[n-1] >= 0 && place[n-1] < len(list)-1 {
			mark(list[place[n-1]].Content)
		}
	}
	return list
}

// unled reports whether a call of the turn that goes on has no thinking before
// it, as when another model made it. The API refuses such a turn for as long as
// thinking is asked for, so then none is, until the turn is over.
func (m *Model) unled(msgs []pawl.Message) bool {
	for _, msg := range slices.Backward(msgs) {
		calls, led, answers := false, false, false
		for _, p := range msg.Parts {
			switch p := p.(type) {
			case pawl.Call:
				calls = true
			case pawl.Thinking:
				_, thought := m.recalled(p)
				led = led || !calls && thought
			case pawl.ToolResult:
				answers = true
			}
		}
		switch {
		case msg.Role == pawl.Assistant && calls && !led:
			return true
		case msg.Role == pawl.User && !answers:
			return false
		}
	}
	return false
}

// mark asks for everything up to the last block to be cached. An empty result
// and thinking take no mark, so it goes before them.
func mark(blocks []any) {
	for _, b := range slices.Backward(blocks) {
		if p, ok := b.(*part); ok && (p.Type != "tool_result" || len(p.Content) > 0) {
			p.Cache = cached
			return
		}
	}
}

// said is an assistant's turn. Thinking must not be the end of it.
func (m *Model) said(parts []pawl.Part, recall bool) (list []any) {
	end := 0
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			if strings.TrimSpace(p.Text) != "" {
				list = append(list, text(p.Text))
				end = len(list)
			}
		case pawl.Thinking:
			block, thought := m.recalled(p)
			if block == nil || thought && !recall {
				continue
			}
			if list = append(list, block); !thought {
				end = len(list)
			}
		case pawl.Call:
			list = append(list, &part{Type: "tool_use", ID: id(p.ID, p.Ref), Name: provider.Name(p.Tool), Input: provider.Object(p.Args)})
			end = len(list)
		}
	}
	return list[:end]
}

// recalled is an opaque part as it goes back, nil if it cannot, and whether it is
// thinking. Of parts without the name of a model, only
// what is thinking by its form can be this model's.
func (m *Model) recalled(t pawl.Thinking) (block json.RawMessage, thought bool) {
	var had struct{ Type, Signature, Data string }
	if t.Model != "" && t.Model != m.server.Full || !provider.Opaque(t.Opaque) || json.Unmarshal(t.Opaque, &had) != nil {
		return nil, false
	}
	switch {
	case had.Type == "thinking" && had.Signature != "", had.Type == "redacted_thinking" && had.Data != "":
		return t.Opaque, true
	case had.Type == "thinking", had.Type == "redacted_thinking", had.Type == "", t.Model == "":
		return nil, false
	}
	return t.Opaque, false
}

// asked is a user's turn. Results must open the message that answers calls.
func asked(parts []pawl.Part) []any {
	var results, rest []any
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			if strings.TrimSpace(p.Text) != "" {
				rest = append(rest, text(p.Text))
			}
		case pawl.ToolResult:
			results = append(results, result(p))
		case pawl.Image:
			rest = append(rest, image(p))
		}
	}
	if len(results)+len(rest) == 0 { // a turn that was taken must not go missing
		return []any{text(provider.Empty)}
	}
	return append(results, rest...)
}

func result(r pawl.ToolResult) *part {
	b := &part{Type: "tool_result", ResultOf: id(r.Call, r.Ref), Failed: r.Failed}
	if s := r.Text(); strings.TrimSpace(s) != "" {
		b.Content = append(b.Content, text(s))
	}
	for _, i := range r.Images {
		b.Content = append(b.Content, image(i))
	}
	return b
}

func text(s string) *part { return &part{Type: "text", Text: s} }

func image(i pawl.Image) *part {
	return &part{Type: "image", Source: &source{i.Data, i.Type, "base64"}}
}

// id prefers the run's own name of a call, which is unique and made of letters
// that the API takes.
func id(own, ref string) string { return provider.Name(cmp.Or(own, ref)) }
