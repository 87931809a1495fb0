package openai

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
	"github.com/pawl-run/pawl/model/internal/provider/wiretest"
)

// A sent is whatever of the two forms of a request is looked at.
type sent struct {
	Messages []struct {
		Role    string
		Content any
		Calls   []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
		CallID string `json:"tool_call_id"`
	}
	Input []struct {
		Type, Role, ID, Name, Arguments string
		CallID                          string `json:"call_id"`
		Content, Output                 any
	}
}

// pairs follows calls and results through a request.
type pairs struct {
	t    *testing.T
	seen map[string]bool
	open map[string]bool
}

func (p *pairs) call(id, name, args string) {
	if id == "" || p.seen[id] {
		p.t.Errorf("id %q is empty or there twice", id)
	}
	p.seen[id], p.open[id] = true, true
	if name != provider.Name(name) {
		p.t.Errorf("name %q", name)
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &object) != nil || object == nil || string(provider.Object([]byte(args))) != args {
		p.t.Errorf("arguments %q", args)
	}
}

func (p *pairs) result(id string) {
	if !p.open[id] {
		p.t.Errorf("a result of %q, which is not open", id)
	}
	delete(p.open, id)
}

func (p *pairs) other() {
	if len(p.open) > 0 {
		p.t.Errorf("no results of %v", p.open)
		clear(p.open)
	}
}

// says reports whether content is there and none of it is empty.
func says(content any) bool {
	switch c := content.(type) {
	case string:
		return strings.TrimSpace(c) != ""
	case []any:
		for _, e := range c {
			if doc := e.(map[string]any); doc["image_url"] == nil && !says(doc["text"]) {
				return false
			}
		}
		return len(c) > 0
	}
	return false
}

// Whatever stands in a log, a request made of it is one the provider takes.
func FuzzRequests(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Add([]byte{2, 0, 5, 2, 1, 2, 4, 0, 0, 2, 1, 2, 4, 0, 0, 2, 2, 2, 9, 0, 0, 1, 1, 12, 1, 0, 1})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, seed []byte) {
		d := &wiretest.Dice{Bytes: seed}
		r := pawl.Request{Messages: d.Conversation("openai/tiny", "openai-responses/tiny", "anthropic/tiny", ""), System: d.Text()}
		chat, err := New("tiny", nil).body(r, olderLimit)
		if err != nil {
			t.Fatal(err)
		}
		responses, err := NewResponses("tiny", nil).body(r, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range [][]byte{chat, responses} {
			var doc sent
			if err := json.Unmarshal(body, &doc); err != nil || !utf8.Valid(body) {
				t.Fatalf("%v in %q", err, body)
			}
			p := &pairs{t, map[string]bool{}, map[string]bool{}}
			for _, m := range doc.Messages {
				if m.Role == "tool" {
					p.result(m.CallID)
				} else {
					p.other()
				}
				for _, c := range m.Calls {
					p.call(c.ID, c.Function.Name, c.Function.Arguments)
				}
				if !says(m.Content) && (m.Content != nil || len(m.Calls) == 0) {
					t.Errorf("a message of %s says %q", m.Role, m.Content)
				}
			}
			led, ids := true, map[string]bool{}
			for _, it := range doc.Input {
				if it.ID != "" && ids[it.ID] {
					t.Errorf("item %s is there twice", it.ID)
				}
				ids[it.ID] = true
				leads := it.Type == "reasoning" || it.Type == "function_call" || it.Role == "assistant"
				if !led && !leads {
					t.Errorf("reasoning is followed by a %s of %s", it.Type, it.Role)
				}
				led = it.Type != "reasoning"
				switch it.Type {
				case "function_call":
					p.call(it.CallID, it.Name, it.Arguments)
				case "function_call_output":
					p.result(it.CallID)
					if !says(it.Output) {
						t.Errorf("output %q", it.Output)
					}
				case "message":
					if it.Role == "user" {
						p.other()
					}
					if !says(it.Content) {
						t.Errorf("a message says %q", it.Content)
					}
				}
			}
			p.other()
			if !led {
				t.Error("reasoning is the last item")
			}
		}
	})
}
