package google_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider/wiretest"
	"github.com/pawl-run/pawl/model/google"
)

const weather = `{"type":"object","properties":{"city":{"type":"string"},"<unit>":{"enum":["C","F"]},"at":{"maximum":9007199254740993}},"required":["city"]}`

// dot is a picture of one pixel.
var dot, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

func user(parts ...pawl.Part) pawl.Message { return pawl.Message{Role: pawl.User, Parts: parts} }
func assistant(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.Assistant, Parts: parts}
}

func opaque(model, raw string) pawl.Thinking {
	return pawl.Thinking{Opaque: json.RawMessage(raw), Model: model}
}

// A request is what transcripts named after it ask for.
type request struct {
	model string // gemini-3.8-flash when empty
	pawl.Request
}

// A whole conversation, with all that has to be put right on its way.
func history(model string) pawl.Request {
	return pawl.Request{
		Messages: []pawl.Message{
			user(pawl.Text{Text: "Look."}, pawl.Image{Type: "image/jpeg", Data: dot}, pawl.Image{Type: "image/gif", Data: []byte("GIF89a")}),
			assistant(
				pawl.Thinking{Text: "Hm", Opaque: json.RawMessage(`{"part":{"text":"Hm","thought":true}}`), Model: model},
				opaque("google/gemini-1", `{"functionCall":{"thoughtSignature":"dropped"}}`),
				opaque("openai/gpt-5", `{"reasoning_content":"dropped"}`),
				opaque(model, `{"text":{"thoughtSignature":"dGV4dA\u003d\u003d"}}`),
				pawl.Text{Text: "I look."},
				pawl.Text{Text: " \n"},
				opaque(model, `{"functionCall":{"thoughtSignature":"c2lnPDE+"}}`),
				pawl.Call{ID: "c_1", Ref: "same", Tool: "weather", Args: json.RawMessage(`{"city":"Paris","at":9007199254740993}`)},
				pawl.Call{ID: "c_2", Ref: "same", Tool: "weather", Args: json.RawMessage(`"{\"city\""`)},
				pawl.Call{Ref: "same", Tool: "now", Args: json.RawMessage(`{}`)},
			),
			user(pawl.Text{Text: "By the way: hurry."}),
			user(
				pawl.ToolResult{Call: "c_1", Tool: "weather", Content: json.RawMessage(`{"sky":"<blue>","seen":9007199254740993}`), Images: []pawl.Image{{Type: "image/png", Data: dot}, {Type: "image/png"}}},
				pawl.ToolResult{Call: "c_2", Tool: "weather", Content: json.RawMessage(`"arguments are not an object"`), Failed: true},
				pawl.ToolResult{Ref: "same", Tool: "now", Content: json.RawMessage(`""`)},
			),
			assistant(opaque("google/gemini-1", `{"functionCall":{"thoughtSignature":"dropped"}}`), pawl.Call{ID: "c_4", Tool: "now?"}),
			user(pawl.ToolResult{Call: "c_4", Tool: "now?", Content: json.RawMessage(`{"z":"<noon>","at":9007199254740993}`), Images: []pawl.Image{{Type: "image/png", Data: dot}}}),
			assistant(opaque(model, `{"functionCall":{"thoughtSignature":"of a call that is gone"}}`), pawl.Text{Text: "Noon."}),
			assistant(opaque(model, `{"part":{"text":"","thoughtSignature":"ZW5k"}}`), pawl.Thinking{Text: "no opaque"}),
			user(pawl.Text{Text: " "}),
			assistant(opaque(model, "{\"part\":{\"text\":\"\xff\"}}"), pawl.Text{Text: "Yes."}),
			user(pawl.Text{Text: "Sure?"}),
		},
		Tools:    []pawl.ToolInfo{{Name: "now"}},
		Output:   json.RawMessage(`{"type":"object"}`),
		Sampling: pawl.Sampling{MaxTokens: 3000, ThinkingTokens: 4000, Temperature: 0.5},
	}
}

