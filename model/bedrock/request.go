package bedrock

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// The API's limits on files (its reference of Message): 3.75 MB for a picture, which is 5 MB in
// base64, and 20 pictures.
var limits = provider.Limits{
	Types: []string{"image/png", "image/jpeg", "image/webp", "image/gif"},
	Files: []string{media.PDF},
	Each:  5 << 20,
	Side:  8000,
	Count: 20,
	Total: 18 << 20,
}

const minThinking = 1024

// What models can do, by their names. An ARN of an inference profile does not tell.
var (
	claudes  = regexp.MustCompile(`(^|[./])anthropic\.claude`)
	budgeted = regexp.MustCompile(`claude-(3|(opus|sonnet|haiku)-4(-[015]|-20\d{6}))`)
	thinks   = regexp.MustCompile(`claude-(3-7|[a-z]+-\d)`)
	caching  = regexp.MustCompile(`claude-(3-7|3-5-haiku|[a-z]+-\d)|(^|[./])amazon\.nova`)
	recent   = regexp.MustCompile(`claude-[a-z]+-(4-[5-9]|[5-9])`) // keep the cache for an hour, and guarantee schemas
	failing  = regexp.MustCompile(`anthropic\.claude|amazon\.nova`)
)

func claude(model string) bool { return claudes.MatchString(model) }

// The fields of a request that options may set, those of inferenceConfig, and those that only
// the run sets.
var (
	fields    = []string{"additionalModelResponseFieldPaths", "guardrailConfig", "outputConfig", "performanceConfig", "promptVariables", "requestMetadata", "serviceTier"}
	inference = []string{"stopSequences", "temperature", "topP"}
	owned     = []string{"modelId", "messages", "system", "toolConfig", "inferenceConfig", "maxTokens", "max_tokens", "additionalModelRequestFields"}
)

// object is a JSON object.
type object = map[string]any

// body returns the request as JSON, without thinking unless recall is set.
func (m *converse) body(r pawl.Request, recall bool) ([]byte, error) {
	name, limit := m.server.Name, m.server.Limit(r)
	config, more := object{"maxTokens": limit}, object{}
	body := object{"messages": m.messages(r, recall), "inferenceConfig": config}
	point := m.point(r)
	if strings.TrimSpace(r.System) != "" {
		body["system"] = []any{object{"text": r.System}}
		if point != nil {
			body["system"] = []any{object{"text": r.System}, point}
		}
	}
	// Thinking excludes a temperature.
	budget := limit / 2
	switch thinking := recall && r.Sampling.Effort != "" && budget >= minThinking && claude(name) && thinks.MatchString(name); {
	case thinking && budgeted.MatchString(name):
		more["thinking"] = object{"type": "enabled", "budget_tokens": budget}
	case thinking:
		more["thinking"] = object{"type": "adaptive"}
	case r.Sampling.Temperature != 0:
		config["temperature"] = max(0, r.Sampling.Temperature)
	}
	if list := tools(r); len(list) > 0 {
		body["toolConfig"] = object{"tools": list}
	}
	if schema, ok := provider.Promise(r.Output); ok && claude(name) && recent.MatchString(name) {
		body["outputConfig"] = object{"textFormat": object{"type": "json_schema", "structure": object{"jsonSchema": object{"schema": string(provider.Marshal(schema))}}}}
	}
	if len(more) > 0 {
		body["additionalModelRequestFields"] = more
	}
	return provider.Encode(body, r.Sampling.Options, owned, func(k string, v json.RawMessage) bool {
		where := more
		switch {
		case slices.Contains(fields, k):
			where = body
		case slices.Contains(inference, k):
			where = config
		default:
			body["additionalModelRequestFields"] = more
		}
		provider.Put(where, k, v)
		return true
	})
}

// point is a mark for the cache; nil: the model has none.
func (m *converse) point(r pawl.Request) any {
	switch {
	case r.Sampling.Cache == "off" || !caching.MatchString(m.server.Name):
		return nil
	case r.Long && recent.MatchString(m.server.Name):
		return object{"cachePoint": object{"type": "default", "ttl": "1h"}}
	}
	return object{"cachePoint": object{"type": "default"}}
}

