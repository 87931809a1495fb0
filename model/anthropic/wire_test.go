package anthropic_test

import (
	"cmp"
	"encoding/json"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/internal/provider/wiretest"
)

const weather = `{"type":"object","properties":{"city":{"type":"string"},"<unit>":{"enum":["C","F"]}},"required":["city"]}`

// A request is what transcripts named after it ask for.
type request struct {
	model string // claude-sonnet-4-5 when empty
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
	"history": {Request: pawl.Request{
		Messages: []pawl.Message{
			wiretest.User(pawl.Text{Text: "Look."}, pawl.File{Type: "image/png", Data: wiretest.Dot}),
			wiretest.Assistant(
				pawl.Thinking{Text: "Hm", Opaque: json.RawMessage(`{"type":"thinking","thinking":"Hm","signature":"s<1>"}`), Model: "anthropic/claude-sonnet-4-5"},
				pawl.Thinking{Opaque: json.RawMessage(`{"type":"redacted_thinking","data":"xyz"}`), Model: "anthropic/claude-sonnet-4-5"},
				pawl.Thinking{Text: "dropped", Opaque: json.RawMessage(`{"id":"rs_1"}`), Model: "openai/gpt-5"},
				pawl.Text{Text: " \n"},
				pawl.Call{ID: "c_1", Ref: "same", Tool: "weather", Args: json.RawMessage(`{"city":"Paris"}`)},
				pawl.Call{ID: "c_2", Ref: "same", Tool: "weather", Args: json.RawMessage(`"{\"city\""`)},
				pawl.Call{ID: "c_3", Ref: "same", Tool: "the time!", Args: json.RawMessage(`{"a":1,"a":"\ud800"}`)},
				pawl.Thinking{Opaque: json.RawMessage(`{"type":"thinking","thinking":"last","signature":"s2"}`), Model: "anthropic/claude-sonnet-4-5"},
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
	"output": {Request: pawl.Request{
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
	"marks": {Request: pawl.Request{
		Messages: []pawl.Message{
			wiretest.User(pawl.Text{Text: "Go."}),
			wiretest.Assistant(pawl.Call{ID: "c_1", Tool: "now", Args: json.RawMessage(`{}`)}, pawl.Call{ID: "c_2", Tool: "now", Args: json.RawMessage(`{}`)}),
			wiretest.User(pawl.ToolResult{Call: "c_1", Tool: "now", Content: json.RawMessage(`12`)}, pawl.ToolResult{Call: "c_2", Tool: "now", Content: json.RawMessage(`""`)}),
		},
		Tools:    []pawl.ToolInfo{{Name: "now"}},
		Sampling: pawl.Sampling{Temperature: 1, Options: map[string]json.RawMessage{"temperature": json.RawMessage("null")}},
	}},
	"owned": {Request: pawl.Request{
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{Options: map[string]json.RawMessage{"max_tokens": json.RawMessage("9")}},
	}},
}

func TestWire(t *testing.T) {
	wiretest.Run(t, "testdata", []string{"X-Api-Key", "Anthropic-Version", "Content-Type"}, func(url, name string) (pawl.Model, pawl.Request) {
		r := requests[name]
		return anthropic.New(cmp.Or(r.model, "claude-sonnet-4-5"), &anthropic.Options{APIKey: "key", BaseURL: url + "/"}), r.Request
	})
}
