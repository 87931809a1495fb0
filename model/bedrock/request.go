package bedrock

import (
	"encoding/json"
	"fmt"
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

// The fields of a request that options may set, those of inferenceConfig, and those that only
// the run sets.
var (
	fields    = []string{"additionalModelResponseFieldPaths", "guardrailConfig", "outputConfig", "performanceConfig", "promptVariables", "requestMetadata", "serviceTier"}
	inference = []string{"stopSequences", "temperature", "topP"}
	owned     = []string{"modelId", "messages", "system", "toolConfig", "inferenceConfig", "maxTokens", "max_tokens", "additionalModelRequestFields"}
)

const longestID = 64 // of a call

// object is a JSON object.
type object = map[string]any

// extra is the field for what the API hands on to the model, with the dot behind it.
const extra = "additionalModelRequestFields."

// chosen is a tool choice on the wire, or a note that it was left out. The API has none for "none".
func (m *converse) chosen(choice string, thinking bool) (object, string) {
	note := m.server.CannotForce(thinking)
	switch {
	case choice == "" || choice == "none":
		return nil, ""
	case note != "":
		return nil, note
	case choice == "required":
		return object{"any": object{}}, ""
	}
	return object{"tool": object{"name": choice}}, ""
}

// body returns the request, without thinking blocks unless recall is set, and what was changed in it.
func (m *converse) body(r pawl.Request, recall bool, lessons *provider.Lessons) (body object, notes []string, err error) {
	limit := m.server.Limit(r)
	config, more := object{"maxTokens": limit}, object{}
	body = object{"inferenceConfig": config}
	if m.server.Known {
		t := m.server.ClaudeThinks(r.Sampling.Effort, limit, !recall)
		notes = t.Notes
		if t.Config != nil {
			more["thinking"] = t.Config
		}
		if t.Effort != "" {
			more["output_config"] = object{"effort": t.Effort}
		}
	}
	if r.Sampling.Temperature != 0 {
		config["temperature"] = max(0, r.Sampling.Temperature)
	}
	head := len(r.System) + len(r.Output)
	if list := tools(r); len(list) > 0 {
		tools := object{"tools": list}
		if choice, note := m.chosen(r.ToolChoice, provider.TypeOf(more["thinking"]) == "enabled"); choice != nil {
			tools["toolChoice"] = choice
		} else if note != "" {
			notes = append(notes, note)
		}
		body["toolConfig"] = tools
		head += len(provider.Marshal(list)) + m.server.Traits.ToolPrompt
	}
	said := r.System
	schema, sent := provider.Promise(r.Output)
	if sent = sent && m.server.Traits.BedrockSchema; sent {
		body["outputConfig"] = object{"textFormat": object{"type": "json_schema", "structure": object{"jsonSchema": object{"schema": string(provider.Marshal(schema))}}}}
	} else if r.Output != nil {
		said = provider.Told(said, r.Output)
	}
	if strings.TrimSpace(said) != "" {
		system := []any{object{"text": said}}
		if point := m.point(r, head); point != nil {
			system = append(system, point)
		}
		body["system"] = system
	}
	body["messages"] = m.messages(r, recall, head)
	err = provider.Merge(body, r.Sampling.Options, owned, func(k string, v json.RawMessage) bool {
		where := more
		switch {
		case slices.Contains(fields, k):
			where = body
		case slices.Contains(inference, k):
			where = config
		}
		provider.Join(where, k, v)
		return true
	})
	kind := provider.TypeOf(more["thinking"])
	for _, f := range []string{"temperature", "topP"} {
		if note := m.server.Unsampled(f, kind == "enabled" || kind == "adaptive"); note != "" && config[f] != nil {
			delete(config, f)
			notes = append(notes, note)
		}
	}
	if len(more) > 0 {
		body["additionalModelRequestFields"] = more
	}
	return body, append(notes, lessons.Apply(body)...), err
}

// point is a mark for the cache behind the first bytes of a prompt; nil: the model has none, or
// the prompt is too short for it, since a token has at least one byte.
func (m *converse) point(r pawl.Request, bytes int) any {
	traits := m.server.Traits
	switch {
	case r.Sampling.Cache == "off", traits.CacheFrom == 0 && !nova(m.server.Name), bytes < traits.CacheFrom:
		return nil
	case r.Long && traits.CacheFor != "":
		return object{"cachePoint": object{"type": "default", "ttl": traits.CacheFor}}
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
		spec := object{"name": t.Name, "inputSchema": object{"json": provider.Input(t.Input)}}
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
func (m *converse) messages(r pawl.Request, recall bool, head int) []message {
	list, ids := []message{}, provider.CallIDs(r.Messages, longestID, provider.Named)
	var place []int // index in the list, by turn
	documents := 0
	for role, parts := range limits.Turns(r.Messages) {
		if role == pawl.RoleAssistant {
			if said := m.said(parts, recall, ids); len(said) > 0 {
				list = append(list, message{"assistant", said})
			}
		} else {
			asked := m.asked(parts, &documents, ids)
			if n := len(list); n > 0 && list[n-1].Role == "user" { // an empty turn was between them
				list[n-1].Content = append(list[n-1].Content, asked...)
			} else {
				list = append(list, message{"user", asked})
			}
		}
		place = append(place, len(list)-1)
	}
	if len(list) == 0 {
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
	for i := range list {
		if head < m.server.Traits.CacheFrom { // it is not known to be long enough yet
			head += len(provider.Marshal(list[i].Content))
		}
		if point := m.point(r, head); marked[i] && point != nil {
			list[i].Content = append(list[i].Content, point)
		}
	}
	return list
}

// said returns an assistant's turn. It must not end with reasoning.
func (m *converse) said(parts []pawl.Part, recall bool, ids provider.IDs) (list []any) {
	end := 0
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			if strings.TrimSpace(p.Text) != "" {
				list = append(list, object{"text": p.Text})
				end = len(list)
			}
		case pawl.Thinking:
			if recall && p.Model != "" && m.server.Recalls(p) && provider.Opaque(p.Opaque) {
				list = append(list, p.Opaque)
			}
		case pawl.Call:
			list = append(list, object{"toolUse": object{"toolUseId": ids.Of(p.ID, p.Ref), "name": provider.Name(p.Tool), "input": provider.Object(p.Args)}})
			end = len(list)
		}
	}
	return list[:end]
}

// asked returns a user's turn. A document needs a text beside it.
func (m *converse) asked(parts []pawl.Part, documents *int, ids provider.IDs) []any {
	var results, rest []any
	lone := false
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.ToolResult:
			results = append(results, m.result(p, ids))
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

func (m *converse) result(r pawl.ToolResult, ids provider.IDs) any {
	text := r.Text()
	if strings.TrimSpace(text) == "" {
		text = provider.Empty
	}
	content := []any{object{"text": text}}
	for _, img := range r.Images {
		content = append(content, picture(img))
	}
	block := object{"toolUseId": ids.Of(r.Call, r.Ref), "content": content}
	if r.Failed && (m.server.Known || nova(m.server.Name)) { // others refuse it
		block["status"] = "error"
	}
	return object{"toolResult": block}
}

func picture(f pawl.File) any {
	return object{"image": object{"format": strings.TrimPrefix(f.Type, "image/"), "source": object{"bytes": f.Data}}}
}
