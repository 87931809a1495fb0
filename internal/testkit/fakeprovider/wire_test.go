package fakeprovider

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/model/script"
)

// serve starts a server that ends with its test.
func serve(t testing.TB, brain pawl.Model, o *Options) (*Server, string) {
	fake := New(brain, o)
	srv := httptest.NewServer(fake)
	t.Cleanup(func() {
		fake.Close()
		srv.CloseClientConnections()
		srv.Close()
	})
	return fake, srv.URL
}

// lookup is a reply with all that a reply may have.
func lookup() pawl.Reply {
	return pawl.Reply{
		Parts: []pawl.Part{
			pawl.Thinking{Text: "They want the weather, for which there is a tool."},
			pawl.Text{Text: "I look: «é漢🙂»."},
			pawl.Call{Tool: "weather", Args: json.RawMessage(`{"city":"Paris","<unit>":"C"}`)},
			pawl.Call{Tool: "now", Args: json.RawMessage(`{}`)},
		},
		Usage: pawl.Usage{Input: 120, Output: 30, CacheRead: 100, CacheWrite: 15, Reasoning: 10},
	}
}

// dot is a picture of one pixel.
func dot() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// asked is a first request, and answered the one that follows lookup.
func asked() pawl.Request {
	return pawl.Request{
		System:    "Be brief.",
		Messages:  []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "Weather?"}, pawl.File{Type: "image/png", Data: dot()}}}},
		Tools:     []pawl.ToolInfo{{Name: "weather", Description: "Tells it.", Input: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}, {Name: "now"}},
		MaxTokens: 4000,
		Sampling:  pawl.Sampling{Effort: "high"},
	}
}

func answered(first *pawl.Reply) pawl.Request {
	r := asked()
	reply := pawl.Message{Role: pawl.RoleAssistant}
	results := pawl.Message{Role: pawl.RoleUser}
	for i, p := range first.Parts {
		if c, ok := p.(pawl.Call); ok {
			c.ID = "c_" + string(rune('0'+i))
			p = c
			results.Parts = append(results.Parts, pawl.ToolResult{Call: c.ID, Ref: c.Ref, Tool: c.Tool, Content: json.RawMessage(`"fine"`)})
		}
		reply.Parts = append(reply.Parts, p)
	}
	r.Messages = append(r.Messages, reply, results)
	return r
}

// last is the reply of a model, or its error.
func last(ctx context.Context, m pawl.Model, r pawl.Request) (*pawl.Reply, error) {
	var reply *pawl.Reply
	for c, err := range m.Stream(ctx, r) {
		if err != nil {
			return nil, err
		}
		reply = c.Reply
	}
	return reply, nil
}

func models(url string) map[Wire]pawl.Model {
	return map[Wire]pawl.Model{
		Anthropic: anthropic.New("claude-sonnet-5-5", &anthropic.Options{BaseURL: url, APIKey: "k"}),
		Chat:      openai.New("house", &openai.Options{BaseURL: url + "/v1", APIKey: "k"}),
		Responses: openai.New("gpt-6.2-sol", &openai.Options{API: openai.Responses, BaseURL: url + "/v1", APIKey: "k"}),
		Google:    google.New("gemini-4-hydrogen", &google.Options{BaseURL: url, APIKey: "k"}),
	}
}

// TestReplay sends back what came, and then with a change in it, which the
// adapters would not do.
func TestReplay(t *testing.T) {
	for w, c := range map[Wire]struct { // of Claude, a model that thinks by a budget: it asks for more
		where            []any // the thinking, its parent and its key
		changed, without string
	}{
		Anthropic: {
			[]any{"messages", 1, "content"}, "messages.1.content.0: Invalid `signature` in `thinking` block",
			"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
		},
		Chat: {
			[]any{"messages", 2}, "The `reasoning_content` field in the assistant message at message index 2 is not the one that was sent.",
			"Missing `reasoning_content` field in the assistant message at message index 2.",
		},
	} {
		fake, url := serve(t, script.Replies(lookup(), pawl.Say("Blue.")), nil)
		m := models(url)[w]
		if w == Anthropic {
			m = anthropic.New("claude-haiku-4-5", &anthropic.Options{BaseURL: url, APIKey: "k"})
		}
		first, err := last(t.Context(), m, asked())
		if err != nil {
			t.Fatal(err)
		}
		second, err := last(t.Context(), m, answered(first))
		if err != nil || second.Text() != "Blue." {
			t.Errorf("%v: %v, %v", w, second, err)
		}
		if p := fake.Problems(); len(p) > 0 {
			t.Fatalf("%v: %q", w, p)
		}
		sent := fake.Requests()
		body := sent[len(sent)-1].Body
		again := func(change func(doc map[string]any)) string {
			var doc map[string]any
			if err := json.Unmarshal(body, &doc); err != nil {
				t.Fatal(err)
			}
			change(doc)
			edited, _ := json.Marshal(doc)
			res, text := send(t, url, paths[w], string(edited))
			if res.StatusCode != http.StatusBadRequest {
				t.Errorf("%v: status %d", w, res.StatusCode)
			}
			return text
		}
		text := again(func(doc map[string]any) {
			switch had := dig(doc, c.where...).(type) {
			case []any:
				had[0].(map[string]any)["thinking"] = "Something else."
			case map[string]any:
				had["reasoning_content"] = "Something else."
			}
		})
		if !strings.Contains(text, c.changed) {
			t.Errorf("%v: %s", w, text)
		}
		text = again(func(doc map[string]any) {
			switch had := dig(doc, c.where...).(type) {
			case []any:
				dig(doc, c.where[:2]...).(map[string]any)["content"] = had[1:]
			case map[string]any:
				delete(had, "reasoning_content")
			}
		})
		if !strings.Contains(text, c.without) {
			t.Errorf("%v: %s", w, text)
		}
	}
	// Another server with the same seed knows the signatures; with another seed not.
	a, b, c := newMemory(1), newMemory(1), newMemory(2)
	if s := a.sign("x"); !b.signedFor(s, "x") || b.signedFor(s, "y") || c.signedFor(s, "x") {
		t.Error("signatures do not follow from the seed and the text alone")
	}
}

// A head is a response without its body.
type head struct {
	StatusCode int
	Header     http.Header
}

// send calls a wire that has no adapter, or does it by hand.
func send(t testing.TB, url, path, body string, header ...string) (head, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return head{res.StatusCode, res.Header}, string(text)
}

func dig(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p < 0 {
				p += len(l)
			}
			if p < 0 || p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}
