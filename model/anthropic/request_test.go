package anthropic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/canon"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/internal/provider"
	"github.com/pawl-run/pawl/model/internal/provider/wiretest"
)

// body keeps the body of a request and sends nothing.
type body struct{ sent []byte }

func (b *body) RoundTrip(r *http.Request) (*http.Response, error) {
	b.sent, _ = io.ReadAll(r.Body)
	return nil, io.EOF
}

// A block is what is looked at of a block.
type block struct {
	Type, Text, ID, Name, Thinking, Signature, Data string

	Input   json.RawMessage
	Result  string          `json:"tool_use_id"`
	Mark    json.RawMessage `json:"cache_control"`
	Content []block
	Source  struct {
		Type string `json:"media_type"`
		Data string
	}
}

// checked looks at a turn: its calls, and the results of the turn before.
func checked(t *testing.T, role string, blocks []block, open, seen map[string]bool) (marks int) {
	t.Helper()
	if len(blocks) == 0 {
		t.Errorf("a message of %s says nothing", role)
		return 0
	}
	for i, b := range blocks {
		if b.Mark != nil {
			marks++
		}
		switch b.Type {
		case "text":
			if strings.TrimSpace(b.Text) == "" {
				t.Errorf("an empty text, marked: %v", b.Mark != nil)
			}
		case "tool_use":
			if b.ID == "" || seen[b.ID] || strings.Trim(b.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
				t.Errorf("id %q", b.ID)
			}
			seen[b.ID], open[b.ID] = true, true
			if b.Name != provider.Name(b.Name) || string(provider.Object(b.Input)) != string(b.Input) {
				t.Errorf("call of %q with %s", b.Name, b.Input)
			}
		case "tool_result":
			if !open[b.Result] || i > 0 && blocks[i-1].Type != "tool_result" {
				t.Errorf("a result of %q that is not open, or not first", b.Result)
			}
			delete(open, b.Result)
			if b.Mark != nil && len(b.Content) == 0 {
				t.Error("a mark on an empty result")
			}
			for _, c := range b.Content {
				if c.Type == "text" && strings.TrimSpace(c.Text) == "" {
					t.Error("an empty text in a result")
				}
			}
		case "thinking", "redacted_thinking":
			if b.Signature+b.Data == "" || b.Mark != nil || i == len(blocks)-1 || role != "assistant" {
				t.Errorf("thinking %+v out of place", b)
			}
		case "image":
			if b.Source.Type != "image/png" || b.Source.Data == "" {
				t.Errorf("image %+v", b.Source)
			}
		default:
			if role != "assistant" || b.Type == "" {
				t.Errorf("a block of type %q in a message of %s", b.Type, role)
			}
		}
	}
	return marks
}

