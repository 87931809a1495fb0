package anthropic_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider/wiretest"
	"github.com/pawl-run/pawl/model/anthropic"
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

// A request is what transcripts named after it ask for.
type request struct {
	model string // claude-sonnet-4-5 when empty
	pawl.Request
}

var requests = map[string]request{
	"hello": {Request: pawl.Request{
		System:   "Be brief.",
		Messages: []pawl.Message{user(pawl.Text{Text: "Hello <you> & me"})},
	}},
	"calls": {Request: pawl.Request{
		System:    "Be brief.",
		Messages:  []pawl.Message{user(pawl.Text{Text: "Weather in Paris and Rome?"})},
		Tools:     []pawl.ToolInfo{{Name: "weather", Description: "Tells the weather.", Input: json.RawMessage(weather)}, {Name: "now"}},
		MaxTokens: 2000,
		Sampling:  pawl.Sampling{Temperature: -1},
	}},
	// A whole conversation, with all that has to be put right on its way.
	"history": {Request: pawl.Request{
		Messages: []pawl.Message{
			user(pawl.Text{Text: "Look."}, pawl.Image{Type: "image/png", Data: dot}),
			assistant(
				pawl.Thinking{Text: "Hm", Opaque: json.RawMessage(`{"type":"thinking","thinking":"Hm","signature":"s<1>"}`), Model: "anthropic/claude-sonnet-4-5"},
				pawl.Thinking{Opaque: json.RawMessage(`{"type":"redacted_thinking","data":"xyz"}`), Model: "anthropic/claude-sonnet-4-5"},
				pawl.Thinking{Text: "dropped", Opaque: json.RawMessage(`{"id":"rs_1"}`), Model: "openai/gpt-5"},
				pawl.Text{Text: " \n"},
				pawl.Call{ID: "c_1", Ref: "same", Tool: "weather", Args: json.RawMessage(`{"city":"Paris"}`)},
				pawl.Call{ID: "c_2", Ref: "same", Tool: "weather", Args: json.RawMessage(`"{\"city\""`)},
				pawl.Call{ID: "c_3", Ref: "same", Tool: "the time!", Args: json.RawMessage(`{"a":1,"a":"\ud800"}`)},
				pawl.Thinking{Opaque: json.RawMessage(`{"type":"thinking","thinking":"last","signature":"s2"}`), Model: "anthropic/claude-sonnet-4-5"},
			),
			user(pawl.Text{Text: "By the way: hurry."}),
			user(
				pawl.ToolResult{Call: "c_1", Tool: "weather", Content: json.RawMessage(`{"sky":"blue"}`), Images: []pawl.Image{{Type: "image/png", Data: []byte("<html>")}, {Type: "image/jpeg", Data: dot}}},
				pawl.ToolResult{Call: "c_2", Tool: "weather", Content: json.RawMessage(`"arguments are not an object"`), Failed: true},
				pawl.ToolResult{Call: "c_3", Tool: "the time!", Content: json.RawMessage(`""`)},
			),
		},
		Sampling: pawl.Sampling{MaxTokens: 3000, ThinkingTokens: 4000, Temperature: 0.5},
	}},
	"output": {Request: pawl.Request{
		Messages: []pawl.Message{user(pawl.Text{Text: "Classify."})},
		Output:   json.RawMessage(`{"type":"object","properties":{"label":{"type":"string","maxLength":9}},"required":["label"]}`),
		Sampling: pawl.Sampling{Temperature: 0.2, Options: map[string]json.RawMessage{"top_k": json.RawMessage("5"), "metadata": json.RawMessage(`{"user_id":"u.1"}`)}},
	}},
	"adaptive": {model: "claude-opus-5", Request: pawl.Request{
		Messages: []pawl.Message{user(pawl.Text{Text: "Think."})},
		// An open object, which the API's format could not promise.
		Output:   json.RawMessage(`{"type":"object","properties":{"tags":{"type":"object"}}}`),
		Sampling: pawl.Sampling{ThinkingTokens: 2000},
	}},
	// The last result is empty and takes no mark; what is null is taken out.
	"marks": {Request: pawl.Request{
		Messages: []pawl.Message{
			user(pawl.Text{Text: "Go."}),
			assistant(pawl.Call{ID: "c_1", Tool: "now", Args: json.RawMessage(`{}`)}, pawl.Call{ID: "c_2", Tool: "now", Args: json.RawMessage(`{}`)}),
			user(pawl.ToolResult{Call: "c_1", Tool: "now", Content: json.RawMessage(`12`)}, pawl.ToolResult{Call: "c_2", Tool: "now", Content: json.RawMessage(`""`)}),
		},
		Tools:    []pawl.ToolInfo{{Name: "now"}},
		Sampling: pawl.Sampling{Temperature: 1, Options: map[string]json.RawMessage{"temperature": json.RawMessage("null")}},
	}},
	"owned": {Request: pawl.Request{
		Messages: []pawl.Message{user(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{Options: map[string]json.RawMessage{"max_tokens": json.RawMessage("9")}},
	}},
}

func TestWire(t *testing.T) {
	wiretest.Run(t, []string{"X-Api-Key", "Anthropic-Version", "Content-Type", "X-Stainless-Retry-Count"}, func(t *testing.T, url, name string) string {
		r, ok := requests[name]
		if !ok {
			t.Fatalf("no request is called %s", name)
		}
		if r.model == "" {
			r.model = "claude-sonnet-4-5"
		}
		m := anthropic.New(r.model, &anthropic.Options{APIKey: "key", BaseURL: url + "/"})
		return result(t, m, r.Request)
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
