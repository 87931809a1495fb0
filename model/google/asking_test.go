package google_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/google"
)

// What a server does not know is left out in the same attempt and from then on, and the reply says
// so; what it calls wrong is not.
func TestWhatAServerDoesNotKnow(t *testing.T) {
	for name, c := range map[string]struct {
		refuses string // a field
		says    string
		note    string // of both replies; empty: the call fails
	}{
		"a level": {"thinkingLevel", "Thinking level is not supported for this model.",
			"generationConfig.thinkingConfig.thinkingLevel was left out, because the server refused it: Thinking level is not supported for this model."},
		"a budget": {"thinkingBudget", "Thinking budget is not supported for this model. Please use thinking level instead.",
			"generationConfig.thinkingConfig.thinkingBudget was left out, because the server refused it: Thinking budget is not supported for this model. Please use thinking level instead."},
		"thoughts": {"thinkingConfig", `Invalid JSON payload received. Unknown name "thinkingConfig" at 'generation_config': Cannot find field.`,
			`generationConfig.thinkingConfig was left out, because the server refused it: Invalid JSON payload received. Unknown name "thinkingConfig" at 'generation_config': Cannot find field.`},
		"a schema": {"responseJsonSchema", `Unknown name "responseJsonSchema" at 'generation_config': Cannot find field.`,
			`generationConfig.responseJsonSchema was left out, because the server refused it: Unknown name "responseJsonSchema" at 'generation_config': Cannot find field.`},
		"a wrong value": {"thinkingConfig", "The thinking budget 99 is invalid. Please choose a value between 512 and 24576.", ""},
		"a limit":       {"maxOutputTokens", "Unknown name \"maxOutputTokens\": Cannot find field.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sent, told := 0, false
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				told = strings.Contains(string(body), `final answer must be JSON that fits this schema, and nothing else:\n{\"type\":\"object\"}`)
				if sent++; strings.Contains(string(body), `"`+c.refuses+`"`) {
					w.WriteHeader(http.StatusBadRequest)
					said, _ := json.Marshal(c.says)
					fmt.Fprintf(w, `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":%s}}`, said)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, `data: {"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}`+"\n\n")
			}))
			defer srv.Close()
			m := google.New("gemini-4-hydrogen", &google.Options{APIKey: "key", BaseURL: srv.URL})
			r := pawl.Request{Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hi."})}, Sampling: pawl.Sampling{Effort: "low"}, Output: json.RawMessage(`{"type":"object"}`)}
			if c.refuses == "thinkingBudget" {
				r.Sampling = pawl.Sampling{Options: map[string]json.RawMessage{"thinkingConfig": json.RawMessage(`{"thinkingBudget":600}`)}}
			}
			for call, want := range []int{2, 3} {
				var notes []string
				var failed error
				for chunk, err := range m.Stream(t.Context(), r) {
					if failed = err; chunk.Reply != nil {
						notes = chunk.Reply.Notes
					}
				}
				if c.note == "" {
					if class(failed) != pawl.ClassInvalid || sent != 1 {
						t.Errorf("%v after %d requests", failed, sent)
					}
					return
				}
				if d := cmp.Diff([]string{c.note}, notes); d != "" || failed != nil || sent != want || told != (c.refuses == "responseJsonSchema") {
					t.Errorf("call %d: %v after %d requests (-want +got):\n%s", call, failed, sent, d)
				}
			}
		})
	}
}
