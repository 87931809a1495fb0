package google

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider"
)

const (
	defaultMax = 4096

	// What all models that think take as a budget: 2.5 Flash-Lite has the
	// highest floor, the Flash models have the lowest ceiling.
	minThinking = 512
	maxThinking = 24576

	// Any signature of this text is taken for that of a call which the model did
	// not make (https://ai.google.dev/gemini-api/docs/thought-signatures).
	unsigned = "skip_thought_signature_validator"
)

// Generations of models that differ in what they take. Both patterns list the
// past, so that a model that is new to them gets what is new.
var (
	beforeThree = regexp.MustCompile(`^gemini-[12]\b`)
	thoughtless = regexp.MustCompile(`^gemini-(1|2\.0)\b`)
)

// Options that the API has beside generationConfig, and those that are the run's.
var (
	beside = []string{"cachedContent", "labels", "safetySettings", "serviceTier", "store", "toolConfig"}
	owned  = []string{"model", "contents", "systemInstruction", "tools", "generationConfig", "maxOutputTokens", "candidateCount"}
)

// modern reports whether the model is of Gemini 3 or later.
func (m *Model) modern() bool {
	return strings.HasPrefix(m.name, "gemini-") && !beforeThree.MatchString(m.name)
}

// body is the request and the most tokens it allows the reply. Its keys are written in the order of the alphabet, so
// that equal requests are equal bytes; schemas keep their own order.
func (m *Model) body(r pawl.Request) (map[string]any, int, error) {
	limit := defaultMax
	if r.MaxTokens > 0 {
		limit = r.MaxTokens
	} else if r.Sampling.MaxTokens > 0 {
		limit = r.Sampling.MaxTokens
	}
	config := map[string]any{"maxOutputTokens": limit}
	if t := r.Sampling.Temperature; t != 0 {
		config["temperature"] = max(0, t)
	}
	if budget := min(r.Sampling.ThinkingTokens, limit-1, maxThinking); budget >= minThinking && !thoughtless.MatchString(m.name) {
		config["thinkingConfig"] = map[string]any{"includeThoughts": true, "thinkingBudget": budget}
	}
	body := map[string]any{"contents": m.contents(r.Messages), "generationConfig": config}
	if strings.TrimSpace(r.System) != "" {
		body["systemInstruction"] = content{Parts: []any{part{"text": r.System}}}
	}
	if len(r.Tools) > 0 {
		list, err := declarations(r.Tools)
		if err != nil {
			return nil, 0, err
		}
		body["tools"] = []any{map[string]any{"functionDeclarations": list}}
	}
	if r.Output != nil && (len(r.Tools) == 0 || m.modern()) {
		if !json.Valid(r.Output) {
			return nil, 0, invalid("the output schema is not JSON: %s", r.Output)
		}
		config["responseMimeType"], config["responseJsonSchema"] = "application/json", r.Output
	}
	for _, k := range slices.Sorted(maps.Keys(r.Sampling.Options)) {
		v, name, where := r.Sampling.Options[k], camel(k), config
		if slices.Contains(beside, name) {
			where = body
		}
		switch {
		case slices.Contains(owned, name):
			return nil, 0, invalid("option %s is set by the run; want another of the provider's options", k)
		case !json.Valid(v):
			return nil, 0, invalid("option %s is not JSON: %s", k, v)
		case string(v) == "null":
			delete(where, name)
		default:
			where[name] = v
		}
	}
	return body, limit, nil
}

func invalid(format string, args ...any) error {
	return &pawl.ModelError{Class: pawl.ClassInvalid, Message: provider.Clip(fmt.Sprintf(format, args...))}
}

// camel is the name of a field as the API writes it; it reads max_output_tokens
// for maxOutputTokens as well.
func camel(name string) string {
	var b strings.Builder
	up := false
	for _, r := range name {
		switch {
		case r == '_':
			up = true
			continue
		case up:
			r = unicode.ToUpper(r)
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

func declarations(infos []pawl.ToolInfo) ([]declaration, error) {
	list := make([]declaration, len(infos))
	for i, info := range infos {
		if info.Input != nil && !json.Valid(info.Input) {
			return nil, invalid("the input schema of %s is not JSON: %s", info.Name, info.Input)
		}
		list[i] = declaration{info.Name, info.Description, info.Input}
	}
	return list, nil
}

// A content is a message, its parts of type part or as they came.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"`
}

type part map[string]any

// contents turns neighbours of one role into one content.
func (m *Model) contents(msgs []pawl.Message) []content {
	list := []content{}
	msgs = fitting(msgs)
	for i := 0; i < len(msgs); {
		role := msgs[i].Role
		var parts []pawl.Part
		for ; i < len(msgs) && msgs[i].Role == role; i++ {
			parts = append(parts, msgs[i].Parts...)
		}
		c := content{Role: "user"}
		if role == pawl.Assistant {
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
	var held map[string]json.RawMessage // what belongs to the next part, by its kind
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
			if each.Model != "" && each.Model != m.full() || !provider.Opaque(each.Opaque) || json.Unmarshal(each.Opaque, &held) != nil {
				continue
			}
			if whole := held["part"]; whole != nil {
				list = append(list, whole)
			}
		case pawl.Call:
			add("functionCall", part{"id": id(each.ID, each.Ref), "name": provider.Name(each.Tool), "args": provider.Object(each.Args)})
		}
	}
	return list
}

func (m *Model) user(parts []pawl.Part) []any {
	var results, pictures, rest []any
	for _, each := range parts {
		switch each := each.(type) {
		case pawl.ToolResult:
			r := part{"id": id(each.Call, each.Ref), "name": provider.Name(each.Tool), "response": response(each)}
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
		case pawl.Image:
			rest = append(rest, picture(each))
		}
	}
	all := slices.Concat(results, pictures, rest)
	if len(all) == 0 { // a turn that was taken must not go missing
		all = append(all, part{"text": "(empty)"})
	}
	return all
}

// response is a result as the object that the API wants.
func response(r pawl.ToolResult) part {
	var value any = r.Content
	if !json.Valid(r.Content) {
		value = string(r.Content)
	}
	if r.Failed {
		return part{"error": value}
	}
	return part{"output": value}
}

func picture(i pawl.Image) part {
	return part{"inlineData": part{"mimeType": i.Type, "data": i.Data}}
}

// id prefers the run's own name of a call, which is unique.
func id(own, ref string) string {
	if own != "" {
		return own
	}
	return ref
}
