package anthropic

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// The API's limits on files (its guides to vision and to PDFs): 5 MB for a
// picture in base64, and 32 MB per request, part of which is for the rest of the
// request.
var limits = provider.Limits{
	Types:    []string{"image/png", "image/jpeg", "image/webp", "image/gif"},
	Files:    []string{media.PDF},
	Each:     5 << 20,
	Side:     8000,
	Count:    100,
	Total:    24 << 20,
	Many:     20,
	ManySide: 2000,
}

const minThinking = 1024

// Generations of models with different capabilities. Both patterns list old
// models, so that unknown ones count as new.
var (
	budgeted   = regexp.MustCompile(`^claude-(3|(opus|sonnet|haiku)-4(-[015]|[-@]20\d{6}|$))`)
	schemaless = regexp.MustCompile(`^claude-(3|(opus|sonnet)-4(-0|[-@]20\d{6}|$))`)
	owned      = []string{"model", "messages", "system", "tools", "max_tokens", "stream"}
)

type message struct {
	Content []any  `json:"content"` // of type *part, or unchanged thinking
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
	Title    string          `json:"title,omitempty"`
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
	TTL  string `json:"ttl,omitempty"` // of a mark for the cache; empty: five minutes
}

// cacheMark is the mark for the cache of a request; nil: it has none.
func cacheMark(r pawl.Request) *kind {
	switch {
	case r.Sampling.Cache == "off":
		return nil
	case r.Long:
		return &kind{"ephemeral", "1h"}
	}
	return &kind{Type: "ephemeral"}
}

