package oracle

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/jpeg"
	"image/png"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"github.com/pawl-run/pawl"
)

// What conversations are made of, first for our adapters, then for each SDK.

func user(parts ...pawl.Part) pawl.Message { return pawl.Message{Role: pawl.RoleUser, Parts: parts} }

func said(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.RoleAssistant, Parts: parts}
}

func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func options(name string, v any) map[string]json.RawMessage {
	return map[string]json.RawMessage{name: raw(v)}
}

type object = map[string]any

var (
	place    = object{"city": object{"type": "string"}, "unit": object{"enum": []string{"C", "F"}}}
	weather  = pawl.ToolInfo{Name: "weather", Description: "Tells the weather.", Input: raw(object{"type": "object", "properties": place, "required": []string{"city"}})}
	now      = pawl.ToolInfo{Name: "now"}
	search   = pawl.ToolInfo{Name: "web_search", Hosted: pawl.Usage{Searches: 1}}
	fewer    = pawl.ToolInfo{Name: "web_search", Hosted: pawl.Usage{Searches: 1}, MaxCalls: 3}
	execute  = pawl.ToolInfo{Name: "code_execution", Hosted: pawl.Usage{Sessions: 1}}
	label    = object{"type": "object", "properties": object{"label": object{"type": "string"}}, "required": []string{"label"}, "additionalProperties": false}
	dot      = pawl.File{Type: "image/png", Data: encoded(func(b *bytes.Buffer, i image.Image) error { return png.Encode(b, i) })}
	photo    = pawl.File{Type: "image/jpeg", Data: encoded(func(b *bytes.Buffer, i image.Image) error { return jpeg.Encode(b, i, nil) })}
	contract = pawl.File{Type: "application/pdf", Name: "contract.pdf", Data: []byte("%PDF-1.4\n%%EOF")}
	voice    = pawl.File{Type: "audio/wav", Data: []byte("RIFF\x00\x00\x00\x00WAVE")}
	song     = pawl.File{Type: "audio/mpeg", Data: []byte("\xff\xfb\x90\x00")}

	paris = pawl.Call{ID: "c_1", Ref: "call_a", Tool: "weather", Args: raw(object{"city": "Paris"})}
	rome  = pawl.Call{ID: "c_2", Ref: "call_b", Tool: "weather", Args: raw(object{"city": "Rome"})}
	clock = pawl.Call{ID: "c_3", Ref: "call_c", Tool: "now", Args: raw(object{})}
)

func encoded(encode func(*bytes.Buffer, image.Image) error) []byte {
	var b bytes.Buffer
	if err := encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func result(c pawl.Call, content any, images ...pawl.File) pawl.ToolResult {
	return pawl.ToolResult{Call: c.ID, Ref: c.Ref, Tool: c.Tool, Content: raw(content), Images: images}
}

func failed(c pawl.Call, content any) pawl.ToolResult {
	r := result(c, content)
	r.Failed = true
	return r
}

func base64Of(f pawl.File) string { return base64.StdEncoding.EncodeToString(f.Data) }
func dataURL(f pawl.File) string  { return "data:" + f.Type + ";base64," + base64Of(f) }

// Anthropic.

type block = anthropic.ContentBlockParamUnion

func (p *claudeParams) tools(list ...anthropic.ToolUnionParam) { p.Tools = list }

func (p *claudeParams) asks(blocks ...block) {
	p.Messages = []anthropic.MessageParam{anthropic.NewUserMessage(blocks...)}
}

func (p *claudeParams) then(list ...anthropic.MessageParam) { p.Messages = list }

var (
	claudeUser    = anthropic.NewUserMessage
	claudeSaid    = anthropic.NewAssistantMessage
	claudeText    = anthropic.NewTextBlock
	claudeWeather = anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
		Name: "weather", Description: anthropic.String("Tells the weather."),
		InputSchema: anthropic.ToolInputSchemaParam{Properties: place, Required: []string{"city"}},
	}}
	claudeNow = anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{Name: "now", InputSchema: anthropic.ToolInputSchemaParam{Properties: object{}}}}
)

func claudeCall(c pawl.Call, input object) block {
	return anthropic.NewToolUseBlock(c.Ref, input, c.Tool)
}

func claudeImage(f pawl.File) block { return anthropic.NewImageBlockBase64(f.Type, base64Of(f)) }

func claudePDF(f pawl.File) block {
	return block{OfDocument: &anthropic.DocumentBlockParam{
		Title: anthropic.String(f.Name), Source: anthropic.DocumentBlockParamSourceUnion{OfBase64: &anthropic.Base64PDFSourceParam{Data: base64Of(f)}},
	}}
}

func claudeResult(c pawl.Call, text string, images ...pawl.File) block {
	r := &anthropic.ToolResultBlockParam{ToolUseID: c.Ref}
	if text != "" {
		r.Content = []anthropic.ToolResultBlockParamContentUnion{{OfText: &anthropic.TextBlockParam{Text: text}}}
	}
	for _, f := range images {
		r.Content = append(r.Content, anthropic.ToolResultBlockParamContentUnion{OfImage: claudeImage(f).OfImage})
	}
	return block{OfToolResult: r}
}

func claudeFailed(c pawl.Call, text string) block {
	r := claudeResult(c, text)
	r.OfToolResult.IsError = anthropic.Bool(true)
	return r
}

// The Responses API.

type item = responses.ResponseInputItemUnionParam

func input(list ...item) responses.ResponseNewParamsInputUnion {
	return responses.ResponseNewParamsInputUnion{OfInputItemList: list}
}

