package anthropic_test

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/anthropic"
)

const weather = `{"type":"object","properties":{"city":{"type":"string"},"<unit>":{"enum":["C","F"]}},"required":["city"]}`

// A request is what transcripts named after it ask for.
type request struct {
	model string // claude-sonnet-5-5 when empty
	pawl.Request
}

var requests = map[string]request{
	"hello": {Request: pawl.Request{
		System:   "Be brief.",
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello <you> & me"})},
	}},
	"calls": {Request: pawl.Request{
		System:    "Be brief.",
		Messages:  []pawl.Message{wiretest.User(pawl.Text{Text: "Weather in Paris and Rome?"})},
		Tools:     []pawl.ToolInfo{{Name: "weather", Description: "Tells the weather.", Input: json.RawMessage(weather)}, {Name: "now"}},
		MaxTokens: 2000,
		Sampling:  pawl.Sampling{Temperature: -1},
	}},
	// A whole conversation, with all that has to be put right on its way.
	"history": {model: "claude-haiku-4-5", Request: pawl.Request{
		Messages: []pawl.Message{
			wiretest.User(pawl.Text{Text: "Look."}, pawl.File{Type: "image/png", Data: wiretest.Dot}),
			wiretest.Assistant(
				pawl.Thinking{Text: "Hm", Opaque: json.RawMessage(`{"type":"thinking","thinking":"Hm","signature":"s<1>"}`), Model: "anthropic/claude-haiku-4-5"},
				pawl.Thinking{Opaque: json.RawMessage(`{"type":"redacted_thinking","data":"xyz"}`), Model: "anthropic/claude-haiku-4-5"},
				pawl.Thinking{Text: "dropped", Opaque: json.RawMessage(`{"id":"rs_1"}`), Model: "openai/gpt-6.2-sol"},
				pawl.Text{Text: " \n"},
				pawl.Call{ID: "c_1", Ref: "same", Tool: "weather", Args: json.RawMessage(`{"city":"Paris"}`)},
				pawl.Call{ID: "c_2", Ref: "same", Tool: "weather", Args: json.RawMessage(`"{\"city\""`)},
				pawl.Call{ID: "c_3", Ref: "same", Tool: "the time!", Args: json.RawMessage(`{"a":1,"a":"\ud800"}`)},
				pawl.Thinking{Opaque: json.RawMessage(`{"type":"thinking","thinking":"last","signature":"s2"}`), Model: "anthropic/claude-haiku-4-5"},
			),
			wiretest.User(pawl.Text{Text: "By the way: hurry."}),
			wiretest.User(
				pawl.ToolResult{Call: "c_1", Tool: "weather", Content: json.RawMessage(`{"sky":"blue"}`), Images: []pawl.File{{Type: "image/png", Data: []byte("<html>")}, {Type: "image/jpeg", Data: wiretest.Dot}}},
				pawl.ToolResult{Call: "c_2", Tool: "weather", Content: json.RawMessage(`"arguments are not an object"`), Failed: true},
				pawl.ToolResult{Call: "c_3", Tool: "the time!", Content: json.RawMessage(`""`)},
			),
		},
		Sampling: pawl.Sampling{MaxTokens: 3000, Effort: "high", Temperature: 0.5},
	}},
	"output": {model: "claude-sonnet-4-6", Request: pawl.Request{
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Classify."})},
		Output:   json.RawMessage(`{"type":"object","properties":{"label":{"type":"string","maxLength":9}},"required":["label"]}`),
		Sampling: pawl.Sampling{Temperature: 0.2, Options: map[string]json.RawMessage{"top_k": json.RawMessage("5"), "metadata": json.RawMessage(`{"user_id":"u.1"}`)}},
	}},
	"adaptive": {model: "claude-opus-5", Request: pawl.Request{
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Think."})},
		// An open object, which the API's format could not promise.
		Output:   json.RawMessage(`{"type":"object","properties":{"tags":{"type":"object"}}}`),
		Sampling: pawl.Sampling{Effort: "high"},
	}},
	// The last result is empty and takes no mark; what is null is taken out.
	"marks": {model: "claude-sonnet-4-6", Request: pawl.Request{
		System: strings.Repeat("Be brief. ", 120),
		Messages: []pawl.Message{
			wiretest.User(pawl.Text{Text: "Go."}),
			wiretest.Assistant(pawl.Call{ID: "c_1", Tool: "now", Args: json.RawMessage(`{}`)}, pawl.Call{ID: "c_2", Tool: "now", Args: json.RawMessage(`{}`)}),
			wiretest.User(pawl.ToolResult{Call: "c_1", Tool: "now", Content: json.RawMessage(`12`)}, pawl.ToolResult{Call: "c_2", Tool: "now", Content: json.RawMessage(`""`)}),
		},
		Tools:    []pawl.ToolInfo{{Name: "now"}},
		Sampling: pawl.Sampling{Temperature: 1, Options: map[string]json.RawMessage{"temperature": json.RawMessage("null")}},
	}},
	// A turn of which every part is bound to what stood before it: thinking between the calls of one
	// message, thinking of another account and behind a prefix that has changed, a search, and
	// what it was cited for.
	"bound": {Request: pawl.Request{
		System: strings.Repeat("Look things up. ", 40),
		Messages: []pawl.Message{
			wiretest.User(pawl.Text{Text: "When was the bridge built?"}),
			wiretest.Assistant(
				pawl.Thinking{Opaque: json.RawMessage(`{"type":"thinking","thinking":"old","signature":"s0"}`), Model: "anthropic/claude-sonnet-5-5", Moved: true},
				pawl.Thinking{Opaque: json.RawMessage(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"bridge"}}`), Model: "anthropic/claude-sonnet-5-5", Moved: true},
				pawl.Thinking{Opaque: json.RawMessage(`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://b.example","title":"Bridge","encrypted_content":"EqgfCioIARgBIiQ3"}]}`), Model: "anthropic/claude-sonnet-5-5", Moved: true},
				pawl.Text{Text: "It was built in 1932"},
				pawl.Citation{Title: "Bridge", URL: "https://b.example", Quote: "opened in 1932", Model: "anthropic/claude-sonnet-5-5", Opaque: json.RawMessage(`{"type":"web_search_result_location","cited_text":"opened in 1932","title":"Bridge","url":"https://b.example","encrypted_index":"Eo8B","file_id":null}`)},
				pawl.Citation{Title: "Elsewhere", URL: "https://e.example", Model: "google/gemini-4-hydrogen"},
				pawl.Text{Text: "."},
			),
			wiretest.User(pawl.Text{Text: "And how long is it?"}),
			wiretest.Assistant(
				pawl.Thinking{Text: "Hm", Opaque: json.RawMessage(`{"type":"thinking","thinking":"Hm","signature":"s1"}`), Model: "anthropic/claude-sonnet-5-5"},
				pawl.Call{ID: "c_1", Tool: "measure", Args: json.RawMessage(`{"of":"bridge"}`)},
				pawl.Thinking{Text: "Measuring.", Opaque: json.RawMessage(`{"type":"thinking","thinking":"Measuring.","signature":"s2"}`), Model: "anthropic/claude-sonnet-5-5"},
				pawl.Thinking{Text: "Not mine.", Opaque: json.RawMessage(`{"type":"thinking","thinking":"Not mine.","signature":"s3"}`), Model: "anthropic/claude-sonnet-5-5", Account: "another"},
				pawl.Call{ID: "c_2", Tool: "measure", Args: json.RawMessage(`{"of":"tower"}`)},
			),
			wiretest.User(
				pawl.ToolResult{Call: "c_1", Tool: "measure", Content: json.RawMessage(`503`)},
				pawl.ToolResult{Call: "c_2", Tool: "measure", Content: json.RawMessage(`134`)},
			),
		},
		Tools:      []pawl.ToolInfo{{Name: "measure"}, {Name: "web_search", MaxCalls: 3, Hosted: pawl.Usage{Searches: 3}}, {Name: "code_execution", Hosted: pawl.Usage{Sessions: 1}}},
		ToolChoice: "none",
		Output:     json.RawMessage(`{"type":"object","properties":{"metres":{"type":"integer"}},"required":["metres"]}`),
		Sampling:   pawl.Sampling{Effort: "medium", Options: map[string]json.RawMessage{"output_config": json.RawMessage(`{"effort":"low"}`), "tool_choice": json.RawMessage(`{"type":"any"}`)}},
		Long:       true,
	}},
	"owned": {Request: pawl.Request{
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{Options: map[string]json.RawMessage{"max_tokens": json.RawMessage("9")}},
	}},
}

func TestWire(t *testing.T) {
	wiretest.Run(t, "testdata", []string{"X-Api-Key", "Anthropic-Version", "Content-Type"}, func(url, name string) (pawl.Model, pawl.Request) {
		r := requests[name]
		return anthropic.New(cmp.Or(r.model, "claude-sonnet-5-5"), &anthropic.Options{APIKey: "key", BaseURL: url + "/"}), r.Request
	})
}