type tool struct {
	Schema      json.RawMessage `json:"input_schema,omitempty"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Type        string          `json:"type,omitempty"` // of a hosted one
	Uses        int             `json:"max_uses,omitempty"`
}

// body returns the request as JSON, without thinking unless recall is set.
func (m *Model) body(r pawl.Request, recall bool) ([]byte, error) {
	limit := m.server.Limit(r)
	req := map[string]any{"model": m.server.Name, "max_tokens": limit, "stream": true, "messages": m.messages(r, recall)}
	if strings.TrimSpace(r.System) != "" {
		req["system"] = []*part{{Type: "text", Text: r.System, Cache: cacheMark(r)}}
	}
	// Thinking excludes a temperature.
	budget := limit / 2
	switch thinks := recall && m.server.Traits.Thinks(r.Sampling.Effort) && !m.unled(r.Messages); {
	case thinks && strings.HasPrefix(m.server.Name, "claude-") && !budgeted.MatchString(m.server.Name):
		req["thinking"] = kind{Type: "adaptive"}
	case thinks:
		req["thinking"] = map[string]any{"type": "enabled", "budget_tokens": budget}
	case r.Sampling.Temperature != 0:
		req["temperature"] = max(0, r.Sampling.Temperature)
	}
	if len(r.Tools) > 0 {
		req["tools"] = tools(r.Tools)
	} else if called := calledTools(r.Messages); len(called) > 0 {
		req["tools"], req["tool_choice"] = tools(called), kind{Type: "none"}
	}
	if schema, ok := provider.Promise(r.Output); ok && strings.HasPrefix(m.server.Name, "claude-") && !schemaless.MatchString(m.server.Name) {
		req["output_config"] = map[string]any{"format": map[string]any{"type": "json_schema", "schema": schema}}
	}
	return provider.Encode(req, r.Sampling.Options, owned, nil)
}

func tools(infos []pawl.ToolInfo) []tool {
	list := make([]tool, len(infos))
	for i, info := range infos {
		list[i] = tool{Schema: info.Input, Name: info.Name, Description: info.Description}
		switch {
		case info.Hosted == (pawl.Usage{}):
			if info.Input == nil {
				list[i].Schema = json.RawMessage(`{"properties":{},"type":"object"}`)
			}
		case info.Name == provider.WebSearch:
			list[i] = tool{Name: info.Name, Type: "web_search_20250305", Uses: info.MaxCalls}
		default:
			list[i] = tool{Name: info.Name, Type: "code_execution_20250825"}
		}
	}
	return list
}

// calledTools declares the tools called in the messages, in the order of their
// first call.
func calledTools(msgs []pawl.Message) []pawl.ToolInfo {
	var infos []pawl.ToolInfo
	seen := map[string]bool{}
	add := func(info pawl.ToolInfo) {
		if !seen[info.Name] {
			seen[info.Name] = true
			infos = append(infos, info)
		}
	}
	for _, msg := range msgs {
		for _, part := range msg.Parts {
			switch part := part.(type) {
			case pawl.Call:
				add(pawl.ToolInfo{Name: provider.Name(part.Tool)})
			case pawl.Thinking:
				if had := read(part.Opaque); had.Type == "server_tool_use" {
					add(pawl.ToolInfo{Name: hostedName(had.Name), MaxCalls: 1, Hosted: pawl.Usage{Sessions: 1}})
				}
			}
		}
	}
	return infos
}

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

// unpaired returns the ids of the hosted calls that a request cannot have: those
// without a result, unless it is still to come, and those of which only the result is left.
func unpaired(msgs []pawl.Message) map[string]bool {
	calls, results, all := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, msg := range msgs {
		last := !slices.ContainsFunc(msgs[i+1:], func(m pawl.Message) bool { return m.Role == pawl.RoleAssistant })
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

// messages returns the turns of the conversation.
//
// The API allows four marks for the cache, and searches twenty blocks back from
// each for an earlier mark. So the prompt, the last message, and the marked
// places of earlier and later requests get one.
func (m *Model) messages(r pawl.Request, recall bool) (list []message) {
	msgs, cached, without := r.Messages, cacheMark(r), unpaired(r.Messages)
	var place []int // index in the list, by turn
	for role, parts := range limits.Turns(msgs) {
		if n := len(place); n > 0 {
			place[n-1] = len(list) - 1
		}
		place = append(place, 0)
		if role == pawl.RoleAssistant {
			if blocks := m.said(parts, recall, without); len(blocks) > 0 {
				list = append(list, message{Role: "assistant", Content: blocks})
			}
			continue
		}
		blocks := asked(parts)
		if n := len(list); n > 0 && list[n-1].Role == "user" { // an empty turn was between them
			blocks = append(list[n-1].Content, blocks...)
			list = list[:n-1]
		}
		list = append(list, message{Role: "user", Content: blocks})
	}
	if n := len(list); n > 0 {
		mark(list[n-1].Content, cached)
	}
	if len(place) != len(msgs) {
		return list // turns were joined, which never happens in a run
	}
	for _, n := range r.Marks[:min(len(r.Marks), 2)] {
		if n > 0 && n < len(place) && place[n-1] >= 0 && place[n-1] < len(list)-1 {
			mark(list[place[n-1]].Content, cached)
		}
	}
	return list
}

// unled reports whether a call of the current turn has no thinking before it,
// as when another model made it. The API refuses such a turn while thinking is
// on, so it is off until the turn is over.
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
		case msg.Role == pawl.RoleAssistant && calls && !led:
			return true
		case msg.Role == pawl.RoleUser && !answers:
			return false
		}
	}
	return false
}

// mark marks everything up to the last block for the cache. An empty result and
// thinking cannot be marked; then the mark goes before them.
func mark(blocks []any, cached *kind) {
	for _, b := range slices.Backward(blocks) {
		if p, ok := b.(*part); ok && (p.Type != "tool_result" || len(p.Content) > 0) {
			p.Cache = cached
			return
		}
	}
}

// said returns an assistant's turn, without some hosted calls. It must not end with thinking.
func (m *Model) said(parts []pawl.Part, recall bool, without map[string]bool) (list []any) {
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
			if had := read(block); block == nil || thought && !recall || without[cmp.Or(had.Of, had.ID)] {
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

// recalled returns an opaque part to send back, nil if it cannot be sent, and
// whether it is thinking. A part without the name of a model is sent back only
// if it has the form of this API's thinking.
func (m *Model) recalled(t pawl.Thinking) (block json.RawMessage, thought bool) {
	had := read(t.Opaque)
	if t.Model != "" && t.Model != m.server.Full {
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

// asked returns a user's turn. Results must come first in the message that
// answers calls.
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
		case pawl.File:
			rest = append(rest, file(p))
		}
	}
	if len(results)+len(rest) == 0 { // a turn must not disappear
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
		b.Content = append(b.Content, file(i))
	}
	return b
}

func text(s string) *part { return &part{Type: "text", Text: s} }

func file(f pawl.File) *part {
	p := &part{Type: "image", Source: &source{f.Data, f.Type, "base64"}}
	if f.Type == media.PDF {
		p.Type, p.Title = "document", f.Name
	}
	return p
}

// id returns the run's own id of a call if there is one: it is unique, and
// valid for the API.
func id(own, ref string) string { return provider.Name(cmp.Or(own, ref)) }