var requests = map[string]request{
	"hello": {Request: pawl.Request{
		System:   "Be brief.",
		Messages: []pawl.Message{user(pawl.Text{Text: "Hello <you> & me"})},
	}},
	"calls": {Request: pawl.Request{
		Messages:  []pawl.Message{user(pawl.Text{Text: "Weather in Paris and Rome?"})},
		Tools:     []pawl.ToolInfo{{Name: "weather", Description: "Tells the weather.", Input: json.RawMessage(weather)}, {Name: "now"}},
		MaxTokens: 2000,
		Sampling:  pawl.Sampling{Temperature: -1, ThinkingTokens: 500},
	}},
	"history": {Request: history("google/gemini-3.8-flash")},
	"older":   {model: "gemini-2.5-pro", Request: history("google/gemini-2.5-pro")},
	"oldest": {model: "models/gemini-2.0-flash", Request: pawl.Request{
		Messages: []pawl.Message{user(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{ThinkingTokens: 2000},
	}},
	"output": {model: "gemini-2.5-flash", Request: pawl.Request{
		Messages: []pawl.Message{user(pawl.Text{Text: "Classify."})},
		// In the order in which they are to be written, which is not the alphabet's.
		Output: json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string"},"label":{"type":"string"}}}`),
		Sampling: pawl.Sampling{Temperature: 0.2, MaxTokens: 60000, ThinkingTokens: 50000, Options: map[string]json.RawMessage{
			"topK": json.RawMessage("5"), "stop_sequences": json.RawMessage(`["END"]`), "temperature": json.RawMessage("null"),
			"safetySettings": json.RawMessage(`[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}]`),
		}},
	}},
	"owned": {Request: pawl.Request{
		Messages: []pawl.Message{user(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{Options: map[string]json.RawMessage{"max_output_tokens": json.RawMessage("9")}},
	}},
	"nojson": {Request: pawl.Request{
		Messages: []pawl.Message{user(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{Options: map[string]json.RawMessage{"topK": json.RawMessage("many")}},
	}},
}

func TestWire(t *testing.T) {
	wiretest.Run(t, []string{"X-Goog-Api-Key", "Content-Type"}, func(t *testing.T, url, name string) string {
		r, ok := requests[name]
		if !ok {
			t.Fatalf("no request is called %s", name)
		}
		if r.model == "" {
			r.model = "gemini-3.8-flash"
		}
		return result(t, google.New(r.model, &google.Options{APIKey: "key", BaseURL: url + "/"}), r.Request)
	})
}

// result writes down what a stream yields, increments of one kind in a row as
// one line.
func result(t *testing.T, m pawl.Model, r pawl.Request) string {
	var b strings.Builder
	kind, text := "", ""
	flush := func(next string) {
		if kind != next && text != "" {
			fmt.Fprintf(&b, "%s %q\n", kind, text)
			text = ""
		}
		kind = next
	}
	for c, err := range m.Stream(t.Context(), r) {
		switch {
		case err != nil:
			flush("")
			var me *pawl.ModelError
			if !errors.As(err, &me) {
				t.Fatalf("error %#v, want a ModelError", err)
			}
			fmt.Fprintf(&b, "error %v\n  %s\n", me.Class, me.Message)
			if me.RetryAfter != 0 {
				fmt.Fprintf(&b, "  retry after %v\n", me.RetryAfter)
			}
			usage(&b, me.Usage)
		case c.Reply != nil:
			flush("")
			fmt.Fprintf(&b, "reply, stop %v\n", c.Reply.Stop)
			if c.Reply.Repaired {
				b.WriteString("  repaired\n")
			}
			for _, p := range c.Reply.Parts {
				switch p := p.(type) {
				case pawl.Text:
					fmt.Fprintf(&b, "  text %q\n", p.Text)
				case pawl.Thinking:
					fmt.Fprintf(&b, "  thinking %q by %s\n    %s\n", p.Text, p.Model, p.Opaque)
				case pawl.Call:
					fmt.Fprintf(&b, "  call %s id=%q ref=%q %s\n", p.Tool, p.ID, p.Ref, p.Args)
				}
			}
			usage(&b, c.Reply.Usage)
		case c.Call != "":
			flush("")
			fmt.Fprintf(&b, "call %s\n", c.Call)
		case c.Thinking != "":
			flush("thinking")
			text += c.Thinking
		default:
			flush("text")
			text += c.Text
		}
	}
	flush("")
	return b.String()
}

func usage(b *strings.Builder, u pawl.Usage) {
	if u != (pawl.Usage{}) {
		fmt.Fprintf(b, "  input %d, of it read %d and written %d; output %d, of it reasoning %d\n", u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning)
	}
}
