package openai

import (
	"io"
	"testing"

	"github.com/pawl-run/pawl"
)

func FuzzTurn(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"n","arguments":"{}"}}]}}]}`, `{"choices":[{"finish_reason":"tool_calls"}],"usage":{}}`)
	f.Add(`{"error":{"code":"502"}}`, `[DONE]`)
	f.Add(`[{"error":"x"}]`, `{"detail":[]}`)
	f.Add(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"text":"a"}]},"b"],"reasoning_details":[{"type":"reasoning.text","index":0,"text":"a"}]}}]}`, `{"choices":[{"message":{"tool_calls":[{"id":1,"function":{"name":"n","arguments":{}}}]},"finish_reason":"STOP","usage":{"prompt_tokens":"7","total_tokens":-1}}]}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		tn := &turn{}
		for _, data := range []string{first, second} {
			if _, err := tn.Event([]byte(data)); err != nil {
				classify(&pawl.ModelError{}, 0, []byte(data))
				return
			}
		}
		if !tn.Ends(io.EOF) {
			return
		}
		r, err := tn.Reply()
		if (r == nil) == (err == nil) {
			t.Errorf("reply %v with error %v", r, err)
		}
	})
}

func FuzzResponse(f *testing.F) {
	f.Add(`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"a","name":"n"}}`, `{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"a","name":"n","arguments":"{}"}}`, `{"type":"response.completed","response":{"status":"completed","output":[{"type":"message"}]}}`)
	f.Add(`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.refusal.delta","delta":"a"}`, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`)
	f.Add(`{"type":"error"}`, `{"error":{"code":"502"}}`, `{"type":"response.failed","response":{"error":null}}`)
	f.Fuzz(func(t *testing.T, first, second, third string) {
		r := &response{}
		for _, data := range []string{first, second, third} {
			if _, err := r.Event([]byte(data)); err != nil {
				classify(&pawl.ModelError{}, 0, []byte(data))
				return
			}
		}
		if !r.Ends(nil) {
			return
		}
		reply, err := r.Reply()
		if (reply == nil) == (err == nil) {
			t.Errorf("reply %v with error %v", reply, err)
		}
		if reply != nil && r.status == "incomplete" && reply.Stop != pawl.StopLength && reply.Stop != pawl.StopRefusal {
			t.Errorf("an incomplete response stops as %v", reply.Stop)
		}
	})
}
