package anthropic

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
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

// request is what to send, and whether there is thinking in it that could be
// left out.
func (m *Model) request(r pawl.Request, recall bool) (p sdk.MessageNewParams, opts []option.RequestOption, recalls bool, err error) {
	p = sdk.MessageNewParams{Model: m.name, MaxTokens: defaultMax}
	p.Messages, recalls = m.messages(r.Messages, r.Marks, recall)
	if r.MaxTokens > 0 {
		p.MaxTokens = int64(r.MaxTokens)
	} else if r.Sampling.MaxTokens > 0 {
		p.MaxTokens = int64(r.Sampling.MaxTokens)
	}
	if strings.TrimSpace(r.System) != "" {
		p.System = []sdk.TextBlockParam{{Text: r.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	if m.unled(r.Messages) {
		r.Sampling.ThinkingTokens = 0
	}
	if recall {
		m.think(&p, r.Sampling)
		recalls = recalls || p.Thinking.GetType() != nil
	}
	p.Tools = tools(r.Tools)
	if called := calledTools(r.Messages); len(r.Tools) == 0 && len(called) > 0 {
		p.Tools = tools(called)
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &sdk.ToolChoiceNoneParam{}}
	}
	if schema, ok := m.format(r.Output); ok {
		p.OutputConfig.Format.Schema = schema
	}
	for _, k := range slices.Sorted(maps.Keys(r.Sampling.Options)) {
		if slices.Contains(ownedOptions, k) {
			return p, nil, false, &pawl.ModelError{Class: pawl.ClassInvalid, Message: fmt.Sprintf("option %s is set by the run; want another of the provider's options", k)}
		}
		if v := r.Sampling.Options[k]; string(v) == "null" {
			opts = append(opts, option.WithJSONDel(param.EscapeSJSONKey(k)))
		} else {
			opts = append(opts, option.WithJSONSet(param.EscapeSJSONKey(k), v))
		}
	}
	return p, opts, recalls, nil
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
			if c, ok := part.(pawl.Call); ok && !seen[provider.Name(c.Tool)] {
				seen[provider.Name(c.Tool)] = true
				infos = append(infos, pawl.ToolInfo{Name: provider.Name(c.Tool)})
			}
		}
	}
	return infos
}

// messages are the turns of the conversation, and whether there is thinking in them.
//
// The API takes four marks, looks no further back than twenty blocks from each,
// and finds only what had a mark before: so beside prompt and last message, those
// places have one that earlier requests had, or later ones will look for.
func (m *Model) messages(msgs []pawl.Message, marks []int, recall bool) (list []sdk.MessageParam, recalls bool) {
	var place []int // in the list, by turn
	for role, parts := range turns(fitting(msgs)) {
		if n := len(place); n > 0 {
			place[n-1] = len(list) - 1
		}
		place = append(place, 0)
		if role == pawl.Assistant {
			if blocks, thinks := m.said(parts, recall); len(blocks) > 0 {
				list = append(list, sdk.MessageParam{Role: sdk.MessageParamRoleAssistant, Content: blocks})
				recalls = recalls || thinks
			}
			continue
		}
		blocks := asked(parts)
		if n := len(list); n > 0 && list[n-1].Role == sdk.MessageParamRoleUser { // what was between them said nothing
			blocks = append(list[n-1].Content, blocks...)
			list = list[:n-1]
		}
		list = append(list, sdk.MessageParam{Role: sdk.MessageParamRoleUser, Content: blocks})
	}
	if n := len(list); n > 0 {
		mark(list[n-1].Content)
	}
	if len(place) != len(msgs) {
		return list, recalls // turns were joined, which those of a run never are
	}
	for _, n := range marks[:min(len(marks), 2)] {
		if n > 0 && n < len(place) && place[n-1] >= 0 && place[n-1] < len(list)-1 {
			mark(list[place[n-1]].Content)
		}
	}
	return list, recalls
}

// turns yields the parts of neighbouring messages of one role together.
func turns(msgs []pawl.Message) iter.Seq2[pawl.Role, []pawl.Part] {
	return func(yield func(pawl.Role, []pawl.Part) bool) {
		for i := 0; i < len(msgs); {
			role := msgs[i].Role
			var parts []pawl.Part
			for ; i < len(msgs) && msgs[i].Role == role; i++ {
				parts = append(parts, msgs[i].Parts...)
			}
			if !yield(role, parts) {
				return
			}
		}
	}
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

// said is an assistant's turn, and whether there is thinking in it. Thinking
// must not be the end of it.
func (m *Model) said(parts []pawl.Part, recall bool) (list []sdk.ContentBlockParamUnion, thinks bool) {
	end, thoughts := 0, 0
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.Text:
			if strings.TrimSpace(part.Text) != "" {
				list = append(list, sdk.NewTextBlock(part.Text))
				end = len(list)
			}
		case pawl.Thinking:
			block, thought := m.recalled(part)
			if block == nil || thought && !recall {
				continue
			}
			list = append(list, param.Override[sdk.ContentBlockParamUnion](block))
			if !thought {
				end = len(list)
			} else if thoughts == 0 {
				thoughts = len(list)
			}
		case pawl.Call:
			list = append(list, sdk.NewToolUseBlock(id(part.ID, part.Ref), provider.Object(part.Args), provider.Name(part.Tool)))
			end = len(list)
		}
	}
	return list[:end], thoughts > 0 && thoughts <= end
}

// recalled is an opaque part as it goes back, nil if it cannot, and whether it is
// thinking. Of parts that nobody put his name to, only what is thinking by its
// form can be this model's.
func (m *Model) recalled(t pawl.Thinking) (block json.RawMessage, thought bool) {
	var had struct{ Type, Signature, Data string }
	if t.Model != "" && t.Model != m.full() || !provider.Opaque(t.Opaque) || json.Unmarshal(t.Opaque, &had) != nil {
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
func asked(parts []pawl.Part) []sdk.ContentBlockParamUnion {
	var results, rest []sdk.ContentBlockParamUnion
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.Text:
			if strings.TrimSpace(part.Text) != "" {
				rest = append(rest, sdk.NewTextBlock(part.Text))
			}
		case pawl.ToolResult:
			results = append(results, sdk.ContentBlockParamUnion{OfToolResult: result(part)})
		case pawl.Image:
			rest = append(rest, sdk.ContentBlockParamUnion{OfImage: image(part)})
		}
	}
	if len(results)+len(rest) == 0 { // a turn that was taken must not go missing
		return []sdk.ContentBlockParamUnion{sdk.NewTextBlock("(empty)")}
	}
	return append(results, rest...)
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
// that the API takes.
func id(own, ref string) string { return provider.Name(cmp.Or(own, ref)) }

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
