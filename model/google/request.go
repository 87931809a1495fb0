package google

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// Options that belong next to generationConfig, and those that only the run
// sets.
var (
	beside = []string{"cachedContent", "labels", "safetySettings", "serviceTier", "store", "toolConfig"}
	owned  = []string{"model", "contents", "systemInstruction", "tools", "generationConfig", "continuationToken", "maxOutputTokens", "candidateCount"}
)

// body returns the request as JSON, without what its server refuses, and notes of that. With a
// token, it asks for the rest of a reply that the provider stopped at the most tokens of one
// response.
func (m *Model) body(r pawl.Request, token string, lessons *provider.Lessons) (data []byte, notes []string, err error) {
	limit := m.server.Limit(r)
	config := map[string]any{"maxOutputTokens": limit}
	effort, notes := m.server.Effort(r.Sampling.Effort)
	if t := r.Sampling.Temperature; t != 0 {
		if note := m.server.Unsampled("temperature", false); note != "" {
			notes = append(notes, note)
		} else {
			config["temperature"] = max(0, t)
		}
	}
	if thinking := m.thinking(effort, limit); thinking != nil {
		config["thinkingConfig"] = thinking
	}
	body := map[string]any{"contents": m.contents(r.Messages), "generationConfig": config}
	if token != "" {
		body["continuationToken"] = token
	}
	tools := m.offered(r)
	m.offer(body, tools, r.ToolChoice)
	system, sent := r.System, len(tools) == 0 || m.server.Traits.Mixed
	if r.Output != nil && sent {
		config["responseMimeType"], config["responseJsonSchema"] = "application/json", lone(r.Output)
	}
	if _, refused := lessons.Of(schemaField); r.Output != nil && (!sent || refused) {
		system = provider.Told(system, r.Output)
	}
	if strings.TrimSpace(system) != "" {
		body["systemInstruction"] = content{Parts: []any{part{"text": system}}}
	}
	options := make(map[string]json.RawMessage, len(r.Sampling.Options))
	for k, v := range r.Sampling.Options {
		options[camel(k)] = v
	}
	err = provider.Merge(body, options, owned, func(k string, v json.RawMessage) bool {
		switch {
		case k == "toolConfig" && r.ToolChoice == "none": // which may want a call
		case slices.Contains(beside, k):
			provider.Join(body, k, v)
		default:
			provider.Join(config, k, v)
		}
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	notes = append(notes, lessons.Apply(body)...)
	data, err = provider.JSON(body)
	return data, notes, err
}

// The most thinking tokens of each effort, for models that are asked by a number of tokens. All
// of them take at least the first and at most the last (https://ai.google.dev/gemini-api/docs/generate-content/thinking).
var budgets = map[string]int{"minimal": 512, "low": 1024, "medium": 8192, "high": 24576}

// thinking returns how the model is asked to think with an effort that it takes, and to show it;
// nil: it is not asked.
func (m *Model) thinking(effort string, limit int) map[string]any {
	traits := &m.server.Traits
	switch {
	case traits.Thinking == sheet.ByBudget && effort == "none":
		return map[string]any{"thinkingBudget": 0}
	case !traits.Thinks(effort):
		return nil
	case effort == "":
		return map[string]any{"includeThoughts": true}
	case traits.Thinking == sheet.ByBudget:
		return map[string]any{"includeThoughts": true, "thinkingBudget": max(budgets["minimal"], min(budgets[effort], limit/2))}
	}
	return map[string]any{"includeThoughts": true, "thinkingLevel": strings.ToUpper(effort)}
}

// offered returns the tools to declare. A reply that may not call any needs no hosted ones, whose
// use cannot be forbidden; and a schema of the answer excludes tools for older models.
func (m *Model) offered(r pawl.Request) []pawl.ToolInfo {
	if r.ToolChoice != "none" {
		return r.Tools
	}
	if r.Output != nil && !m.server.Traits.Mixed {
		return nil
	}
	own, _ := provider.Split(r.Tools)
	return own
}

// offer declares tools in a request, and says which must be called, or that none may be.
func (m *Model) offer(body map[string]any, tools []pawl.ToolInfo, choice string) {
	if len(tools) == 0 {
		return
	}
	own, hosted := provider.Split(tools)
	var all []any
	if len(own) > 0 {
		list := make([]declaration, len(own))
		for i, t := range own {
			list[i] = declaration{Name: t.Name, Description: t.Description}
			if t.Input != nil {
				list[i].Parameters = lone(provider.Input(t.Input))
			}
		}
		all = append(all, map[string]any{"functionDeclarations": list})
	}
	for _, t := range hosted {
		all = append(all, map[string]any{m.server.Traits.Hosted[t.Name]: map[string]any{}})
	}
	body["tools"] = all
	config := map[string]any{}
	if mode := calling(choice); mode != nil && len(own) > 0 {
		config["functionCallingConfig"] = mode
	}
	if choice != "none" && len(own) > 0 && len(hosted) > 0 && !m.cloud {
		config["includeServerSideToolInvocations"] = true
	}
	if len(config) > 0 {
		body["toolConfig"] = config
	}
}

// calling is a tool choice on the wire; nil: the model chooses.
func calling(choice string) map[string]any {
	switch choice {
	case "":
		return nil
	case "none":
		return map[string]any{"mode": "NONE"}
	case "required":
		return map[string]any{"mode": "ANY"}
	}
	return map[string]any{"mode": "ANY", "allowedFunctionNames": []string{choice}}
}

// Hosts implements tool.Host: web_search and code_execution. Models before Gemini 3 take no
// other tools beside them.
func (m *Model) Hosts(tools []pawl.ToolInfo) error {
	own, hosted := provider.Split(tools)
	if err := provider.Hosts(m.server.Full, tools); err != nil {
		return err
	}
	for _, t := range hosted {
		switch {
		case m.server.Traits.Hosted[t.Name] == "":
			return fmt.Errorf("%s is not known to run %s itself", m.server.Full, t.Name)
		case len(own) > 0 && !m.server.Traits.Mixed:
			return fmt.Errorf("%s takes no other tools beside %s; drop %s, or use a model since Gemini 3", m.server.Full, t.Name, own[0].Name)
		}
	}
	return nil
}

// camel returns the API's name of a field: maxOutputTokens also for
// max_output_tokens.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:min(1, len(w))]) + w[min(1, len(w)):]
	}
	return strings.Join(words, "")
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}
