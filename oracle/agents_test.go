package oracle

import (
	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"github.com/pawl-run/pawl"
)

// The second turn of an agent with two tools, a schema and an effort, by the current models of each
// provider, and by OpenAI's through the API that other servers have, too.
var agents = []conversation{
	agent("large models", "claude-opus-5-5", "gpt-6.2-astra", "gemini-4-neon"),
	agent("default models", claude, gpt, gemini),
	{
		name: "OpenAI by Chat Completions", ask: pawl.Request{System: "Be brief.", Sampling: pawl.Sampling{Effort: "high", Temperature: 0.5}},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Model, p.MaxTokens, p.MaxCompletionTokens, p.ReasoningEffort = gpt, param.Opt[int64]{}, openai.Int(limit), shared.ReasoningEffortHigh
			p.Messages = []chatMessage{openai.SystemMessage("Be brief."), openai.UserMessage("Hello")}
		},
	},
	{
		name: "tools at OpenAI by Chat Completions", ask: pawl.Request{Tools: []pawl.ToolInfo{weather}, Sampling: pawl.Sampling{Effort: "none"}},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Model, p.MaxTokens, p.MaxCompletionTokens, p.ReasoningEffort = "gpt-6-luna", param.Opt[int64]{}, openai.Int(limit), shared.ReasoningEffortNone
			p.Tools = []openai.ChatCompletionToolUnionParam{chatWeather}
		},
	},
}

func agent(name, anthropicModel, openaiModel, googleModel string) conversation {
	return conversation{
		name: "an agent of " + name,
		ask: pawl.Request{
			System: "You are a weatherman.", Tools: []pawl.ToolInfo{weather, now}, Output: raw(label), MaxTokens: 20000, Sampling: pawl.Sampling{Effort: "medium"},
			Messages: []pawl.Message{user(pawl.Text{Text: "Paris?"}), said(pawl.Text{Text: "Let me look."}, paris), user(result(paris, "18 °C"))},
		},
		claude: func(p *claudeParams) {
			p.Model, p.MaxTokens, p.System = anthropicModel, 20000, claudeSystem("You are a weatherman.")
			p.OutputConfig.Effort, p.OutputConfig.Format.Schema = anthropic.OutputConfigEffortMedium, label
			p.tools(claudeWeather, claudeNow)
			p.then(claudeUser(claudeText("Paris?")), claudeSaid(claudeText("Let me look."), claudeCall(paris, object{"city": "Paris"})), claudeUser(claudeResult(paris, "18 °C")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Model, p.MaxOutputTokens, p.Instructions = openaiModel, openai.Int(20000), openai.String("You are a weatherman.")
			p.Reasoning.Effort, p.Text, p.Tools = shared.ReasoningEffortMedium, answerFormat(label), []responses.ToolUnionParam{functionWeather, functionNow}
			p.Input = input(asks(inputText("Paris?")), says("Let me look."), functionCall(paris), output(paris, "18 °C"))
		},
		gemini: func(p *geminiParams) {
			p.model, p.MaxOutputTokens, p.SystemInstruction = googleModel, 20000, from("", geminiText("You are a weatherman."))
			p.ThinkingConfig.ThinkingLevel, p.ResponseMIMEType, p.ResponseJsonSchema = genai.ThinkingLevelMedium, "application/json", label
			p.Tools = functions(geminiWeather, geminiNow)
			p.then(from("user", geminiText("Paris?")), from("model", geminiText("Let me look."), geminiCall(paris, object{"city": "Paris"}, unsigned)), from("user", geminiResult(paris, "output", "18 °C")))
		},
	}
}