// tools are the tools of a request, or those that its messages call: the API refuses calls
// and results in a request without tools.
func tools(r pawl.Request) (list []any) {
	infos := r.Tools
	if len(infos) == 0 {
		seen := map[string]bool{}
		for _, msg := range r.Messages {
			for _, p := range msg.Parts {
				if c, ok := p.(pawl.Call); ok && !seen[provider.Name(c.Tool)] {
					seen[provider.Name(c.Tool)] = true
					infos = append(infos, pawl.ToolInfo{Name: provider.Name(c.Tool)})
				}
			}
		}
	}
	for _, t := range infos {
		schema := t.Input
		if schema == nil {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		spec := object{"name": t.Name, "inputSchema": object{"json": schema}}
		if t.Description != "" { // which must not be empty
			spec["description"] = t.Description
		}
		list = append(list, object{"toolSpec": spec})
	}
	return list
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

// messages returns the turns of the conversation. Claude takes four marks for the cache: after
// the system prompt, the last message, and the marked places of earlier and later requests.
func (m *converse) messages(r pawl.Request, recall bool) []message {
	list := []message{}
	var place []int // index in the list, by turn
	documents := 0
	for role, parts := range limits.Turns(r.Messages) {
		if role == pawl.RoleAssistant {
			if said := m.said(parts, recall); len(said) > 0 {
				list = append(list, message{"assistant", said})
			}
		} else {
			asked := m.asked(parts, &documents)
			if n := len(list); n > 0 && list[n-1].Role == "user" { // an empty turn was between them
				list[n-1].Content = append(list[n-1].Content, asked...)
			} else {
				list = append(list, message{"user", asked})
			}
		}
		place = append(place, len(list)-1)
	}
	point := m.point(r)
	if point == nil || len(list) == 0 {
		return list
	}
	marked := map[int]bool{len(list) - 1: true}
	if len(place) == len(r.Messages) { // no turns were joined, which never happens in a run
		for _, n := range r.Marks[:min(len(r.Marks), 2)] {
			if n > 0 && n <= len(place) && place[n-1] >= 0 {
				marked[place[n-1]] = true
			}
		}
	}
	for i := range marked {
		list[i].Content = append(list[i].Content, point)
	}
	return list
}

// said returns an assistant's turn. It must not end with reasoning.
func (m *converse) said(parts []pawl.Part, recall bool) (list []any) {
	end := 0
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			if strings.TrimSpace(p.Text) != "" {
				list = append(list, object{"text": p.Text})
				end = len(list)
			}
		case pawl.Thinking:
			if recall && p.Model == m.server.Full && provider.Opaque(p.Opaque) {
				list = append(list, p.Opaque)
			}
		case pawl.Call:
			list = append(list, object{"toolUse": object{"toolUseId": id(p.ID, p.Ref), "name": provider.Name(p.Tool), "input": provider.Object(p.Args)}})
			end = len(list)
		}
	}
	return list[:end]
}

// id is the run's own id of a call, which is unique where the provider's need not be.
func id(own, ref string) string { return provider.Name(cmp.Or(own, ref)) }

// asked returns a user's turn. A document needs a text beside it.
func (m *converse) asked(parts []pawl.Part, documents *int) []any {
	var results, rest []any
	lone := false
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.ToolResult:
			results = append(results, m.result(p))
		case pawl.Text:
			if strings.TrimSpace(p.Text) != "" {
				rest = append(rest, object{"text": p.Text})
			}
		case pawl.File:
			if p.Type != media.PDF {
				rest = append(rest, picture(p))
				continue
			}
			*documents++
			lone = true
			// A name of the user's could be taken for an instruction, as the API's reference warns.
			rest = append(rest, object{"document": object{"format": "pdf", "name": fmt.Sprintf("document %d", *documents), "source": object{"bytes": p.Data}}})
		}
	}
	texts := slices.ContainsFunc(rest, func(b any) bool { o, ok := b.(object); return ok && o["text"] != nil })
	if lone && !texts || len(rest)+len(results) == 0 { // a turn must not disappear
		rest = append(rest, object{"text": provider.Empty})
	}
	return append(results, rest...)
}

func (m *converse) result(r pawl.ToolResult) any {
	text := r.Text()
	if strings.TrimSpace(text) == "" {
		text = provider.Empty
	}
	content := []any{object{"text": text}}
	for _, img := range r.Images {
		content = append(content, picture(img))
	}
	block := object{"toolUseId": id(r.Call, r.Ref), "content": content}
	if r.Failed && failing.MatchString(m.server.Name) { // others refuse it
		block["status"] = "error"
	}
	return object{"toolResult": block}
}

func picture(f pawl.File) any {
	return object{"image": object{"format": strings.TrimPrefix(f.Type, "image/"), "source": object{"bytes": f.Data}}}
}