func asks(content ...responses.ResponseInputContentUnionParam) item {
	return item{OfMessage: &responses.EasyInputMessageParam{
		Type: responses.EasyInputMessageTypeMessage, Role: responses.EasyInputMessageRoleUser,
		Content: responses.EasyInputMessageContentUnionParam{OfInputItemContentList: content},
	}}
}

func says(text string) item {
	return item{OfOutputMessage: &responses.ResponseOutputMessageParam{
		Content: []responses.ResponseOutputMessageContentUnionParam{{OfOutputText: &responses.ResponseOutputTextParam{Text: text}}},
	}}
}

var inputText = responses.ResponseInputContentParamOfInputText

func inputImage(f pawl.File) responses.ResponseInputContentUnionParam {
	return responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{ImageURL: openai.String(dataURL(f))}}
}

func inputFile(f pawl.File) responses.ResponseInputContentUnionParam {
	return responses.ResponseInputContentUnionParam{OfInputFile: &responses.ResponseInputFileParam{Filename: openai.String(f.Name), FileData: openai.String(dataURL(f))}}
}

func functionCall(c pawl.Call) item {
	return responses.ResponseInputItemParamOfFunctionCall(string(c.Args), c.Ref, c.Tool)
}

func output(c pawl.Call, text string, images ...pawl.File) item {
	out := responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String(text)}
	if len(images) > 0 {
		out = responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfResponseFunctionCallOutputItemArray: responses.ResponseFunctionCallOutputItemListParam{
			{OfInputText: &responses.ResponseInputTextContentParam{Text: text}},
		}}
		for _, f := range images {
			out.OfResponseFunctionCallOutputItemArray = append(out.OfResponseFunctionCallOutputItemArray,
				responses.ResponseFunctionCallOutputItemUnionParam{OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: openai.String(dataURL(f))}})
		}
	}
	return item{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{CallID: openai.String(c.Ref), Output: out}}
}

func function(name, description string, schema object) responses.ToolUnionParam {
	f := &responses.FunctionToolParam{Name: name, Parameters: schema, Strict: openai.Bool(false)}
	if description != "" {
		f.Description = openai.String(description)
	}
	return responses.ToolUnionParam{OfFunction: f}
}

var (
	functionWeather = function("weather", "Tells the weather.", object{"type": "object", "properties": place, "required": []string{"city"}})
	functionNow     = function("now", "", object{"type": "object", "properties": object{}})
)

func answerFormat(schema object) responses.ResponseTextConfigParam {
	return responses.ResponseTextConfigParam{Format: responses.ResponseFormatTextConfigUnionParam{
		OfJSONSchema: &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "output", Schema: schema, Strict: openai.Bool(false)},
	}}
}

// Chat Completions.

type chatMessage = openai.ChatCompletionMessageParamUnion

func chatUser(parts ...openai.ChatCompletionContentPartUnionParam) chatMessage {
	return openai.UserMessage(parts)
}

func chatCalls(text string, calls ...pawl.Call) chatMessage {
	m := &openai.ChatCompletionAssistantMessageParam{}
	if text != "" {
		m.Content.OfString = openai.String(text)
	}
	for _, c := range calls {
		m.ToolCalls = append(m.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
			ID: c.Ref, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Tool, Arguments: string(c.Args)},
		}})
	}
	return chatMessage{OfAssistant: m}
}

func chatResult(c pawl.Call, text string) chatMessage { return openai.ToolMessage(text, c.Ref) }

func chatImage(f pawl.File) openai.ChatCompletionContentPartUnionParam {
	return openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: dataURL(f)})
}

var (
	chatText    = openai.TextContentPart
	chatWeather = openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "weather", Description: openai.String("Tells the weather."), Parameters: object{"type": "object", "properties": place, "required": []string{"city"}},
	})
	chatNow = openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "now", Parameters: object{"type": "object", "properties": object{}}})
)

// Google.

func from(role string, parts ...*genai.Part) *genai.Content {
	return &genai.Content{Role: role, Parts: parts}
}

func (p *geminiParams) then(list ...*genai.Content) { p.contents = list }

func geminiText(s string) *genai.Part { return &genai.Part{Text: s} }

func geminiFile(f pawl.File) *genai.Part {
	return &genai.Part{InlineData: &genai.Blob{MIMEType: f.Type, Data: f.Data}}
}

func geminiCall(c pawl.Call, args object, signature string) *genai.Part {
	return &genai.Part{FunctionCall: &genai.FunctionCall{ID: c.ID, Name: c.Tool, Args: args}, ThoughtSignature: []byte(signature)}
}

func geminiResult(c pawl.Call, key string, value any, images ...pawl.File) *genai.Part {
	r := &genai.FunctionResponse{ID: c.ID, Name: c.Tool, Response: object{key: value}}
	for _, f := range images {
		r.Parts = append(r.Parts, &genai.FunctionResponsePart{InlineData: &genai.FunctionResponseBlob{MIMEType: f.Type, Data: f.Data}})
	}
	return &genai.Part{FunctionResponse: r}
}

var (
	geminiWeather = &genai.FunctionDeclaration{Name: "weather", Description: "Tells the weather.", ParametersJsonSchema: object{"type": "object", "properties": place, "required": []string{"city"}}}
	geminiNow     = &genai.FunctionDeclaration{Name: "now"}
)

func functions(list ...*genai.FunctionDeclaration) []*genai.Tool {
	return []*genai.Tool{{FunctionDeclarations: list}}
}
