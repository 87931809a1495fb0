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
	"github.com/pawl-run/pawl/internal/provider"
	"github.com/pawl-run/pawl/model/anthropic"
)

// A dice makes a conversation of bytes.
type dice struct{ bytes []byte }

func (d *dice) roll(n int) int {
	if len(d.bytes) == 0 {
		return 0
	}
	v := int(d.bytes[0]) % n
	d.bytes = d.bytes[1:]
	return v
}

func (d *dice) text() string {
	texts := []string{"", " \n", "text", "\xff\xc3", "\xed\xa0\x80", "a\x00b", "\u2028<&>", string(d.bytes[:min(9, len(d.bytes))])}
	return texts[d.roll(len(texts))]
}

func (d *dice) raw() json.RawMessage {
	raws := []string{
		`{}`, `{"a":1,"a":[2]}`, `[1]`, `null`, `"{\"city\""`, `{"s":"\ud800"}`, `"\udc00"`, `""`, `1e999`, "{\"x\":\"\xff\"}", ``, `{`,
		`{"type":"reasoning","id":"rs_1","encrypted_content":"x","summary":[]}`, `{"type":"reasoning","id":"rs_2","summary":[]}`,
		`{"phase":"commentary"}`, `{"phase":7,"type":[]}`, `{"reasoning_content":"Hm"}`, `{"type":"thinking","thinking":"Hm","signature":"s"}`, `{"type":"thinking","thinking":"cut off"}`, `{"type":"redacted_thinking","data":"x"}`,
	}
	return json.RawMessage(raws[d.roll(len(raws))])
}

func (d *dice) images() (list []pawl.Image) {
	for range d.roll(3) {
		data := [][]byte{dot, dot[:30], nil, []byte("<svg/>")}[d.roll(4)]
		list = append(list, pawl.Image{Type: []string{"image/png", "", "image/svg+xml", "\xff"}[d.roll(4)], Data: data})
	}
	return list
}

// conversation is one whose calls are answered in the user's turn that follows,
// as those of a log are, and anything else in it is what an entry can hold.
func (d *dice) conversation() (msgs []pawl.Message) {
	n := 0
	models := []string{"anthropic/claude-sonnet-4-5", "openai/tiny", ""}
	for len(d.bytes) > 0 && len(msgs) < 40 {
		ask := pawl.Message{Role: pawl.User, Parts: []pawl.Part{pawl.Text{Text: d.text()}}}
		for _, i := range d.images() {
			ask.Parts = append(ask.Parts, i)
		}
		said, did := pawl.Message{Role: pawl.Assistant}, pawl.Message{Role: pawl.User}
		for range d.roll(6) {
			switch d.roll(3) {
			case 0:
				said.Parts = append(said.Parts, pawl.Text{Text: d.text()})
			case 1:
				said.Parts = append(said.Parts, pawl.Thinking{Text: d.text(), Opaque: d.raw(), Model: models[d.roll(len(models))]})
			case 2:
				n++
				refs := []string{"", "same", "c_1", "c_" + fmt.Sprint(n+1), strings.Repeat("x", 70), "\xff"}
				c := pawl.Call{ID: "c_" + fmt.Sprint(n), Ref: refs[d.roll(len(refs))], Tool: d.text(), Args: d.raw()}
				said.Parts = append(said.Parts, c)
				did.Parts = append(did.Parts, pawl.ToolResult{Call: c.ID, Ref: c.Ref, Tool: c.Tool, Content: d.raw(), Failed: d.roll(2) == 1, Images: d.images()})
			}
		}
		if d.roll(2) == 1 {
			did.Parts = append([]pawl.Part{pawl.Text{Text: d.text()}}, did.Parts...)
		}
		msgs = append(msgs, ask, said)
		if len(did.Parts) > 0 {
			msgs = append(msgs, did)
		}
	}
	return append(msgs, pawl.Message{Role: pawl.User, Parts: []pawl.Part{pawl.Text{Text: d.text()}}})
}

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
		d := &dice{seed}
		r := pawl.Request{Messages: d.conversation(), System: d.text(), MaxTokens: 2000, Sampling: pawl.Sampling{ThinkingTokens: 1500 * d.roll(2)}}
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
