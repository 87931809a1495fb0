package oracle

import (
	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"github.com/pawl-run/pawl"
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
