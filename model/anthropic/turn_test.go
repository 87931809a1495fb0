package anthropic

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// Whatever the events of a stream are, they make a reply or an error, and the
// reply can be sent back.
func FuzzTurn(f *testing.F) {
	const start, stop = `{"type":"message_start","message":{"usage":{"input_tokens":1}}}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}`
	f.Add(start, `{"type":"content_block_start","content_block":{"type":"tool_use","id":"a","name":"n","input":{"x":1}}}`, `{"type":"content_block_stop"}`, stop)
	f.Add(start, `{"type":"content_block_start","content_block":{"type":"thinking","signature":"s","new":1}}`, `{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"t"}}`, stop)
	f.Add(start, `{"type":"content_block_start","index":"x","content_block":[7]}`, `{"type":"error","error":7}`, `{"type":"odd","index":"x"}`)
	f.Add(start, `{"type":"content_block_start","content_block":{"type":["text"]}}`, `{"type":"ping","usage":7}`, `{"type":"message_delta","usage":{"output_tokens":-1},"delta":{"stop_reason":"max_tokens"}}`)
	f.Fuzz(func(t *testing.T, one, two, three, four string) {
		m := New("claude-sonnet-5-5", &Options{APIKey: "key"})
		tn := &turn{}
		tn.Model = m.server.Full
		for _, data := range []string{one, two, three, four, `{"type":"message_stop"}`} {
			if _, err := tn.Event([]byte(data)); err != nil {
				classify(&pawl.ModelError{}, 0, []byte(data))
				return
			}
		}
		r, err := tn.Reply()
		if (r == nil) == (err == nil) {
			t.Fatalf("reply %v with error %v", r, err)
		}
		if r == nil {
			return
		}
		req, _, err := m.call(pawl.Request{Messages: []pawl.Message{{Role: pawl.RoleAssistant, Parts: r.Parts}}}).body()
		if err == nil {
			_, err = provider.JSON(req)
		}
		if err != nil {
			t.Errorf("%+v cannot go back: %v", r.Parts, err)
		}
	})
}
