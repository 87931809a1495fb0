package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/openai"
)

const weather = `{"type":"object","properties":{"city":{"type":"string"},"<unit>":{"enum":["C","F"]}},"required":["city"]}`

// requests are what transcripts named after them ask for.
var requests = map[string]pawl.Request{
	"hello": {
		System:   "Be brief.",
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello <you> & me"})},
	},
	"calls": {
		Messages:  []pawl.Message{wiretest.User(pawl.Text{Text: "Weather in Paris and Rome?"})},
		Tools:     []pawl.ToolInfo{{Name: "weather", Description: "Tells the weather.", Input: json.RawMessage(weather)}, {Name: "now"}},
		MaxTokens: 200,
		Sampling:  pawl.Sampling{Temperature: -1, Effort: "high"},
	},
	// A whole conversation, with all that has to be put right on its way.
	"history": {
		Messages: []pawl.Message{
			wiretest.User(pawl.Text{Text: "Look."}, pawl.File{Type: "image/png", Data: wiretest.Dot}),
			wiretest.Assistant(
				pawl.Thinking{Text: "Hm", Opaque: json.RawMessage(`{"reasoning_content":"Hm"}`), Model: "openai/tiny"},
				pawl.Thinking{Text: "dropped", Opaque: json.RawMessage(`{"reasoning_content":"dropped"}`), Model: "openai/big"},
				pawl.Call{ID: "c_1", Ref: "same", Tool: "weather", Args: json.RawMessage(`{"city": "Paris"}`)},
				pawl.Call{ID: "c_2", Ref: "same", Tool: "weather", Args: json.RawMessage(`"{\"city\""`)},
				pawl.Call{ID: "c_3", Ref: "an id that is longer than forty characters", Tool: "the time!", Args: json.RawMessage(`{"a":1,"a":"\ud800"}`)},
			),
			wiretest.User(pawl.Text{Text: "By the way: hurry."}),
			wiretest.User(
				pawl.ToolResult{Call: "c_1", Tool: "weather", Content: json.RawMessage(`{"sky":"blue"}`), Images: []pawl.File{{Type: "image/png", Data: []byte("<html>")}, {Type: "image/jpeg", Data: wiretest.Dot}}},
				pawl.ToolResult{Call: "c_2", Tool: "weather", Content: json.RawMessage(`"arguments are not an object"`), Failed: true},
				pawl.ToolResult{Call: "c_3", Tool: "the time!", Content: json.RawMessage(`""`)},
			),
			wiretest.Assistant(pawl.Thinking{Text: "Fine", Opaque: json.RawMessage(`{"reasoning_content":"Fine"}`), Model: "openai/tiny"}, pawl.Text{Text: "Blue, "}),
			wiretest.Assistant(pawl.Text{Text: "I say."}),
			wiretest.User(pawl.Text{Text: "Sure?"}),
			wiretest.Assistant(pawl.Thinking{Text: "nothing but this"}),
			wiretest.User(pawl.Text{Text: "Well?"}),
		},
		Sampling: pawl.Sampling{MaxTokens: 3000},
	},
	"output": {
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Classify."})},
		Output:   json.RawMessage(`{"type":"object","properties":{"label":{"type":"string"}}}`),
		Sampling: pawl.Sampling{Temperature: 0.2, Options: map[string]json.RawMessage{
			"reasoning_effort": json.RawMessage(`"low"`), "stream_options": json.RawMessage("null"),
		}},
	},
	"owned": {
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{Options: map[string]json.RawMessage{"max_completion_tokens": json.RawMessage("9")}},
	},
}

func TestWire(t *testing.T) {
	wiretest.Run(t, "testdata", []string{"Authorization", "Content-Type", "Accept"}, func(url, name string) (pawl.Model, pawl.Request) {
		return openai.New("tiny", &openai.Options{APIKey: "key", BaseURL: url + "/v1/"}), requests[name]
	})
}
