package openai

import "testing"

func FuzzTurn(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"n","arguments":"{}"}}]}}]}`, `{"choices":[{"finish_reason":"tool_calls"}],"usage":{}}`)
	f.Add(`{"error":{"code":"502"}}`, `[DONE]`)
	f.Add(`[{"error":"x"}]`, `{"detail":[]}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		tn := &turn{}
		for _, data := range []string{first, second} {
			if _, err := tn.on([]byte(data)); err != nil {
				return
			}
		}
		if tn.state == writing {
			return
		}
		r, err := tn.reply()
		if (r == nil) == (err == nil) {
			t.Errorf("reply %v with error %v", r, err)
		}
	})
}
