package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// limits are OpenAI's limits on files (its guides to images and vision, to file
// inputs and to audio): 50 MB per request, part of which is for the rest of the
// request. What another server takes, only that server knows.
func (m *Model) limits(chat bool) provider.Limits {
	l := provider.Limits{
		Types: []string{"image/png", "image/jpeg", "image/webp", "image/gif"},
		Files: []string{media.PDF},
		Each:  20 << 20,
		Count: 500,
		Total: 40 << 20,
	}
	sounds := []string{"audio/wav", "audio/mpeg"}
	switch t := m.server.Traits; {
	case !m.server.Official() && chat:
		l.Files = append(l.Files, sounds...)
	case !m.server.Official():
	case chat && t.Sounds:
		l.Types, l.Files = []string{}, sounds
	case t.Blind:
		l.Types, l.Files = []string{}, nil
	}
	return l
}

// effortIn returns the effort in a request.
func effortIn(req map[string]any) (effort string) {
	v := req["reasoning_effort"]
	if within, ok := req["reasoning"].(map[string]any); ok {
		v = within["effort"]
	}
	switch v := v.(type) {
	case string:
		return v
	case json.RawMessage:
		_ = json.Unmarshal(v, &effort) // null is none
	}
	return effort
}

// temper leaves out what chooses among words where the model does not take it.
func (a *asking) temper(req map[string]any) (notes []string) {
	t := &a.server.Traits
	effort := effortIn(req)
	if t.Sampling == sheet.Always || t.Sampling == sheet.Unthinking && !t.Thinks(effort) {
		return nil
	}
	for _, name := range []string{"temperature", "top_p", "top_logprobs"} {
		if _, has := req[name]; has {
			delete(req, name)
			notes = append(notes, fmt.Sprintf("%s was left out, because %s takes none while it thinks", name, a.server.Name))
		}
	}
	return notes
}

// cache says how OpenAI is to keep a request in its cache: together with those of the same run,
// and for how long. Models before GPT-5.6 keep it for a day by themselves, and have no options.
// Other servers do not know the parameters.
func (a *asking) cache(req map[string]any) {
	if !a.server.Official() {
		return
	}
	if run := a.r.Run; run != "" && len(run) <= 64 {
		req["prompt_cache_key"] = run
	}
	const half = "12h"
	switch {
	case a.server.Traits.CacheFor != half:
	case a.r.Sampling.Cache == "off": // no breakpoints of ours, so nothing is written
		req["prompt_cache_options"] = map[string]any{"mode": "explicit"}
	case a.r.Long && a.api == Responses: // Chat Completions has no other time than the usual
		req["prompt_cache_options"] = map[string]any{"ttl": half}
	}
}

// formats reports whether the schema of the answer goes into a field of its own. OpenAI's take only
// that of an object.
func (a *asking) formats() bool {
	return a.r.Output != nil && (!a.server.Official() || provider.Rooted(a.r.Output))
}

// system returns the prompt. It has the schema of the answer if that cannot be a field, or if the
// server refused it.
func (a *asking) system(field string) string {
	system := a.r.System
	if strings.TrimSpace(system) == "" {
		system = ""
	}
	if _, refused := a.lessons.Of(field); a.r.Output != nil && (refused || !a.formats()) {
		system = provider.Told(system, a.r.Output)
	}
	return system
}

func tools(infos []pawl.ToolInfo) []tool {
	list := make([]tool, len(infos))
	for i, info := range infos {
		schema := provider.Input(info.Input)
		if bytes.Contains(schema, []byte(`"array"`)) {
			schema = provider.Rewrite(schema, itemised)
		}
		list[i] = tool{"function", function{Name: info.Name, Description: info.Description, Parameters: schema}}
	}
	return list
}

// itemised gives an array items, without which OpenAI refuses it.
func itemised(schema []provider.Member) []provider.Member {
	array := false
	for _, m := range schema {
		switch m.Name {
		case "type":
			array = bytes.Contains(m.Value, []byte(`"array"`))
		case "items":
			return schema
		}
	}
	if array {
		schema = append(schema, provider.Member{Name: "items", Value: json.RawMessage("{}")})
	}
	return schema
}

// anyID accepts the ids of all servers, which have letters of their own.
func anyID(string) bool { return true }

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