// Whatever stands in a log, a request made of it is one the API takes.
func FuzzRequests(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Add([]byte{2, 0, 5, 2, 1, 2, 4, 0, 0, 2, 1, 2, 4, 0, 0, 2, 2, 2, 9, 0, 0, 1, 1, 12, 1, 0, 1})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, seed []byte) {
		d := &wiretest.Dice{Bytes: seed}
		r := pawl.Request{Messages: d.Conversation("anthropic/claude-sonnet-4-5", "openai/tiny", ""), System: d.Text(), MaxTokens: 2000, Sampling: pawl.Sampling{ThinkingTokens: 1500 * d.Roll(2)}}
		b := &body{}
		m := anthropic.New("claude-sonnet-4-5", &anthropic.Options{APIKey: "key", BaseURL: "http://127.0.0.1:1", HTTPClient: &http.Client{Transport: b}})
		for _, err := range m.Stream(t.Context(), r) {
			if class(err) != pawl.ClassNetwork {
				t.Fatal(err)
			}
		}
		var doc struct {
			System, Tools []block
			Messages      []struct {
				Role    string
				Content []block
			}
		}
		if err := json.Unmarshal(b.sent, &doc); err != nil || !utf8.Valid(b.sent) {
			t.Fatalf("%v in %q", err, b.sent)
		}
		if doc.Messages[0].Role != "user" || doc.Messages[len(doc.Messages)-1].Role != "user" {
			t.Error("the user does not begin and end")
		}
		open, seen, marks := map[string]bool{}, map[string]bool{}, 0
		if len(doc.System) > 0 {
			marks += checked(t, "system", doc.System, open, seen)
		}
		for i, msg := range doc.Messages {
			if i > 0 && doc.Messages[i-1].Role == msg.Role {
				t.Errorf("message %d is another one of %s", i, msg.Role)
			}
			if msg.Role == "assistant" && len(open) > 0 {
				t.Errorf("message %d comes before results of %v", i, open)
			}
			marks += checked(t, msg.Role, msg.Content, open, seen)
			if msg.Role == "user" && len(open) > 0 {
				t.Errorf("message %d has no results of %v", i, open)
			}
		}
		if marks > 4 {
			t.Errorf("%d marks", marks)
		}
		names := map[string]bool{}
		for _, tool := range doc.Tools {
			if tool.Name != provider.Name(tool.Name) || names[tool.Name] {
				t.Errorf("tool %q", tool.Name)
			}
			names[tool.Name] = true
		}
		if len(seen) > 0 && len(doc.Tools) == 0 {
			t.Error("calls, and no tools")
		}
	})
}

// A schema goes in the form that the API promises to keep to, or not at all.
func TestOutputSchemas(t *testing.T) {
	const object = `{"type":"object","required":["x"],"properties":{"x":%s}}`
	for schema, want := range map[string]string{
		`{"type":"string","maxLength":9,"format":"date","pattern":"^<"}`:             `{"type":"string","format":"date","pattern":"^<","description":"{maxLength: 9}"}`,
		`{"type":"string","description":"A word.","format":"word","default":"a"}`:    `{"type":"string","description":"A word.\n\n{default: a, format: word}"}`,
		`{"type":"integer","maximum":9007199254740993,"examples":[1,"b"]}`:           `{"type":"integer","description":"{examples: [1,\"b\"], maximum: 9007199254740993}"}`,
		`{"type":"array","items":{"type":"number","minimum":0},"minItems":2}`:        `{"type":"array","items":{"type":"number","description":"{minimum: 0}"},"description":"{minItems: 2}"}`,
		`{"oneOf":[{"const":1},{"type":"array","items":{"enum":[1]},"minItems":1}]}`: `{"anyOf":[{"const":1},{"type":"array","items":{"enum":[1]},"minItems":1}]}`,
		`{"type":"object","properties":{"y":true},"minProperties":1}`:                `{"type":"object","properties":{"y":true},"additionalProperties":false,"description":"{minProperties: 1}"}`,

		`{"type":"object"}`: "", `{"type":"object","properties":{"y":true},"additionalProperties":true}`: "",
		`{"type":["string","null"]}`: "", `{"description":"anything"}`: "", `{"$ref":"#"}`: "", `{"type":"array","items":{"type":"object"}}`: "",
	} {
		b := &body{}
		m := anthropic.New("claude-sonnet-4-5", &anthropic.Options{APIKey: "key", HTTPClient: &http.Client{Transport: b}})
		for range m.Stream(t.Context(), pawl.Request{Output: fmt.Appendf(nil, object, schema)}) {
		}
		var doc struct {
			Config *struct {
				Format struct {
					Schema struct{ Properties struct{ X any } }
				}
			} `json:"output_config"`
		}
		if err := json.Unmarshal(b.sent, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Config == nil || want == "" {
			if (doc.Config == nil) != (want == "") {
				t.Errorf("%s is sent: %v", schema, doc.Config != nil)
			}
			continue
		}
		if got := provider.Marshal(doc.Config.Format.Schema.Properties.X); !canon.Equal(got, []byte(want)) {
			t.Errorf("%s is sent as\n%s, want\n%s", schema, got, want)
		}
	}
}
