package openai_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider/wiretest"
	"github.com/pawl-run/pawl/model/openai"
)

const weather = `{"type":"object","properties":{"city":{"type":"string"},"<unit>":{"enum":["C","F"]}},"required":["city"]}`

func user(parts ...pawl.Part) pawl.Message { return pawl.Message{Role: pawl.User, Parts: parts} }
func assistant(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.Assistant, Parts: parts}
}

// dot is a picture of one pixel.
var dot = unbase64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")

func unbase64(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// requests are what transcripts named after them ask for.
var requests = map[string]pawl.Request{
	"hello": {
		System:   "Be brief.",
		Messages: []pawl.Message{user(pawl.Text{Text: "Hello <you> & me"})},
	},
	"calls": {
		Messages:  []pawl.Message{user(pawl.Text{Text: "Weather in Paris and Rome?"})},
		Tools:     []pawl.ToolInfo{{Name: "weather", Description: "Tells the weather.", Input: json.RawMessage(weather)}, {Name: "now"}},
		MaxTokens: 200,
		Sampling:  pawl.Sampling{Temperature: -1, ThinkingTokens: 100},
	},
	// A whole conversation, with all that has to be put right on its way.
	"history": {
		Messages: []pawl.Message{
			user(pawl.Text{Text: "Look."}, pawl.Image{Type: "image/png", Data: dot}),
			assistant(
				pawl.Thinking{Text: "Hm", Opaque: json.RawMessage(`{"reasoning_content":"Hm"}`), Model: "openai/tiny"},
				pawl.Thinking{Text: "dropped", Opaque: json.RawMessage(`{"reasoning_content":"dropped"}`), Model: "openai/big"},
				pawl.Call{ID: "c_1", Ref: "same", Tool: "weather", Args: json.RawMessage(`{"city": "Paris"}`)},
				pawl.Call{ID: "c_2", Ref: "same", Tool: "weather", Args: json.RawMessage(`"{\"city\""`)},
				pawl.Call{ID: "c_3", Ref: "an id that is longer than forty characters", Tool: "the time!", Args: json.RawMessage(`{"a":1,"a":"\ud800"}`)},
			),
			user(pawl.Text{Text: "By the way: hurry."}),
			user(
				pawl.ToolResult{Call: "c_1", Tool: "weather", Content: json.RawMessage(`{"sky":"blue"}`), Images: []pawl.Image{{Type: "image/png", Data: []byte("<html>")}, {Type: "image/jpeg", Data: dot}}},
				pawl.ToolResult{Call: "c_2", Tool: "weather", Content: json.RawMessage(`"arguments are not an object"`), Failed: true},
				pawl.ToolResult{Call: "c_3", Tool: "the time!", Content: json.RawMessage(`""`)},
			),
			assistant(pawl.Thinking{Text: "Fine", Opaque: json.RawMessage(`{"reasoning_content":"Fine"}`), Model: "openai/tiny"}, pawl.Text{Text: "Blue, "}),
			assistant(pawl.Text{Text: "I say."}),
			user(pawl.Text{Text: "Sure?"}),
			assistant(pawl.Thinking{Text: "nothing but this"}),
			user(pawl.Text{Text: "Well?"}),
		},
		Sampling: pawl.Sampling{MaxTokens: 3000},
	},
	"output": {
		Messages: []pawl.Message{user(pawl.Text{Text: "Classify."})},
		Output:   json.RawMessage(`{"type":"object","properties":{"label":{"type":"string"}}}`),
		Sampling: pawl.Sampling{Temperature: 0.2, Options: map[string]json.RawMessage{
			"reasoning_effort": json.RawMessage(`"low"`), "stream_options": json.RawMessage("null"),
		}},
	},
	"owned": {
		Messages: []pawl.Message{user(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{Options: map[string]json.RawMessage{"max_completion_tokens": json.RawMessage("9")}},
	},
}

func TestWire(t *testing.T) {
	wiretest.Run(t, []string{"Authorization", "Content-Type", "Accept"}, func(t *testing.T, url, name string) string {
		r, ok := requests[name]
		if !ok {
			t.Fatalf("no request is called %s", name)
		}
		return result(t, openai.New("tiny", &openai.Options{APIKey: "key", BaseURL: url + "/v1/"}), r)
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
