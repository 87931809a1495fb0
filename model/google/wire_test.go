package google_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/internal/provider"
)

const weather = `{"type":"object","properties":{"city":{"type":"string"},"<unit>":{"enum":["C","F"]},"at":{"maximum":9007199254740993}},"required":["city"]}`

// dot is a picture of one pixel.
var dot, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

func opaque(model, raw string) pawl.Thinking {
	return pawl.Thinking{Opaque: json.RawMessage(raw), Model: model}
}

// A request is what transcripts named after it ask for.
type request struct {
	model string // gemini-4-hydrogen when empty
	pawl.Request
}

// A whole conversation, with all that has to be put right on its way.
func history(model string) pawl.Request {
	return pawl.Request{
		Messages: []pawl.Message{
			wiretest.User(pawl.Text{Text: "Look."}, pawl.File{Type: "image/jpeg", Data: dot}, pawl.File{Type: "image/gif", Data: []byte("GIF89a")}),
			wiretest.Assistant(
				pawl.Thinking{Text: "Hm", Opaque: json.RawMessage(`{"part":{"text":"Hm","thought":true}}`), Model: model},
				opaque("google/gemini-1", `{"functionCall":{"thoughtSignature":"dropped"}}`),
				opaque("openai/gpt-6.2-sol", `{"reasoning_content":"dropped"}`),
				opaque(model, `{"text":{"thoughtSignature":"dGV4dA\u003d\u003d"}}`),
				pawl.Text{Text: "I look."},
				pawl.Text{Text: " \n"},
				opaque(model, `{"functionCall":{"thoughtSignature":"c2lnPDE+"}}`),
				pawl.Call{ID: "c_1", Ref: "same", Tool: "weather", Args: json.RawMessage(`{"city":"Paris","at":9007199254740993}`)},
				pawl.Call{ID: "c_2", Ref: "same", Tool: "weather", Args: json.RawMessage(`"{\"city\""`)},
				pawl.Call{Ref: "same", Tool: "now", Args: json.RawMessage(`{}`)},
			),
			wiretest.User(pawl.Text{Text: "By the way: hurry."}),
			wiretest.User(
				pawl.ToolResult{Call: "c_1", Tool: "weather", Content: json.RawMessage(`{"sky":"<blue>","seen":9007199254740993}`), Images: []pawl.File{{Type: "image/png", Data: dot}, {Type: "image/png"}}},
				pawl.ToolResult{Call: "c_2", Tool: "weather", Content: json.RawMessage(`"arguments are not an object"`), Failed: true},
				pawl.ToolResult{Ref: "same", Tool: "now", Content: json.RawMessage(`""`)},
			),
			wiretest.Assistant(opaque("google/gemini-1", `{"functionCall":{"thoughtSignature":"dropped"}}`), pawl.Call{ID: "c_4", Tool: "now?"}),
			wiretest.User(pawl.ToolResult{Call: "c_4", Tool: "now?", Content: json.RawMessage(`{"z":"<noon>","at":9007199254740993}`), Images: []pawl.File{{Type: "image/png", Data: dot}}}),
			wiretest.Assistant(opaque(model, `{"functionCall":{"thoughtSignature":"of a call that is gone"}}`), pawl.Text{Text: "Noon."}),
			wiretest.Assistant(opaque(model, `{"part":{"text":"","thoughtSignature":"ZW5k"}}`), pawl.Thinking{Text: "no opaque"}),
			wiretest.User(pawl.Text{Text: " "}),
			wiretest.Assistant(opaque(model, "{\"part\":{\"text\":\"\xff\"}}"), pawl.Text{Text: "Yes."}),
			wiretest.User(pawl.Text{Text: "Sure?"}),
		},
		Tools:    []pawl.ToolInfo{{Name: "now"}},
		Output:   json.RawMessage(`{"type":"object"}`),
		Sampling: pawl.Sampling{MaxTokens: 3000, Effort: "high", Temperature: 0.5},
	}
}

