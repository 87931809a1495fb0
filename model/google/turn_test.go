package google

import (
	"encoding/json"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// sent is what goes back of a reply, as one content.
func sent(t *testing.T, m *Model, r *pawl.Reply) string {
	t.Helper()
	raw, err := json.Marshal(m.contents([]pawl.Message{{Role: pawl.RoleAssistant, Parts: r.Parts}})[:1])
	must(t, err)
	return string(raw)
}

func FuzzTurn(f *testing.F) {
	f.Add(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"YQ=="}]}}]}`, `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{}}`)
	f.Add(`{"candidates":[{"content":{"parts":[{"text":"a","thought":true},{"text":" ","x":1},null,{}]}}]}`, `{"candidates":[{"finishReason":"SAFETY"}]}`)
	f.Add(`{"error":{"code":429,"details":[{"retryDelay":"1s","violations":[{}]}]}}`, `{"promptFeedback":{"blockReason":"OTHER"}}`)
	f.Add(`{"candidates":[{"content":{"parts":[{"text":"a b"}]},"citationMetadata":{"citations":[{"endIndex":2,"uri":"x"}]},"continuationToken":"YQ=="}],"usageMetadata":{"promptTokenCount":1}}`,
		`{"candidates":[{"groundingMetadata":{"webSearchQueries":["q"],"groundingChunks":[{"web":{"uri":"x"}},7],"groundingSupports":[{"groundingChunkIndices":[0,1,-1],"segment":{"text":"b"}}]},"finishReason":"STOP"}]}`)
	f.Add(`[{"error":"x"}]`, `{"candidates":[{"content":{"parts":[{"functionCall":[]}]}}]}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		m := New("gemini-4-hydrogen", &Options{APIKey: "key"})
		tn := &turn{Turn: provider.Turn{Model: m.server.Full, Limit: 1000}, again: func(token string, limit int) ([]byte, error) {
			if limit <= 0 || token == "" {
				t.Fatalf("asked to go on with %q and %d tokens", token, limit)
			}
			body, _, err := m.body(pawl.Request{MaxTokens: limit}, token, m.server.Lessons())
			return body, err
		}}
		for _, data := range []string{first, second} {
			if _, err := tn.Event([]byte(data)); err != nil {
				classify(&pawl.ModelError{}, 0, []byte(data))
				return
			}
			if _, err := tn.Continue(); err != nil {
				t.Fatal(err)
			}
		}
		r, err := tn.Reply()
		if (r == nil) == (err == nil) {
			t.Fatalf("reply %v with error %v", r, err)
		}
		if r != nil {
			sent(t, m, r)
		}
	})
}
