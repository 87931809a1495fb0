package oracle

import (
	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"github.com/pawl-run/pawl"
)

// Conversations with tools of the run.
var calling = []conversation{
	{
		name: "a tool", ask: pawl.Request{Tools: []pawl.ToolInfo{weather}},
		claude:    func(p *claudeParams) { p.tools(claudeWeather) },
		responses: func(p *responses.ResponseNewParams) { p.Tools = []responses.ToolUnionParam{functionWeather} },
		chat:      func(p *openai.ChatCompletionNewParams) { p.Tools = []openai.ChatCompletionToolUnionParam{chatWeather} },
		gemini:    geminiTools(geminiWeather),
	},
	{
		name: "two tools, one without arguments", ask: pawl.Request{System: "Be brief.", Tools: []pawl.ToolInfo{weather, now}},
		claude: func(p *claudeParams) {
			p.System = []anthropic.TextBlockParam{{Text: "Be brief."}}
			p.tools(claudeWeather, claudeNow)
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Instructions = openai.String("Be brief.")
			p.Tools = []responses.ToolUnionParam{functionWeather, functionNow}
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{openai.SystemMessage("Be brief."), openai.UserMessage("Hello")}
			p.Tools = []openai.ChatCompletionToolUnionParam{chatWeather, chatNow}
		},
		gemini: func(p *geminiParams) {
			p.SystemInstruction = from("", geminiText("Be brief."))
			p.Tools = functions(geminiWeather, geminiNow)
		},
	},
	{
		name: "a call and its result",
		ask:  pawl.Request{Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{user(pawl.Text{Text: "Paris?"}), said(paris), user(result(paris, "18 °C"))}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather)
			p.then(claudeUser(claudeText("Paris?")), claudeSaid(claudeCall(paris, object{"city": "Paris"})), claudeUser(claudeResult(paris, "18 °C")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionWeather}
			p.Input = input(asks(inputText("Paris?")), functionCall(paris), output(paris, "18 °C"))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Tools = []openai.ChatCompletionToolUnionParam{chatWeather}
			p.Messages = []chatMessage{openai.UserMessage("Paris?"), chatCalls("", paris), chatResult(paris, "18 °C")}
		},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiWeather)
			p.then(from("user", geminiText("Paris?")), from("model", geminiCall(paris, object{"city": "Paris"}, unsigned)), from("user", geminiResult(paris, "output", "18 °C")))
		},
	},
	{
		name: "parallel calls after a text",
		ask:  pawl.Request{Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{user(pawl.Text{Text: "Both?"}), said(pawl.Text{Text: "Let me look."}, paris, rome), user(result(paris, "18 °C"), result(rome, "25 °C"))}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather)
			p.then(claudeUser(claudeText("Both?")), claudeSaid(claudeText("Let me look."), claudeCall(paris, object{"city": "Paris"}), claudeCall(rome, object{"city": "Rome"})),
				claudeUser(claudeResult(paris, "18 °C"), claudeResult(rome, "25 °C")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionWeather}
			p.Input = input(asks(inputText("Both?")), says("Let me look."), functionCall(paris), functionCall(rome), output(paris, "18 °C"), output(rome, "25 °C"))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Tools = []openai.ChatCompletionToolUnionParam{chatWeather}
			p.Messages = []chatMessage{openai.UserMessage("Both?"), chatCalls("Let me look.", paris, rome), chatResult(paris, "18 °C"), chatResult(rome, "25 °C")}
		},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiWeather)
			p.then(from("user", geminiText("Both?")), from("model", geminiText("Let me look."), geminiCall(paris, object{"city": "Paris"}, unsigned), geminiCall(rome, object{"city": "Rome"}, "")),
				from("user", geminiResult(paris, "output", "18 °C"), geminiResult(rome, "output", "25 °C")))
		},
	},
	{
		name: "a failed result",
		ask:  pawl.Request{Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{user(pawl.Text{Text: "Paris?"}), said(paris), user(failed(paris, "no such city"))}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather)
			p.then(claudeUser(claudeText("Paris?")), claudeSaid(claudeCall(paris, object{"city": "Paris"})), claudeUser(claudeFailed(paris, "no such city")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionWeather}
			p.Input = input(asks(inputText("Paris?")), functionCall(paris), output(paris, "no such city"))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Tools = []openai.ChatCompletionToolUnionParam{chatWeather}
			p.Messages = []chatMessage{openai.UserMessage("Paris?"), chatCalls("", paris), chatResult(paris, "no such city")}
		},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiWeather)
			p.then(from("user", geminiText("Paris?")), from("model", geminiCall(paris, object{"city": "Paris"}, unsigned)), from("user", geminiResult(paris, "error", "no such city")))
		},
	},
	{
		name: "a result that is an object, and a call without arguments",
		ask:  pawl.Request{Tools: []pawl.ToolInfo{now}, Messages: []pawl.Message{user(pawl.Text{Text: "When?"}), said(clock), user(result(clock, object{"hour": 12}))}},
		claude: func(p *claudeParams) {
			p.tools(claudeNow)
			p.then(claudeUser(claudeText("When?")), claudeSaid(claudeCall(clock, object{})), claudeUser(claudeResult(clock, `{"hour":12}`)))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionNow}
			p.Input = input(asks(inputText("When?")), functionCall(clock), output(clock, `{"hour":12}`))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Tools = []openai.ChatCompletionToolUnionParam{chatNow}
			p.Messages = []chatMessage{openai.UserMessage("When?"), chatCalls("", clock), chatResult(clock, `{"hour":12}`)}
		},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiNow)
			p.then(from("user", geminiText("When?")), from("model", geminiCall(clock, object{}, unsigned)), from("user", geminiResult(clock, "output", object{"hour": 12})))
		},
	},
	{
		name: "an empty result",
		ask:  pawl.Request{Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{user(pawl.Text{Text: "Both?"}), said(paris, rome), user(result(paris, ""), result(rome, "25 °C"))}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather)
			p.then(claudeUser(claudeText("Both?")), claudeSaid(claudeCall(paris, object{"city": "Paris"}), claudeCall(rome, object{"city": "Rome"})), claudeUser(claudeResult(paris, ""), claudeResult(rome, "25 °C")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionWeather}
			p.Input = input(asks(inputText("Both?")), functionCall(paris), functionCall(rome), output(paris, "(empty)"), output(rome, "25 °C"))
		},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiWeather)
			p.then(from("user", geminiText("Both?")), from("model", geminiCall(paris, object{"city": "Paris"}, unsigned), geminiCall(rome, object{"city": "Rome"}, "")),
				from("user", geminiResult(paris, "output", ""), geminiResult(rome, "output", "25 °C")))
		},
	},
	{
		name: "results before a message of the user",
		ask:  pawl.Request{Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{user(pawl.Text{Text: "Paris?"}), said(paris), user(pawl.Text{Text: "Hurry."}), user(result(paris, "18 °C"))}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather)
			p.then(claudeUser(claudeText("Paris?")), claudeSaid(claudeCall(paris, object{"city": "Paris"})), claudeUser(claudeResult(paris, "18 °C"), claudeText("Hurry.")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionWeather}
			p.Input = input(asks(inputText("Paris?")), functionCall(paris), output(paris, "18 °C"), asks(inputText("Hurry.")))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Tools = []openai.ChatCompletionToolUnionParam{chatWeather}
			p.Messages = []chatMessage{openai.UserMessage("Paris?"), chatCalls("", paris), chatResult(paris, "18 °C"), openai.UserMessage("Hurry.")}
		},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiWeather)
			p.then(from("user", geminiText("Paris?")), from("model", geminiCall(paris, object{"city": "Paris"}, unsigned)), from("user", geminiResult(paris, "output", "18 °C"), geminiText("Hurry.")))
		},
	},
	{
		name: "the last answer, with the tools of the history",
		ask:  pawl.Request{ToolChoice: "none", Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{user(pawl.Text{Text: "Paris?"}), said(paris), user(result(paris, "18 °C"), pawl.Text{Text: "Answer now."})}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather)
			p.ToolChoice = anthropic.ToolChoiceUnionParam{OfNone: &anthropic.ToolChoiceNoneParam{}}
			p.then(claudeUser(claudeText("Paris?")), claudeSaid(claudeCall(paris, object{"city": "Paris"})), claudeUser(claudeResult(paris, "18 °C"), claudeText("Answer now.")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionWeather}
			p.ToolChoice = responses.ResponseNewParamsToolChoiceUnion{OfToolChoiceMode: openai.Opt(responses.ToolChoiceOptionsNone)}
			p.Input = input(asks(inputText("Paris?")), functionCall(paris), output(paris, "18 °C"), asks(inputText("Answer now.")))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Tools = []openai.ChatCompletionToolUnionParam{chatWeather}
			p.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("none")}
			p.Messages = []chatMessage{openai.UserMessage("Paris?"), chatCalls("", paris), chatResult(paris, "18 °C"), openai.UserMessage("Answer now.")}
		},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiWeather)
			p.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}}
			p.then(from("user", geminiText("Paris?")), from("model", geminiCall(paris, object{"city": "Paris"}, unsigned)), from("user", geminiResult(paris, "output", "18 °C"), geminiText("Answer now.")))
		},
	},
	{
		name: "a turn that must call a tool",
		ask:  pawl.Request{ToolChoice: "required", Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{user(pawl.Text{Text: "Paris?"})}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather)
			// No ToolChoice: the API refuses it for this model.
			p.then(claudeUser(claudeText("Paris?")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionWeather}
			p.ToolChoice = responses.ResponseNewParamsToolChoiceUnion{OfToolChoiceMode: openai.Opt(responses.ToolChoiceOptionsRequired)}
			p.Input = input(asks(inputText("Paris?")))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Tools = []openai.ChatCompletionToolUnionParam{chatWeather}
			p.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("required")}
			p.Messages = []chatMessage{openai.UserMessage("Paris?")}
		},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiWeather)
			p.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny}}
			p.then(from("user", geminiText("Paris?")))
		},
	},
	{
		name: "a turn that must call one tool",
		ask:  pawl.Request{ToolChoice: weather.Name, Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{user(pawl.Text{Text: "Paris?"})}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather)
			p.then(claudeUser(claudeText("Paris?")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionWeather}
			p.ToolChoice = responses.ResponseNewParamsToolChoiceUnion{OfFunctionTool: &responses.ToolChoiceFunctionParam{Name: weather.Name}}
			p.Input = input(asks(inputText("Paris?")))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Tools = []openai.ChatCompletionToolUnionParam{chatWeather}
			p.ToolChoice = openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: weather.Name})
			p.Messages = []chatMessage{openai.UserMessage("Paris?")}
		},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiWeather)
			p.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: []string{weather.Name}}}
			p.then(from("user", geminiText("Paris?")))
		},
	},
	{
		name: "a history with calls, and no tools", // as after a hand-over to an agent without any
		ask:  pawl.Request{Messages: []pawl.Message{user(pawl.Text{Text: "When?"}), said(clock), user(result(clock, "noon"), pawl.Text{Text: "Sure?"})}},
		claude: func(p *claudeParams) {
			p.tools(claudeNow)
			p.ToolChoice = anthropic.ToolChoiceUnionParam{OfNone: &anthropic.ToolChoiceNoneParam{}}
			p.then(claudeUser(claudeText("When?")), claudeSaid(claudeCall(clock, object{})), claudeUser(claudeResult(clock, "noon"), claudeText("Sure?")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Input = input(asks(inputText("When?")), functionCall(clock), output(clock, "noon"), asks(inputText("Sure?")))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{openai.UserMessage("When?"), chatCalls("", clock), chatResult(clock, "noon"), openai.UserMessage("Sure?")}
		},
		gemini: func(p *geminiParams) {
			p.then(from("user", geminiText("When?")), from("model", geminiCall(clock, object{}, unsigned)), from("user", geminiResult(clock, "output", "noon"), geminiText("Sure?")))
		},
	},
	{
		name: "a name that no tool may have",
		ask:  pawl.Request{Tools: []pawl.ToolInfo{now}, Messages: []pawl.Message{user(pawl.Text{Text: "When?"}), said(misnamed), user(failed(misnamed, "no such tool"))}},
		claude: func(p *claudeParams) {
			p.tools(claudeNow)
			p.then(claudeUser(claudeText("When?")), claudeSaid(anthropic.NewToolUseBlock("call_c", object{}, "the_time_")), claudeUser(claudeFailed(clock, "no such tool")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionNow}
			p.Input = input(asks(inputText("When?")), responses.ResponseInputItemParamOfFunctionCall("{}", "call_c", "the_time_"), output(clock, "no such tool"))
		},
	},
	{
		name: "a nested schema of arguments",
		ask:  pawl.Request{Tools: []pawl.ToolInfo{{Name: "book", Input: raw(object{"type": "object", "properties": nested, "required": []string{"stops", "fare"}})}}},
		claude: func(p *claudeParams) {
			p.tools(anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{Name: "book", InputSchema: anthropic.ToolInputSchemaParam{Properties: nested, Required: []string{"stops", "fare"}}}})
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{function("book", "", object{"type": "object", "properties": nested, "required": []string{"stops", "fare"}})}
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "book", Parameters: object{"type": "object", "properties": nested, "required": []string{"stops", "fare"}}})}
		},
		gemini: geminiTools(&genai.FunctionDeclaration{Name: "book", ParametersJsonSchema: object{"type": "object", "properties": nested, "required": []string{"stops", "fare"}}}),
	},
}

