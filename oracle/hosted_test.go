package oracle

import (
	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/pawl-run/pawl"
)

// Conversations with tools that the provider runs, and with citations.
var hosted = []conversation{
	{
		name: "web search", ask: pawl.Request{Tools: []pawl.ToolInfo{search}},
		claude: func(p *claudeParams) {
			p.tools(anthropic.ToolUnionParam{OfWebSearchTool20260318: &anthropic.WebSearchTool20260318Param{AllowedCallers: direct}})
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{responses.ToolParamOfWebSearch(responses.WebSearchToolTypeWebSearch)}
			p.Include = append(p.Include, responses.ResponseIncludableWebSearchCallActionSources)
		},
		gemini: func(p *geminiParams) { p.Tools = []*genai.Tool{{GoogleSearch: &genai.GoogleSearch{}}} },
	},
	{
		name: "code execution", ask: pawl.Request{Tools: []pawl.ToolInfo{execute}},
		claude: func(p *claudeParams) {
			p.tools(anthropic.ToolUnionParam{OfCodeExecutionTool20260521: &anthropic.CodeExecutionTool20260521Param{}})
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{responses.ToolParamOfCodeInterpreter(responses.ToolCodeInterpreterContainerCodeInterpreterContainerAutoParam{})}
			p.Include = append(p.Include, responses.ResponseIncludableCodeInterpreterCallOutputs)
		},
		gemini: func(p *geminiParams) { p.Tools = []*genai.Tool{{CodeExecution: &genai.ToolCodeExecution{}}} },
	},
	{
		name: "tools of the provider and of the run", ask: pawl.Request{Tools: []pawl.ToolInfo{weather, search}},
		claude: func(p *claudeParams) {
			p.tools(claudeWeather, anthropic.ToolUnionParam{OfWebSearchTool20260318: &anthropic.WebSearchTool20260318Param{AllowedCallers: direct}})
		},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{functionWeather, responses.ToolParamOfWebSearch(responses.WebSearchToolTypeWebSearch)}
			p.Include = append(p.Include, responses.ResponseIncludableWebSearchCallActionSources)
		},
		gemini: func(p *geminiParams) {
			p.Tools = append(functions(geminiWeather), &genai.Tool{GoogleSearch: &genai.GoogleSearch{}})
			p.ToolConfig = &genai.ToolConfig{IncludeServerSideToolInvocations: genai.Ptr(true)}
		},
	},
	{
		name: "a web search in the history",
		ask: pawl.Request{Tools: []pawl.ToolInfo{search}, Messages: []pawl.Message{
			user(pawl.Text{Text: "How tall?"}),
			said(own(object{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": object{"query": "tower"}}),
				own(object{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []any{object{"type": "web_search_result", "url": "https://a.example/", "title": "T", "encrypted_content": "eA=="}}}),
				pawl.Text{Text: "828 m."}),
			user(pawl.Text{Text: "Sure?"}),
		}},
		claude: func(p *claudeParams) {
			p.tools(anthropic.ToolUnionParam{OfWebSearchTool20260318: &anthropic.WebSearchTool20260318Param{AllowedCallers: direct}})
			p.then(claudeUser(claudeText("How tall?")), claudeSaid(searched, found, claudeText("828 m.")), claudeUser(claudeText("Sure?")))
		},
	},
	{
		name: "the calls of a hosted tool in the history",
		ask: pawl.Request{Tools: []pawl.ToolInfo{search, execute}, Messages: []pawl.Message{
			user(pawl.Text{Text: "How tall?"}),
			said(ofGPT(object{"type": "web_search_call", "id": "ws_1", "status": "completed", "action": object{"type": "search", "query": "tower"}}),
				ofGPT(object{"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "container_id": "c", "code": "1+1", "outputs": []any{object{"type": "logs", "logs": "2"}}}), pawl.Text{Text: "828 m."}),
			user(pawl.Text{Text: "Sure?"}),
		}},
		responses: func(p *responses.ResponseNewParams) {
			p.Tools = []responses.ToolUnionParam{responses.ToolParamOfWebSearch(responses.WebSearchToolTypeWebSearch), responses.ToolParamOfCodeInterpreter(responses.ToolCodeInterpreterContainerCodeInterpreterContainerAutoParam{})}
			p.Include = append(p.Include, responses.ResponseIncludableWebSearchCallActionSources, responses.ResponseIncludableCodeInterpreterCallOutputs)
			p.Input = input(asks(inputText("How tall?")),
				item{OfWebSearchCall: &responses.ResponseFunctionWebSearchParam{ID: "ws_1", Status: responses.ResponseFunctionWebSearchStatusCompleted, Action: responses.ResponseFunctionWebSearchActionUnionParam{
					OfSearch: &responses.ResponseFunctionWebSearchActionSearchParam{Query: openai.String("tower")},
				}}},
				item{OfCodeInterpreterCall: &responses.ResponseCodeInterpreterToolCallParam{ID: "ci_1", Status: responses.ResponseCodeInterpreterToolCallStatusCompleted, ContainerID: "c", Code: openai.String("1+1"),
					Outputs: []responses.ResponseCodeInterpreterToolCallOutputUnionParam{{OfLogs: &responses.ResponseCodeInterpreterToolCallOutputLogsParam{Logs: "2"}}}}},
				says("828 m."), asks(inputText("Sure?")))
		},
	},
	{
		name: "a citation in the history",
		ask: pawl.Request{Tools: []pawl.ToolInfo{search}, Messages: []pawl.Message{
			user(pawl.Text{Text: "How tall?"}),
			said(own(object{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": object{"query": "tower"}}),
				own(object{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []any{object{"type": "web_search_result", "url": "https://a.example/", "title": "T", "encrypted_content": "eA=="}}}),
				pawl.Text{Text: "828 m."}, pawl.Citation{Title: "T", URL: "https://a.example/", Quote: "828 metres", Model: "anthropic/" + claude,
					Opaque: raw(object{"type": "web_search_result_location", "url": "https://a.example/", "title": "T", "cited_text": "828 metres", "encrypted_index": "aQ=="})}),
			user(pawl.Text{Text: "Sure?"}),
		}},
		claude: func(p *claudeParams) {
			p.tools(anthropic.ToolUnionParam{OfWebSearchTool20260318: &anthropic.WebSearchTool20260318Param{AllowedCallers: direct}})
			tall := claudeText("828 m.")
			tall.OfText.Citations = []anthropic.TextCitationParamUnion{{OfWebSearchResultLocation: &anthropic.CitationWebSearchResultLocationParam{
				URL: "https://a.example/", Title: anthropic.String("T"), CitedText: "828 metres", EncryptedIndex: "aQ==",
			}}}
			p.then(claudeUser(claudeText("How tall?")), claudeSaid(searched, found, tall), claudeUser(claudeText("Sure?")))
		},
	},
	{
		name: "code that ran in the history",
		ask: pawl.Request{Tools: []pawl.ToolInfo{execute}, Messages: []pawl.Message{
			user(pawl.Text{Text: "1+1?"}),
			said(ofGemini(object{"part": object{"executableCode": object{"language": "PYTHON", "code": "1+1"}}}), ofGemini(object{"part": object{"codeExecutionResult": object{"outcome": "OUTCOME_OK", "output": "2"}}}), pawl.Text{Text: "2"}),
			user(pawl.Text{Text: "Sure?"}),
		}},
		gemini: func(p *geminiParams) {
			p.Tools = []*genai.Tool{{CodeExecution: &genai.ToolCodeExecution{}}}
			p.then(from("user", geminiText("1+1?")), from("model", genai.NewPartFromExecutableCode("1+1", genai.LanguagePython), genai.NewPartFromCodeExecutionResult(genai.OutcomeOK, "2"), geminiText("2")), from("user", geminiText("Sure?")))
		},
	},
}

// What providers made, which goes back as it came.
func own(v object) pawl.Thinking { return pawl.Thinking{Opaque: raw(v), Model: "anthropic/" + claude} }
func ofGPT(v object) pawl.Thinking {
	return pawl.Thinking{Opaque: raw(v), Model: "openai/" + gpt}
}
func ofGemini(v object) pawl.Thinking {
	return pawl.Thinking{Opaque: raw(v), Model: "google/" + gemini}
}

// direct keeps the model from searching in code that it has the provider run, which costs a session.
var direct = []string{"direct"}

var (
	searched = anthropic.NewServerToolUseBlock("srvtoolu_1", object{"query": "tower"}, anthropic.ServerToolUseBlockParamNameWebSearch)
	found    = block{OfWebSearchToolResult: &anthropic.WebSearchToolResultBlockParam{ToolUseID: "srvtoolu_1", Content: anthropic.WebSearchToolResultBlockParamContentUnion{
		OfWebSearchToolResultBlockItem: []anthropic.WebSearchResultBlockParam{{URL: "https://a.example/", Title: "T", EncryptedContent: "eA=="}},
	}}}
)