var requests = map[string]request{
	"hello": {Request: pawl.Request{
		System:   "Be brief.",
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello <you> & me"})},
	}},
	"calls": {Request: pawl.Request{
		Messages:  []pawl.Message{wiretest.User(pawl.Text{Text: "Weather in Paris and Rome?"})},
		Tools:     []pawl.ToolInfo{{Name: "weather", Description: "Tells the weather.", Input: json.RawMessage(weather)}, {Name: "now"}},
		MaxTokens: 2000,
		Sampling:  pawl.Sampling{Temperature: -1, Effort: "high"},
	}},
	"history": {Request: history("google/gemini-4-hydrogen")},
	"older":   {model: "gemini-2.5-flash-lite", Request: history("google/gemini-2.5-flash-lite")},
	"unknown": {model: "models/house", Request: pawl.Request{
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{Effort: "high"},
	}},
	"output": {model: "gemini-2.5-flash-lite", Request: pawl.Request{
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Classify."})},
		// In the order in which they are to be written, which is not the alphabet's.
		Output: json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string"},"label":{"type":"string"}}}`),
		Sampling: pawl.Sampling{Temperature: 0.2, MaxTokens: 60000, Effort: "high", Options: map[string]json.RawMessage{
			"topK": json.RawMessage("5"), "stop_sequences": json.RawMessage(`["END"]`), "temperature": json.RawMessage("null"),
			"safetySettings": json.RawMessage(`[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}]`),
		}},
	}},
	// Options join what the run sets: the schema and the thoughts stay.
	"joined": {Request: pawl.Request{
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello"})},
		Output:   json.RawMessage(`{"type":"object"}`),
		Sampling: pawl.Sampling{Effort: "low", Options: map[string]json.RawMessage{
			"thinking_config": json.RawMessage(`{"thinkingLevel":"HIGH"}`),
			"toolConfig":      json.RawMessage(`{"retrievalConfig":{"languageCode":"de"}}`),
		}},
	}},
	// The last answer of a run: it has the tools that its history needs, and may call none.
	"landing": {Request: pawl.Request{
		Messages: []pawl.Message{
			wiretest.User(pawl.Text{Text: "Weather?"}),
			wiretest.Assistant(pawl.Call{ID: "c_1", Tool: "weather", Args: json.RawMessage(`{"city":"Paris"}`)}),
			wiretest.User(pawl.ToolResult{Call: "c_1", Tool: "weather", Content: json.RawMessage(`"blue"`)}, pawl.Text{Text: "Answer now."}),
		},
		Tools:      []pawl.ToolInfo{{Name: "weather", Input: json.RawMessage(weather)}, {Name: provider.WebSearch, Hosted: pawl.Usage{Searches: 1}}},
		ToolChoice: "none",
		Output:     json.RawMessage(`{"type":"object"}`),
		Sampling: pawl.Sampling{Options: map[string]json.RawMessage{
			"toolConfig": json.RawMessage(`{"functionCallingConfig":{"mode":"ANY"}}`),
		}},
	}},
	// A $ref stands alone, and all else in its order.
	"ref": {Request: pawl.Request{
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello"})},
		Tools: []pawl.ToolInfo{{Name: "move", Input: json.RawMessage(
			`{"$defs":{"p":{"type":"object","properties":{"$ref":{"type":"string","description":"<a>"}}}},"type":"object",` +
				`"properties":{"to":{"description":"Where to.","$ref":"#/$defs/p","$comment":"x"},"by":{"anyOf":[{"default":{},"$ref":"#/$defs/p"},{"type":"null"}]}}}`)}},
		Output: json.RawMessage(`{"title":"T","$ref":"#/$defs/t","$defs":{"t":{"type":"object"}}}`),
	}},
	// A turn of another provider that is to be gone on with.
	"paused": {Request: pawl.Request{
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello"}), wiretest.Assistant(pawl.Text{Text: "Let me"}, pawl.Citation{URL: "https://example.org"})},
	}},
	"owned": {Request: pawl.Request{
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{Options: map[string]json.RawMessage{"max_output_tokens": json.RawMessage("9")}},
	}},
	"nojson": {Request: pawl.Request{
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{Options: map[string]json.RawMessage{"topK": json.RawMessage("many")}},
	}},
}

func TestWire(t *testing.T) {
	wiretest.Run(t, "testdata", []string{"X-Goog-Api-Key", "Content-Type"}, func(url, name string) (pawl.Model, pawl.Request) {
		r := requests[name]
		return google.New(cmp.Or(r.model, "gemini-4-hydrogen"), &google.Options{APIKey: "key", BaseURL: url + "/"}), r.Request
	})
}
