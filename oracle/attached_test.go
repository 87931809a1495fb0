package oracle

import (
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/pawl-run/pawl"
)

// Conversations with pictures, documents and sounds.
var attached = []conversation{
	{
		name:   "a picture",
		ask:    pawl.Request{Messages: []pawl.Message{user(pawl.Text{Text: "What is it?"}, dot)}},
		claude: func(p *claudeParams) { p.asks(claudeText("What is it?"), claudeImage(dot)) },
		responses: func(p *responses.ResponseNewParams) {
			p.Input = input(asks(inputText("What is it?"), inputImage(dot)))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{chatUser(chatText("What is it?"), chatImage(dot))}
		},
		gemini: func(p *geminiParams) { p.then(from("user", geminiText("What is it?"), geminiFile(dot))) },
	},
	{
		name: "two pictures before a text",
		ask:  pawl.Request{Messages: []pawl.Message{user(photo, dot, pawl.Text{Text: "Which is larger?"})}},
		claude: func(p *claudeParams) {
			p.asks(claudeImage(photo), claudeImage(dot), claudeText("Which is larger?"))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Input = input(asks(inputImage(photo), inputImage(dot), inputText("Which is larger?")))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{chatUser(chatImage(photo), chatImage(dot), chatText("Which is larger?"))}
		},
		gemini: func(p *geminiParams) {
			p.then(from("user", geminiFile(photo), geminiFile(dot), geminiText("Which is larger?")))
		},
	},
	{
		name:   "a picture under another type",
		ask:    pawl.Request{Messages: []pawl.Message{user(pawl.File{Type: "image/png", Data: photo.Data})}},
		claude: func(p *claudeParams) { p.asks(claudeImage(photo)) },
		responses: func(p *responses.ResponseNewParams) {
			p.Input = input(asks(inputImage(photo)))
		},
		gemini: func(p *geminiParams) { p.then(from("user", geminiFile(photo))) },
	},
	{
		name:   "a document",
		ask:    pawl.Request{Messages: []pawl.Message{user(pawl.Text{Text: "Summarise."}, contract)}},
		claude: func(p *claudeParams) { p.asks(claudeText("Summarise."), claudePDF(contract)) },
		responses: func(p *responses.ResponseNewParams) {
			p.Input = input(asks(inputText("Summarise."), inputFile(contract)))
		},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{chatUser(chatText("Summarise."), openai.FileContentPart(openai.ChatCompletionContentPartFileFileParam{
				Filename: openai.String(contract.Name), FileData: openai.String(dataURL(contract)),
			}))}
		},
		gemini: func(p *geminiParams) { p.then(from("user", geminiText("Summarise."), geminiFile(contract))) },
	},
	{
		name: "a document and a picture",
		ask:  pawl.Request{System: "Compare.", Messages: []pawl.Message{user(contract, dot)}},
		claude: func(p *claudeParams) {
			p.System = claudeSystem("Compare.")
			p.asks(claudePDF(contract), claudeImage(dot))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Instructions = openai.String("Compare.")
			p.Input = input(asks(inputFile(contract), inputImage(dot)))
		},
		gemini: func(p *geminiParams) {
			p.SystemInstruction = from("", geminiText("Compare."))
			p.then(from("user", geminiFile(contract), geminiFile(dot)))
		},
	},
	{
		name: "sounds",
		ask:  pawl.Request{Messages: []pawl.Message{user(pawl.Text{Text: "Transcribe."}, voice, song)}},
		chat: func(p *openai.ChatCompletionNewParams) {
			p.Messages = []chatMessage{chatUser(chatText("Transcribe."), chatSound(voice, "wav"), chatSound(song, "mp3"))}
		},
		gemini: func(p *geminiParams) {
			p.then(from("user", geminiText("Transcribe."), geminiFile(voice), geminiFile(pawl.File{Type: "audio/mp3", Data: song.Data})))
		},
	},
	{
		name: "a picture in a result",
		ask:  pawl.Request{Tools: []pawl.ToolInfo{now}, Messages: []pawl.Message{user(pawl.Text{Text: "Look."}), said(clock), user(result(clock, "a clock", dot))}},
		claude: func(p *claudeParams) {
			p.tools(claudeNow)
			p.then(claudeUser(claudeText("Look.")), claudeSaid(claudeCall(clock, object{})), claudeUser(claudeResult(clock, "a clock", dot)))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionNow}
			p.Input = input(asks(inputText("Look.")), functionCall(clock), output(clock, "a clock", dot))
		},
		chat: func(p *openai.ChatCompletionNewParams) { // a result of it can only be text
			p.Tools = []openai.ChatCompletionToolUnionParam{chatNow}
			p.Messages = []chatMessage{openai.UserMessage("Look."), chatCalls("", clock), chatResult(clock, "a clock"), chatUser(chatText("Images of the result of now:"), chatImage(dot))}
		},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiNow)
			p.then(from("user", geminiText("Look.")), from("model", geminiCall(clock, object{}, unsigned)), from("user", geminiResult(clock, "output", "a clock", dot)))
		},
	},
	{
		name: "two pictures in a result beside another",
		ask:  pawl.Request{Tools: []pawl.ToolInfo{weather}, Messages: []pawl.Message{user(pawl.Text{Text: "Both?"}), said(paris, rome), user(result(paris, "", dot, photo), result(rome, "25 °C"))}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather)
			p.then(claudeUser(claudeText("Both?")), claudeSaid(claudeCall(paris, object{"city": "Paris"}), claudeCall(rome, object{"city": "Rome"})),
				claudeUser(claudeResult(paris, "", dot, photo), claudeResult(rome, "25 °C")))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionWeather}
			p.Input = input(asks(inputText("Both?")), functionCall(paris), functionCall(rome), output(paris, "(empty)", dot, photo), output(rome, "25 °C"))
		},
		gemini: func(p *geminiParams) {
			p.Tools = functions(geminiWeather)
			p.then(from("user", geminiText("Both?")), from("model", geminiCall(paris, object{"city": "Paris"}, unsigned), geminiCall(rome, object{"city": "Rome"}, "")),
				from("user", geminiResult(paris, "output", "", dot, photo), geminiResult(rome, "output", "25 °C")))
		},
	},
	{
		name: "a file that the provider does not take",
		ask:  pawl.Request{Messages: []pawl.Message{user(pawl.File{Type: "text/csv", Name: "a.csv", Data: []byte("a,b\n")})}},
		claude: func(p *claudeParams) {
			p.mark = nil
			p.asks(claudeText("[file a.csv left out: the provider does not take text/csv]"))
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Input = input(asks(inputText("[file a.csv left out: the provider does not take text/csv]")))
		},
		gemini: func(p *geminiParams) {
			p.then(from("user", geminiText("[file a.csv left out: the provider does not take text/csv]")))
		},
	},
}

func chatSound(f pawl.File, format string) openai.ChatCompletionContentPartUnionParam {
	return openai.InputAudioContentPart(openai.ChatCompletionContentPartInputAudioInputAudioParam{Data: base64Of(f), Format: format})
}