var (
	torn     = pawl.Call{ID: "c_3", Ref: "call_c", Tool: "now", Args: raw(`{"zone`)}
	misnamed = pawl.Call{ID: "c_3", Ref: "call_c", Tool: "the time!", Args: raw(object{})}
	nested   = object{
		"stops": object{"type": "array", "minItems": 1, "items": object{"type": "object", "properties": object{"city": object{"type": "string"}}, "additionalProperties": false}},
		"fare":  object{"anyOf": []any{object{"type": "number"}, object{"type": "null"}}, "description": "In euros."},
	}
)

// Conversations about how much a model thinks, and what goes back to it of its thinking.
var thinking = []conversation{
	effort("minimal", anthropic.OutputConfigEffortLow, shared.ReasoningEffortLow, genai.ThinkingLevelLow),
	effort("low", anthropic.OutputConfigEffortLow, shared.ReasoningEffortLow, genai.ThinkingLevelLow),
	effort("medium", anthropic.OutputConfigEffortMedium, shared.ReasoningEffortMedium, genai.ThinkingLevelMedium),
	effort("high", anthropic.OutputConfigEffortHigh, shared.ReasoningEffortHigh, genai.ThinkingLevelHigh),
	effort("xhigh", anthropic.OutputConfigEffortXhigh, shared.ReasoningEffortXhigh, "XHIGH"), // which the SDK does not name yet
	effort("max", anthropic.OutputConfigEffortMax, shared.ReasoningEffortMax, "XHIGH"),
	{
		name: "thinking before a call", // which the model that thought gets back
		ask: pawl.Request{Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{
			user(pawl.Text{Text: "Paris?"}),
			said(thought, pawl.Thinking{Opaque: raw(object{"type": "redacted_thinking", "data": "eHl6"}), Model: "anthropic/" + claude}, pawl.Text{Text: "Let me look."}, paris),
			user(result(paris, "18 °C")),
		}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather)
			p.then(claudeUser(claudeText("Paris?")),
				claudeSaid(anthropic.NewThinkingBlock("c2ln", "Paris, then."), anthropic.NewRedactedThinkingBlock("eHl6"), claudeText("Let me look."), claudeCall(paris, object{"city": "Paris"})),
				claudeUser(claudeResult(paris, "18 °C")))
		},
	},
	{
		name: "thinking between calls",
		ask: pawl.Request{Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{
			user(pawl.Text{Text: "Both?"}), said(thought, paris), user(result(paris, "18 °C")), said(thought, rome), user(result(rome, "25 °C")),
		}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather)
			p.then(claudeUser(claudeText("Both?")), claudeSaid(anthropic.NewThinkingBlock("c2ln", "Paris, then."), claudeCall(paris, object{"city": "Paris"})), claudeUser(claudeResult(paris, "18 °C")),
				claudeSaid(anthropic.NewThinkingBlock("c2ln", "Paris, then."), claudeCall(rome, object{"city": "Rome"})), claudeUser(claudeResult(rome, "25 °C")))
		},
	},
	{
		name: "reasoning before calls", // of the Responses API, encrypted
		ask: pawl.Request{Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{
			user(pawl.Text{Text: "Paris?"}),
			said(pawl.Thinking{Text: "Paris, then.", Model: "openai/" + gpt, Opaque: raw(object{"type": "reasoning", "id": "rs_1", "encrypted_content": "eHl6", "summary": []any{object{"type": "summary_text", "text": "Paris, then."}}})},
				pawl.Thinking{Opaque: raw(object{"phase": "commentary"}), Model: "openai/" + gpt}, pawl.Text{Text: "Let me look."}, paris),
			user(result(paris, "18 °C")),
		}},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionWeather}
			look := says("Let me look.")
			look.OfOutputMessage.Phase = responses.ResponseOutputMessagePhaseCommentary
			p.Input = input(asks(inputText("Paris?")), item{OfReasoning: &responses.ResponseReasoningItemParam{
				ID: "rs_1", EncryptedContent: openai.String("eHl6"), Summary: []responses.ResponseReasoningItemSummaryParam{{Text: "Paris, then."}},
			}}, look, functionCall(paris), output(paris, "18 °C"))
		},
	},
	{
		name: "signatures of calls and thoughts",
		ask: pawl.Request{Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{
			user(pawl.Text{Text: "Both?"}),
			said(pawl.Thinking{Text: "Two.", Opaque: raw(object{"part": object{"text": "Two.", "thought": true}}), Model: "google/" + gemini},
				pawl.Thinking{Opaque: raw(object{"functionCall": object{"thoughtSignature": "c2ln"}}), Model: "google/" + gemini}, paris, rome),
			user(result(paris, "18 °C"), result(rome, "25 °C")),
			said(pawl.Thinking{Opaque: raw(object{"text": object{"thoughtSignature": "c2ln"}}), Model: "google/" + gemini}, pawl.Text{Text: "Rome."}),
			user(pawl.Text{Text: "Sure?"}),
		}},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiWeather)
			p.then(from("user", geminiText("Both?")), from("model", &genai.Part{Text: "Two.", Thought: true}, geminiCall(paris, object{"city": "Paris"}, "sig"), geminiCall(rome, object{"city": "Rome"}, "")),
				from("user", geminiResult(paris, "output", "18 °C"), geminiResult(rome, "output", "25 °C")),
				from("model", &genai.Part{Text: "Rome.", ThoughtSignature: []byte("sig")}), from("user", geminiText("Sure?")))
		},
	},
}

var thought = pawl.Thinking{Text: "Paris, then.", Opaque: raw(object{"type": "thinking", "thinking": "Paris, then.", "signature": "c2ln"}), Model: "anthropic/" + claude}

// effort is the conversation with an effort, and what it is at each provider.
func effort(name string, a anthropic.OutputConfigEffort, o shared.ReasoningEffort, g genai.ThinkingLevel) conversation {
	return conversation{
		name: "effort " + name, ask: pawl.Request{Sampling: pawl.Sampling{Effort: name}},
		claude:    func(p *claudeParams) { p.OutputConfig.Effort = a },
		responses: func(p *responses.ResponseNewParams) { p.Reasoning.Effort = o },
		gemini:    func(p *geminiParams) { p.ThinkingConfig.ThinkingLevel = g },
	}
}
