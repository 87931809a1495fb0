package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider"
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
		`{"phase":"commentary"}`, `{"phase":7,"type":[]}`, `{"reasoning_content":"Hm"}`, `{"type":"thinking","thinking":"Hm","signature":"s"}`,
	}
	return json.RawMessage(raws[d.roll(len(raws))])
}

func (d *dice) images() (list []pawl.Image) {
	png, _ := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
	for range d.roll(3) {
		data := [][]byte{png, png[:30], nil, []byte("<svg/>")}[d.roll(4)]
		list = append(list, pawl.Image{Type: []string{"image/png", "", "image/svg+xml", "\xff"}[d.roll(4)], Data: data})
	}
	return list
}

// conversation is one whose calls are answered in the user's turn that follows,
// as those of a log are, and anything else in it is what an entry can hold.
func (d *dice) conversation() (msgs []pawl.Message) {
	n := 0
	models := []string{"openai/tiny", "openai-responses/tiny", "anthropic/tiny", ""}
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
		d := &dice{seed}
		r := pawl.Request{Messages: d.conversation(), System: d.text()}
		chat, _, err := New("tiny", nil).body(r, olderLimit)
		if err != nil {
			t.Fatal(err)
		}
		responses, _, _, err := NewResponses("tiny", nil).body(r, true)
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
