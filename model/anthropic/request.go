package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// owned are the fields that only the run sets.
var owned = []string{"model", "messages", "system", "tools", "max_tokens", "stream"}

// A call is one attempt of the run: a request and what its refusals taught.
type call struct {
	*Model
	pawl.Request
	lessons *provider.Lessons
	recall  bool // thinking goes back
}

func (m *Model) call(r pawl.Request) *call { return &call{m, r, m.server.Lessons(), true} }

// body returns the request, and what was changed in it so that the model takes it.
func (c *call) body() (req map[string]any, notes []string, err error) {
	limit := c.server.Limit(c.Request)
	if x, ok := c.lessons.Of("max_tokens"); ok && limit > x.Most {
		limit, notes = x.Most, append(notes, x.Note())
	}
	t := c.server.ClaudeThinks(c.Sampling.Effort, limit, !c.recall || c.unled())
	notes = append(notes, t.Notes...)
	req = map[string]any{"model": c.server.Name, "max_tokens": limit, "stream": true}
	if t.Config != nil {
		req["thinking"] = t.Config
	}
	config := map[string]any{}
	if t.Effort != "" {
		config["effort"] = t.Effort
	}
	system := c.System
	schema, ok := provider.Promise(c.Output)
	if ok = ok && c.server.Known && !c.server.Traits.NoSchema; ok {
		config["format"] = map[string]any{"type": "json_schema", "schema": schema}
	}
	if c.Output != nil && (!ok || c.refused("output_config.format") || c.refused("output_config")) {
		system = provider.Told(system, c.Output)
	}
	if len(config) > 0 {
		req["output_config"] = config
	}
	if c.Sampling.Temperature != 0 {
		req["temperature"] = max(0, c.Sampling.Temperature)
	}
	list, choice := c.Tools, c.ToolChoice
	if len(list) == 0 {
		list = calledTools(c.Messages)
		choice = "none"
	}
	head := len(system)
	if len(list) > 0 {
		declared := c.tools(list)
		req["tools"] = declared
		head += len(provider.Marshal(declared)) + c.server.Traits.ToolPrompt
	}
	if strings.TrimSpace(system) != "" {
		req["system"] = []*part{{Type: "text", Text: system, Cache: c.mark(head)}}
	}
	req["messages"] = c.messages(head)
	err = provider.Merge(req, c.Sampling.Options, owned, func(k string, v json.RawMessage) bool {
		provider.Join(req, k, v)
		return true
	})
	switch {
	case len(list) == 0 || choice == "":
		return req, append(notes, c.fit(req)...), err
	case choice != "none":
		req["tool_choice"] = forced(choice)
		return req, append(notes, c.fit(req)...), err
	}
	delete(req, "tool_choice")
	notes = append(notes, c.fit(req)...)
	req["tool_choice"] = kind{Type: "none"} // which every model takes, whatever was learned of others
	return req, notes, err
}

// forced is a tool choice that forces a call, on the wire.
func forced(choice string) map[string]any {
	if choice == "required" {
		return map[string]any{"type": "any"}
	}
	return map[string]any{"type": "tool", "name": choice}
}

// refused reports whether the server has refused a field.
func (c *call) refused(field string) bool {
	_, refused := c.lessons.Of(field)
	return refused
}

// fit takes out of a request with options what the model does not take, by the sheet and by what
// its server refused.
func (c *call) fit(req map[string]any) (notes []string) {
	thinking := provider.TypeOf(req["thinking"])
	for _, f := range []string{"temperature", "top_p", "top_k"} {
		if note := c.server.Unsampled(f, thinking == "enabled" || thinking == "adaptive"); note != "" && req[f] != nil {
			delete(req, f)
			notes = append(notes, note)
		}
	}
	if forced := provider.TypeOf(req["tool_choice"]); forced == "any" || forced == "tool" {
		if note := c.server.CannotForce(thinking == "enabled"); note != "" {
			delete(req, "tool_choice")
			notes = append(notes, note)
		}
	}
	notes = append(notes, c.lessons.Apply(req)...)
	for _, f := range heeded {
		if x, ok := c.lessons.Of(f.Path); ok {
			notes = append(notes, x.Note())
		}
	}
	return notes
}

// heeded are what a server may refuse within the messages and the tools, where the adapter itself
// leaves it out.
var heeded = []provider.Refusable{
	{Path: "cache_control.ttl", Words: []string{"ttl"}},
	{Path: "cache_control", Words: []string{"cache_control"}},
	{Path: "citations", Words: []string{"citations"}},
	{Path: "allowed_callers", Words: []string{"allowed_callers"}},
	{Path: newestSearch, Words: []string{newestSearch}},
	{Path: newestCode, Words: []string{newestCode}},
}

// tooMany matches the refusal of a limit that the model's replies cannot reach.
var tooMany = regexp.MustCompile(`max_tokens: (\d+) > (\d+)`)

// learn draws a lesson from the refusal of a request, or gives up its thinking. It reports
// whether the next request may differ.
func (c *call) learn(refused error, sent map[string]any) bool {
	e, ok := errors.AsType[*pawl.ModelError](refused)
	if !ok || e.Class != pawl.ClassInvalid {
		return false
	}
	if found := tooMany.FindStringSubmatch(e.Message); found != nil {
		most, _ := strconv.Atoi(found[2])
		return most > 0 && c.lessons.Learn(provider.Lesson{Field: "max_tokens", Most: most, Why: e.Message})
	}
	if c.lessons.LearnFromClaude(e, sent, "",
		provider.Refusable{Path: "tool_choice", Words: []string{"tool_choice"}},
		provider.Refusable{Path: "temperature", Words: []string{"temperature"}},
		provider.Refusable{Path: "top_p", Words: []string{"top_p"}},
		provider.Refusable{Path: "output_config.format", Words: []string{"output_config.format", "output_format", "json_schema", "structured output", "structured outputs"}},
	) {
		return true
	}
	for _, f := range heeded {
		if provider.Unwanted(e, f.Words...) && c.lessons.Learn(provider.Lesson{Field: f.Path, Why: e.Message}) {
			return true
		}
	}
	if c.recall && forThinking(e) {
		c.recall = false
		return true
	}
	return false
}

// forThinking reports whether a request was refused for the thinking in it or
// missing from it, which the API says in words alone.
func forThinking(e *pawl.ModelError) bool {
	return strings.Contains(e.Message, "`thinking`") || strings.Contains(e.Message, "`redacted_thinking`")
}

// mark is the mark for the cache behind the first bytes of a prompt; nil: there is none. A token
// has at least one byte, so a prompt with fewer bytes than the fewest tokens is too short.
func (c *call) mark(bytes int) *kind {
	if c.Sampling.Cache == "off" || c.refused("cache_control") || bytes < c.server.Traits.CacheFrom {
		return nil
	}
	if c.Long && !c.refused("cache_control.ttl") && (c.server.Traits.CacheFor != "" || !c.server.Known) {
		return &kind{"ephemeral", cmp.Or(c.server.Traits.CacheFor, "1h")}
	}
	return &kind{Type: "ephemeral"}
}
