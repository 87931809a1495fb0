package anthropic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider"
)

const (
	defaultMax  = 4096
	minThinking = 1024
)

// Generations of models that differ in what they take. Both patterns list the
// past, so that a model that is new to them gets what is new.
var (
	budgeted     = regexp.MustCompile(`^claude-(3|(opus|sonnet|haiku)-4(-[015]|-20\d{6}|$))`)
	schemaless   = regexp.MustCompile(`^claude-(3|(opus|sonnet)-4(-0|-20\d{6}|$))`)
	ownedOptions = []string{"model", "messages", "system", "tools", "max_tokens", "stream"}
)

func (m *Model) request(r pawl.Request) (sdk.MessageNewParams, []option.RequestOption, error) {
	p := sdk.MessageNewParams{Model: m.name, MaxTokens: defaultMax, Messages: m.messages(r.Messages)}
	if r.MaxTokens > 0 {
		p.MaxTokens = int64(r.MaxTokens)
	} else if r.Sampling.MaxTokens > 0 {
		p.MaxTokens = int64(r.Sampling.MaxTokens)
	}
	if r.System != "" {
		p.System = []sdk.TextBlockParam{{Text: r.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	if m.unled(r.Messages) {
		r.Sampling.ThinkingTokens = 0
	}
	m.think(&p, r.Sampling)
	p.Tools = tools(r.Tools)
	if called := calledTools(r.Messages); len(r.Tools) == 0 && len(called) > 0 {
		p.Tools = tools(called)
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
	}
	if schema, ok := m.format(r.Output); ok {
		p.OutputConfig.Format.Schema = schema
	}
	var opts []option.RequestOption
	for _, k := range slices.Sorted(maps.Keys(r.Sampling.Options)) {
		if slices.Contains(ownedOptions, k) {
			return p, nil, &pawl.ModelError{Class: pawl.ClassInvalid, Message: fmt.Sprintf("option %s is set by the run; want another of the provider's options", k)}
		}
		if v := r.Sampling.Options[k]; string(v) == "null" {
			opts = append(opts, option.WithJSONDel(param.EscapeSJSONKey(k)))
		} else {
			opts = append(opts, option.WithJSONSet(param.EscapeSJSONKey(k), v))
		}
	}
	return p, opts, nil
}

// think sets the thinking and, because it depends on it, the temperature.
func (m *Model) think(p *sdk.MessageNewParams, s pawl.Sampling) {
	budget := min(int64(s.ThinkingTokens), p.MaxTokens-1)
	switch {
	case budget >= minThinking && strings.HasPrefix(m.name, "claude-") && !budgeted.MatchString(m.name):
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{}
	case budget >= minThinking:
		p.Thinking = sdk.ThinkingConfigParamOfEnabled(budget)
	case s.Temperature != 0:
		p.Temperature = sdk.Float(max(0, s.Temperature))
	}
}

func tools(infos []pawl.ToolInfo) []sdk.ToolUnionParam {
	var list []sdk.ToolUnionParam
	for _, info := range infos {
		t := &sdk.ToolParam{Name: info.Name}
		if info.Description != "" {
			t.Description = sdk.String(info.Description)
		}
		if info.Input == nil {
			t.InputSchema.Properties = map[string]any{}
		} else {
			t.InputSchema = param.Override[sdk.ToolInputSchemaParam](info.Input)
		}
		list = append(list, sdk.ToolUnionParam{OfTool: t})
	}
	return list
}

// calledTools declares the tools that messages call, in the order of their first call.
func calledTools(msgs []pawl.Message) []pawl.ToolInfo {
	var infos []pawl.ToolInfo
	seen := map[string]bool{}
	for _, msg := range msgs {
		for _, part := range msg.Parts {
			if c, ok := part.(pawl.Call); ok && !seen[c.Tool] {
				seen[c.Tool] = true
				infos = append(infos, pawl.ToolInfo{Name: c.Tool})
			}
		}
	}
	return infos
}

func (m *Model) messages(msgs []pawl.Message) []sdk.MessageParam {
	var list []sdk.MessageParam
	for _, msg := range msgs {
		blocks := m.blocks(msg.Parts)
		if len(blocks) == 0 {
			continue
		}
		role := sdk.MessageParamRoleUser
		if msg.Role == pawl.Assistant {
			role = sdk.MessageParamRoleAssistant
		}
		if n := len(list); n > 0 && list[n-1].Role == role {
			list[n-1].Content = append(list[n-1].Content, blocks...)
		} else {
			list = append(list, sdk.MessageParam{Role: role, Content: blocks})
		}
	}
	for i := range list {
		// Results must open the message that answers calls. Sorting after merging
		// keeps that true of messages that were two.
		slices.SortStableFunc(list[i].Content, func(a, b sdk.ContentBlockParamUnion) int {
			return rank(a) - rank(b)
		})
	}
	if n := len(list); n > 0 {
		mark(list[n-1].Content)
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
				led = led || !calls && m.mine(p) && bytes.Contains(p.Opaque, []byte(`thinking"`))
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

// mine reports whether thinking can go back: it is not of another model, and
// was not cut off before its signature.
func (m *Model) mine(p pawl.Thinking) bool {
	return len(p.Opaque) > 0 && (p.Model == "" || p.Model == m.full())
}

// mark asks for everything up to the last block to be cached. An empty result
// and thinking take no mark, so it goes before them.
func mark(blocks []sdk.ContentBlockParamUnion) {
	for _, b := range slices.Backward(blocks) {
		if b.OfToolResult != nil && len(b.OfToolResult.Content) == 0 {
			continue
		}
		if c := b.GetCacheControl(); c != nil {
			*c = sdk.NewCacheControlEphemeralParam()
			return
		}
	}
}

func rank(b sdk.ContentBlockParamUnion) int {
	if b.OfToolResult != nil {
		return 0
	}
	return 1
}

func (m *Model) blocks(parts []pawl.Part) []sdk.ContentBlockParamUnion {
	var list []sdk.ContentBlockParamUnion
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.Text:
			if strings.TrimSpace(part.Text) != "" {
				list = append(list, sdk.NewTextBlock(part.Text))
			}
		case pawl.Thinking:
			if m.mine(part) {
				list = append(list, param.Override[sdk.ContentBlockParamUnion](part.Opaque))
			}
		case pawl.Call:
			list = append(list, sdk.NewToolUseBlock(id(part.ID, part.Ref), provider.Object(part.Args), part.Tool))
		case pawl.ToolResult:
			list = append(list, sdk.ContentBlockParamUnion{OfToolResult: result(part)})
		case pawl.Image:
			list = append(list, sdk.ContentBlockParamUnion{OfImage: image(part)})
		}
	}
	return list
}

func result(r pawl.ToolResult) *sdk.ToolResultBlockParam {
	b := &sdk.ToolResultBlockParam{ToolUseID: id(r.Call, r.Ref)}
	if r.Failed {
		b.IsError = sdk.Bool(true)
	}
	if text := r.Text(); strings.TrimSpace(text) != "" {
		b.Content = append(b.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: text}})
	}
	for _, img := range r.Images {
		b.Content = append(b.Content, sdk.ToolResultBlockParamContentUnion{OfImage: image(img)})
	}
	return b
}

func image(i pawl.Image) *sdk.ImageBlockParam {
	return sdk.NewImageBlockBase64(i.Type, base64.StdEncoding.EncodeToString(i.Data)).OfImage
}

// id prefers the run's own name of a call, which is unique and made of letters
// that every provider takes.
func id(own, ref string) string {
	if own != "" {
		return own
	}
	return ref
}

// format is the schema in the form the API promises to keep to. It promises
// only closed objects, so a schema with an open one is left to validation: the
// model would be kept from writing what the schema allows.
func (m *Model) format(schema json.RawMessage) (map[string]any, bool) {
	if schema == nil || !strings.HasPrefix(m.name, "claude-") || schemaless.MatchString(m.name) {
		return nil, false
	}
	var doc map[string]any
	if json.Unmarshal(schema, &doc) != nil || doc["type"] != "object" || !closed(doc) {
		return nil, false
	}
	format, ok := sdk.BetaJSONSchemaOutputFormat(doc).Schema.(map[string]any)
	return format, ok
}

func closed(v any) bool {
	switch v := v.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !closed(e) })
	case map[string]any:
		props, _ := v["properties"].(map[string]any)
		if v["type"] == "object" && len(props) == 0 {
			return false
		}
		if open, ok := v["additionalProperties"].(bool); v["additionalProperties"] != nil && (!ok || open) {
			return false
		}
		if v["$ref"] != nil || v["patternProperties"] != nil {
			return false
		}
		for _, e := range v {
			if !closed(e) {
				return false
			}
		}
	}
	return true
}
