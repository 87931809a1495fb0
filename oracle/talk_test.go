package oracle

import (
	"slices"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/pawl-run/pawl"
)

var conversations = slices.Concat(talks, calling, attached, thinking, asked, hosted, agents)

// Conversations of text alone.
var talks = []conversation{
	{name: "hello", claude: same[claudeParams], responses: same[responses.ResponseNewParams], chat: same[openai.ChatCompletionNewParams], gemini: same[geminiParams]},
	{
		name: "system prompt", ask: pawl.Request{System: "Be brief."},
		claude:    func(p *claudeParams) { p.System = []anthropic.TextBlockParam{{Text: "Be brief."}} },
		responses: func(p *responses.ResponseNewParams) { p.Instructions = openai.String("Be brief.") },
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{openai.SystemMessage("Be brief."), openai.UserMessage("Hello")}
		},
		gemini: func(p *geminiParams) {
			p.SystemInstruction = from("", geminiText("Be brief."))
		},
	},
	{
		name: "odd characters",
		ask:  pawl.Request{System: "<&> \u2028 😀", Messages: []pawl.Message{user(pawl.Text{Text: "a\x00b \"<c>\" & \\d\n\té"})}},
		claude: func(p *claudeParams) {
			p.System = []anthropic.TextBlockParam{{Text: "<&> \u2028 😀"}}
			p.asks(claudeText("a\x00b \"<c>\" & \\d\n\té"))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Instructions = openai.String("<&> \u2028 😀")
			p.Input = input(asks(inputText("a\x00b \"<c>\" & \\d\n\té")))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{openai.SystemMessage("<&> \u2028 😀"), openai.UserMessage("a\x00b \"<c>\" & \\d\n\té")}
		},
		gemini: func(p *geminiParams) {
			p.SystemInstruction = from("", geminiText("<&> \u2028 😀"))
			p.then(from("user", geminiText("a\x00b \"<c>\" & \\d\n\té")))
		},
	},
	{
		name: "several turns",
		ask:  pawl.Request{Messages: []pawl.Message{user(pawl.Text{Text: "One?"}), said(pawl.Text{Text: "Two."}), user(pawl.Text{Text: "Three?"})}},
		claude: func(p *claudeParams) {
			p.then(claudeUser(claudeText("One?")), claudeSaid(claudeText("Two.")), claudeUser(claudeText("Three?")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Input = input(asks(inputText("One?")), says("Two."), asks(inputText("Three?")))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{openai.UserMessage("One?"), openai.AssistantMessage("Two."), openai.UserMessage("Three?")}
		},
		gemini: func(p *geminiParams) {
			p.then(from("user", geminiText("One?")), from("model", geminiText("Two.")), from("user", geminiText("Three?")))
		},
	},
	{
		name:      "several texts of a turn",
		ask:       pawl.Request{Messages: []pawl.Message{user(pawl.Text{Text: "One."}, pawl.Text{Text: "Two."})}},
		claude:    func(p *claudeParams) { p.asks(claudeText("One."), claudeText("Two.")) },
		responses: func(p *responses.ResponseNewParams) { p.Input = input(asks(inputText("One."), inputText("Two."))) },
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{openai.UserMessage("One.\n\nTwo.")}
		},
		gemini: func(p *geminiParams) { p.then(from("user", geminiText("One."), geminiText("Two."))) },
	},
	{
		name:      "two messages of the user",
		ask:       pawl.Request{Messages: []pawl.Message{user(pawl.Text{Text: "One."}), user(pawl.Text{Text: "Two."})}},
		claude:    func(p *claudeParams) { p.asks(claudeText("One."), claudeText("Two.")) },
		responses: func(p *responses.ResponseNewParams) { p.Input = input(asks(inputText("One."), inputText("Two."))) },
		gemini:    func(p *geminiParams) { p.then(from("user", geminiText("One."), geminiText("Two."))) },
	},
	{
		name: "empty texts",
		ask:  pawl.Request{System: " \n", Messages: []pawl.Message{user(pawl.Text{Text: " "}), said(pawl.Text{Text: ""}), user(pawl.Text{Text: "Hello"})}},
		claude: func(p *claudeParams) {
			p.asks(claudeText("(empty)"), claudeText("Hello"))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Input = input(asks(inputText("(empty)")), asks(inputText("Hello")))
		},
		gemini: func(p *geminiParams) { p.then(from("user", geminiText("(empty)")), from("user", geminiText("Hello"))) },
	},
	{
		name: "the message of a fallback's earlier model",
		ask:  pawl.Request{Messages: []pawl.Message{user(pawl.Text{Text: "Hi"}), said(pawl.Thinking{Text: "Hm", Opaque: raw(object{"reasoning_content": "Hm"}), Model: "other/model"}, pawl.Text{Text: "Ho"}), user(pawl.Text{Text: "Go on"})}},
		claude: func(p *claudeParams) {
			p.then(claudeUser(claudeText("Hi")), claudeSaid(claudeText("Ho")), claudeUser(claudeText("Go on")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Input = input(asks(inputText("Hi")), says("Ho"), asks(inputText("Go on")))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{openai.UserMessage("Hi"), openai.AssistantMessage("Ho"), openai.UserMessage("Go on")}
		},
		gemini: func(p *geminiParams) {
			p.then(from("user", geminiText("Hi")), from("model", geminiText("Ho")), from("user", geminiText("Go on")))
		},
	},
	{
		name: "a paused turn",
		ask:  pawl.Request{Messages: []pawl.Message{user(pawl.Text{Text: "Hi"}), said(pawl.Text{Text: "So far"})}},
		claude: func(p *claudeParams) {
			p.then(claudeUser(claudeText("Hi")), claudeSaid(claudeText("So far")))
		},
	},
}

// unsigned is what stands for a signature where another model made a call.
const unsigned = "skip_thought_signature_validator"

func geminiTools(list ...*genai.FunctionDeclaration) func(p *geminiParams) {
	return func(p *geminiParams) { p.Tools = functions(list...) }
}
