package oracle

import (
	"encoding/json"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"github.com/pawl-run/pawl"
)

// Conversations with schemas of the answer, sampling, caches and options.
var asked = []conversation{
	{
		name: "a schema", ask: pawl.Request{Output: raw(label)},
		claude:    func(p *claudeParams) { p.OutputConfig.Format.Schema = label },
		responses: func(p *responses.ResponseNewParams) { p.Text = answerFormat(label) },
		chat:      func(p *openai.ChatCompletionNewParams) { p.ResponseFormat = chatFormat(label) },
		gemini:    func(p *geminiParams) { p.ResponseMIMEType, p.ResponseJsonSchema = "application/json", label },
	},
	{
		name: "a schema beside tools", ask: pawl.Request{Output: raw(label), Tools: []pawl.ToolInfo{weather}},
		claude: func(p *claudeParams) { p.OutputConfig.Format.Schema = label; p.tools(claudeWeather) },
		responses: func(p *responses.ResponseNewParams) {
			p.Text, p.Tools = answerFormat(label), []responses.ToolUnionParam{functionWeather}
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.ResponseFormat, p.Tools = chatFormat(label), []openai.ChatCompletionToolUnionParam{chatWeather}
		},
		gemini: func(p *geminiParams) {
			p.ResponseMIMEType, p.ResponseJsonSchema, p.Tools = "application/json", label, functions(geminiWeather)
		},
	},
	{
		name: "a schema that Anthropic cannot promise", ask: pawl.Request{Output: raw(open)},
		claude: func(p *claudeParams) {
			p.System = claudeSystem("The final answer must be JSON that fits this schema, and nothing else:\n" + string(raw(open)))
		},
		responses: func(p *responses.ResponseNewParams) { p.Text = answerFormat(open) },
		gemini:    func(p *geminiParams) { p.ResponseMIMEType, p.ResponseJsonSchema = "application/json", open },
	},
	{
		name: "a schema and an effort", ask: pawl.Request{Output: raw(label), Sampling: pawl.Sampling{Effort: "low"}},
		claude: func(p *claudeParams) {
			p.OutputConfig.Format.Schema, p.OutputConfig.Effort = label, anthropic.OutputConfigEffortLow
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Text, p.Reasoning.Effort = answerFormat(label), shared.ReasoningEffortLow
		},
		gemini: func(p *geminiParams) {
			p.ResponseMIMEType, p.ResponseJsonSchema, p.ThinkingConfig.ThinkingLevel = "application/json", label, genai.ThinkingLevelLow
		},
	},
	{
		name: "a temperature", ask: pawl.Request{Sampling: pawl.Sampling{Temperature: 0.5}}, // of models that take it
		claude: func(p *claudeParams) {
			p.Model, p.Thinking, p.Temperature = "claude-haiku-4-5", anthropic.ThinkingConfigParamUnion{}, anthropic.Float(0.5)
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Model, p.Include, p.Reasoning, p.Temperature = "gpt-4.1", nil, shared.ReasoningParam{}, openai.Float(0.5)
		},
		chat: func(p *openai.ChatCompletionNewParams) { p.Temperature = openai.Float(0.5) },
		gemini: func(p *geminiParams) {
			p.model, p.ThinkingConfig, p.Temperature = "gemini-2.5-flash-lite", nil, genai.Ptr[float32](0.5)
		},
	},
	{
		name: "a cache", ask: pawl.Request{System: long},
		claude:    func(p *claudeParams) { p.System = claudeSystem(long) },
		responses: func(p *responses.ResponseNewParams) { p.Instructions = openai.String(long) },
		gemini:    func(p *geminiParams) { p.SystemInstruction = from("", geminiText(long)) },
	},
	{
		name: "a cache for long", ask: pawl.Request{Run: "run_1", System: long, Long: true},
		claude: func(p *claudeParams) {
			p.System, p.mark = claudeSystem(long), &anthropic.CacheControlEphemeralParam{TTL: anthropic.CacheControlEphemeralTTLTTL1h}
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Instructions, p.PromptCacheOptions.Ttl, p.PromptCacheKey = openai.String(long), "12h", openai.String("run_1")
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{openai.SystemMessage(long), openai.UserMessage("Hello")}
		},
	},
	{
		name: "marks in earlier messages",
		ask: pawl.Request{System: long, Marks: []int{1, 3}, Messages: []pawl.Message{
			user(pawl.Text{Text: "1"}), said(pawl.Text{Text: "2"}), user(pawl.Text{Text: "3"}), said(pawl.Text{Text: "4"}), user(pawl.Text{Text: "5"}),
		}},
		claude: func(p *claudeParams) {
			p.System = claudeSystem(long)
			p.then(claudeUser(cached("1")), claudeSaid(claudeText("2")), claudeUser(cached("3")), claudeSaid(claudeText("4")), claudeUser(claudeText("5")))
		},
	},
	{
		name: "options of Anthropic", ask: pawl.Request{Sampling: pawl.Sampling{Options: map[string]json.RawMessage{
			"stop_sequences": raw([]string{"END"}), "metadata": raw(object{"user_id": "u.1"}), "service_tier": raw("standard_only"), "inference_geo": raw("us"),
		}}},
		claude: func(p *claudeParams) {
			p.StopSequences, p.Metadata.UserID = []string{"END"}, anthropic.String("u.1")
			p.ServiceTier, p.InferenceGeo = anthropic.MessageNewParamsServiceTierStandardOnly, anthropic.String("us")
		},
	},
	{
		name: "options of OpenAI", ask: pawl.Request{Sampling: pawl.Sampling{Options: map[string]json.RawMessage{
			"metadata": raw(object{"team": "a"}), "service_tier": raw("flex"), "prompt_cache_key": raw("k"), "safety_identifier": raw("s"), "parallel_tool_calls": raw(false),
		}}},
		responses: func(p *responses.ResponseNewParams) {
			p.Metadata, p.ServiceTier, p.PromptCacheKey = shared.Metadata{"team": "a"}, responses.ResponseNewParamsServiceTierFlex, openai.String("k")
			p.SafetyIdentifier, p.ParallelToolCalls = openai.String("s"), openai.Bool(false)
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Metadata, p.ServiceTier, p.PromptCacheKey = shared.Metadata{"team": "a"}, openai.ChatCompletionNewParamsServiceTierFlex, openai.String("k")
			p.SafetyIdentifier, p.ParallelToolCalls = openai.String("s"), openai.Bool(false)
		},
	},
	{
		name: "options of compatible servers", ask: pawl.Request{Sampling: pawl.Sampling{Options: map[string]json.RawMessage{
			"seed": raw(7), "top_p": raw(0.9), "stop": raw([]string{"END"}), "reasoning_effort": raw("low"), "stream_options": raw(nil),
		}}},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Seed, p.TopP, p.Stop.OfStringArray = openai.Int(7), openai.Float(0.9), []string{"END"}
			p.ReasoningEffort, p.StreamOptions = shared.ReasoningEffortLow, openai.ChatCompletionStreamOptionsParam{}
		},
	},
	{
		name: "options of Google", ask: pawl.Request{Sampling: pawl.Sampling{Options: map[string]json.RawMessage{
			"seed": raw(7), "stop_sequences": raw([]string{"END"}), "serviceTier": raw("flex"),
			"safetySettings": raw([]any{object{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}}),
		}}},
		gemini: func(p *geminiParams) {
			p.Seed, p.StopSequences, p.ServiceTier = genai.Ptr[int32](7), []string{"END"}, genai.ServiceTierFlex
			p.SafetySettings = []*genai.SafetySetting{{Category: genai.HarmCategoryHarassment, Threshold: genai.HarmBlockThresholdBlockNone}}
		},
	},
}

var (
	long    = strings.Repeat("Be brief. ", 200)
	open    = object{"type": "object", "properties": object{"tags": object{"type": "object", "additionalProperties": object{"type": "string"}}}}
	bounded = object{"type": "object", "properties": object{"label": object{"type": "string", "maxLength": 9}}}
)

func claudeSystem(text string) []anthropic.TextBlockParam {
	return []anthropic.TextBlockParam{{Text: text}}
}

func cached(text string) block {
	b := claudeText(text)
	b.OfText.CacheControl = anthropic.NewCacheControlEphemeralParam()
	return b
}

func chatFormat(schema object) openai.ChatCompletionNewParamsResponseFormatUnion {
	return openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "output", Schema: schema},
	}}
}
