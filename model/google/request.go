package google

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

// The API's limits on files (https://ai.google.dev/gemini-api/docs/image-understanding,
// document-processing and audio): 20 MB per request, part of which is for the
// rest of the request.
var limits = provider.Limits{
	Types: []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"},
	Files: []string{media.PDF, "audio/wav", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"},
	Count: 3600,
	Total: 16 << 20,
}

const (
	// The budgets that all thinking models accept: 2.5 Flash-Lite has the
	// highest minimum, the Flash models have the lowest maximum.
	minThinking = 512
	maxThinking = 24576

	// A documented signature for calls that the model did not make
	// (https://ai.google.dev/gemini-api/docs/thought-signatures).
	unsigned = "skip_thought_signature_validator"
)

// Generations of models with different capabilities. Both patterns list old
// models, so that unknown ones count as new.
var (
	beforeThree = regexp.MustCompile(`^gemini-[12]\b`)
	thoughtless = regexp.MustCompile(`^gemini-(1|2\.0)\b`)
)

// Options that belong next to generationConfig, and those that only the run
// sets.
var (
	beside = []string{"cachedContent", "labels", "safetySettings", "serviceTier", "store", "toolConfig"}
	owned  = []string{"model", "contents", "systemInstruction", "tools", "generationConfig", "maxOutputTokens", "candidateCount"}
)

// modern reports whether the model is of Gemini 3 or later.
func (m *Model) modern() bool {
	return strings.HasPrefix(m.server.Name, "gemini-") && !beforeThree.MatchString(m.server.Name)
}

// body returns the request as JSON.
func (m *Model) body(r pawl.Request) ([]byte, error) {
	limit := m.server.Limit(r)
	config := map[string]any{"maxOutputTokens": limit}
	if t := r.Sampling.Temperature; t != 0 {
		config["temperature"] = max(0, t)
	}
	if budget := min(limit/2, maxThinking); r.Sampling.Effort != "" && budget >= minThinking && !thoughtless.MatchString(m.server.Name) {
		config["thinkingConfig"] = map[string]any{"includeThoughts": true, "thinkingBudget": budget}
	}
	body := map[string]any{"contents": m.contents(r.Messages), "generationConfig": config}
	if strings.TrimSpace(r.System) != "" {
		body["systemInstruction"] = content{Parts: []any{part{"text": r.System}}}
	}
	if len(r.Tools) > 0 {
		own, hosted := provider.Split(r.Tools)
		var all []any
		if len(own) > 0 {
			list := make([]declaration, len(own))
			for i, t := range own {
				list[i] = declaration{t.Name, t.Description, t.Input}
			}
			all = append(all, map[string]any{"functionDeclarations": list})
		}
		for _, t := range hosted {
			all = append(all, map[string]any{hostedTools[t.Name]: map[string]any{}})
		}
		if body["tools"] = all; len(own) > 0 && len(hosted) > 0 {
			body["toolConfig"] = map[string]any{"includeServerSideToolInvocations": true}
		}
	}
	if r.Output != nil && (len(r.Tools) == 0 || m.modern()) {
		config["responseMimeType"], config["responseJsonSchema"] = "application/json", r.Output
	}
	options := make(map[string]json.RawMessage, len(r.Sampling.Options))
	for k, v := range r.Sampling.Options {
		options[camel(k)] = v
	}
	return provider.Encode(body, options, owned, func(k string, v json.RawMessage) bool {
		where := config
		if slices.Contains(beside, k) {
			where = body
		}
		provider.Put(where, k, v)
		return true
	})
}

// hostedTools are the API's names of hosted tools.
var hostedTools = map[string]string{provider.WebSearch: "googleSearch", provider.CodeExecution: "codeExecution"}

// Hosts implements tool.Host: web_search and code_execution. Models before Gemini 3 take no
// other tools beside them.
func (m *Model) Hosts(tools []pawl.ToolInfo) error {
	own, hosted := provider.Split(tools)
	if len(hosted) > 0 && len(own) > 0 && !m.modern() {
		return fmt.Errorf("%s takes no other tools beside %s; drop %s, or use a model since Gemini 3", m.server.Full, hosted[0].Name, own[0].Name)
	}
	return provider.Hosts(m.server.Full, tools)
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

// A content is a message; its parts are of type part, or unchanged.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"`
}

type part map[string]any

// contents joins consecutive messages of one role into one content.
func (m *Model) contents(msgs []pawl.Message) []content {
	list := []content{}
	for role, parts := range limits.Turns(msgs) {
		c := content{Role: "user"}
		if role == pawl.RoleAssistant {
			c.Role, c.Parts = "model", m.assistant(parts)
		} else {
			c.Parts = m.user(parts)
		}
		if len(c.Parts) > 0 {
			list = append(list, c)
		}
	}
	return list
}

func (m *Model) assistant(parts []pawl.Part) []any {
	var list []any
	var held map[string]json.RawMessage // fields of the next part, by its kind
	called := false
	add := func(kind string, value any) {
		p := part{kind: value}
		var rest map[string]json.RawMessage
		if json.Unmarshal(held[kind], &rest) == nil {
			for k, v := range rest {
				p[k] = v
			}
		}
		if kind == "functionCall" && !called {
			called = true
			if p["thoughtSignature"] == nil && m.modern() {
				p["thoughtSignature"] = unsigned
			}
		}
		held = nil
		list = append(list, p)
	}
	for _, each := range parts {
		switch each := each.(type) {
		case pawl.Text:
			if strings.TrimSpace(each.Text) != "" {
				add("text", each.Text)
			}
		case pawl.Thinking:
			held = nil
			if each.Model != "" && each.Model != m.server.Full || !provider.Opaque(each.Opaque) || json.Unmarshal(each.Opaque, &held) != nil {
				continue
			}
			if whole := held["part"]; whole != nil {
				list = append(list, whole)
			}
		case pawl.Call:
			add("functionCall", part{"id": cmp.Or(each.ID, each.Ref), "name": provider.Name(each.Tool), "args": provider.Object(each.Args)})
		}
	}
	return list
}

func (m *Model) user(parts []pawl.Part) []any {
	var results, pictures, rest []any
	for _, each := range parts {
		switch each := each.(type) {
		case pawl.ToolResult:
			r := part{"id": cmp.Or(each.Call, each.Ref), "name": provider.Name(each.Tool), "response": response(each)}
			var images []any
			for _, img := range each.Images {
				images = append(images, picture(img))
			}
			switch {
			case len(images) == 0:
			case m.modern():
				r["parts"] = images
			default:
				pictures = append(append(pictures, part{"text": "Images of the result of " + each.Tool + ":"}), images...)
			}
			results = append(results, part{"functionResponse": r})
		case pawl.Text:
			if strings.TrimSpace(each.Text) != "" {
				rest = append(rest, part{"text": each.Text})
			}
		case pawl.File:
			rest = append(rest, picture(each))
		}
	}
	all := slices.Concat(results, pictures, rest)
	if len(all) == 0 { // a turn must not disappear
		all = append(all, part{"text": provider.Empty})
	}
	return all
}

// response returns a result as the object that the API requires.
func response(r pawl.ToolResult) part {
	var value any = string(r.Content)
	if json.Valid(r.Content) {
		value = provider.Document(r.Content)
	}
	if r.Failed {
		return part{"error": value}
	}
	return part{"output": value}
}

func picture(f pawl.File) part {
	kind := f.Type
	if kind == "audio/mpeg" { // as the API calls it
		kind = "audio/mp3"
	}
	return part{"inlineData": part{"mimeType": kind, "data": f.Data}}
}
