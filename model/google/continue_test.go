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
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
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
				reply, failed := modeltest.Ask(t, m, r)
				if c.note == "" {
					if class(failed) != pawl.ClassInvalid || sent != 1 {
						t.Errorf("%v after %d requests", failed, sent)
					}
					return
				}
				if d := cmp.Diff([]string{c.note}, reply.Notes); d != "" || failed != nil || sent != want || told != (c.refuses == "responseJsonSchema") {
					t.Errorf("call %d: %v after %d requests (-want +got):\n%s", call, failed, sent, d)
				}
			}
		})
	}
}

// A reply that comes in several responses is one reply of one attempt: its text is joined, its
// usage is the sum, and each request after the first is the same with the token and what is left
// of the limit, from which it takes what it reads again.
func TestContinuation(t *testing.T) {
	event := func(text, finish, token string, prompt, answer int) string {
		c := map[string]any{"content": map[string]any{"role": "model", "parts": []any{map[string]any{"text": text}}}}
		if finish != "" {
			c["finishReason"] = finish
		}
		if token != "" {
			c["continuationToken"] = token
		}
		doc, _ := json.Marshal(map[string]any{"candidates": []any{c}, "usageMetadata": map[string]any{
			"promptTokenCount": prompt, "candidatesTokenCount": answer, "cachedContentTokenCount": prompt / 2, "thoughtsTokenCount": 1,
		}})
		return "data: " + string(doc) + "\r\n\r\n"
	}
	for name, c := range map[string]struct {
		max       int
		responses []string // those that begin with a status are errors
		want      string
		asked     string // the token and the limit of each request
	}{
		"two responses": {1000, []string{
			event("One, ", "", "", 100, 5) + event("two, ", "CONTINUATION", "YQ==", 100, 9), event("three.", "STOP", "", 110, 4),
		}, "end: One, two, three. | in 210, out 15, read 105, thought 2", " 1000, YQ== 890"},
		"three, one of which says nothing": {1000, []string{
			event("One, ", "CONTINUATION", "YQ==", 100, 9), event("", "CONTINUATION", "Yg==", 110, 0), event("two.", "STOP", "", 111, 4),
		}, "end: One, two. | in 321, out 16, read 160, thought 3", " 1000, YQ== 890, Yg== 779"},
		"a token before the end": {1000, []string{
			event("One, ", "", "YQ==", 100, 9) + event("two, ", "CONTINUATION", "", 100, 19), event("three.", "STOP", "", 120, 4),
		}, "end: One, two, three. | in 220, out 25, read 110, thought 2", " 1000, YQ== 880"},
		"the stream ends at a token": {1000, []string{
			event("One, ", "", "YQ==", 100, 9), event("two.", "STOP", "", 110, 4),
		}, "end: One, two. | in 210, out 15, read 105, thought 2", " 1000, YQ== 890"},
		"a call at the end": {1000, []string{
			event("One, ", "CONTINUATION", "YQ==", 100, 9),
			`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"now","args":{}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":110}}` + "\n\n",
		}, "calls: One,  now | in 210, out 10, read 50, thought 1", " 1000, YQ== 890"},
		"no token":                  {1000, []string{event("One, ", "CONTINUATION", "", 100, 9)}, "length: One,  | in 100, out 10, read 50, thought 1", " 1000"},
		"the same token again":      {1000, []string{event("One, ", "CONTINUATION", "YQ==", 100, 9), event("two, ", "CONTINUATION", "YQ==", 110, 9)}, "length: One, two,  | in 210, out 20, read 105, thought 2", " 1000, YQ== 890"},
		"a limit met with a token":  {1000, []string{event("One, ", "MAX_TOKENS", "YQ==", 100, 999)}, "length: One,  | in 100, out 1000, read 50, thought 1", " 1000"},
		"too little left to go on":  {110, []string{event("One, ", "CONTINUATION", "YQ==", 100, 9)}, "length: One,  | in 100, out 10, read 50, thought 1", " 110"},
		"a filter in the second":    {1000, []string{event("One, ", "CONTINUATION", "YQ==", 100, 9), event("two, ", "SAFETY", "", 110, 4)}, "refusal (SAFETY): One, two,  | in 210, out 15, read 105, thought 2", " 1000, YQ== 890"},
		"a blocked second":          {1000, []string{event("One, ", "CONTINUATION", "YQ==", 100, 9), `data: {"promptFeedback":{"blockReason":"OTHER"}}` + "\n\n"}, "refusal (OTHER): One,  | in 100, out 10, read 50, thought 1", " 1000, YQ== 890"},
		"a second that is refused":  {1000, []string{event("One, ", "CONTINUATION", "YQ==", 100, 9), `503 {"error":{"code":503,"status":"UNAVAILABLE","message":"later"}}`}, "overloaded | in 100, out 10, read 50, thought 1", " 1000, YQ== 890"},
		"a second that breaks off":  {1000, []string{event("One, ", "CONTINUATION", "YQ==", 100, 9), event("two, ", "", "", 110, 4)}, "truncated | in 210, out 15, read 105, thought 2", " 1000, YQ== 890"},
		"nothing but a token, ever": {30, []string{event("", "CONTINUATION", "YQ==", 100, 9)}, "empty | in 100, out 10, read 50, thought 1", " 30"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var doc struct {
					Token  string `json:"continuationToken"`
					Config struct {
						Max int `json:"maxOutputTokens"`
					} `json:"generationConfig"`
					Contents json.RawMessage
				}
				if err := json.NewDecoder(r.Body).Decode(&doc); err != nil || !strings.Contains(string(doc.Contents), "Count.") || strings.Contains(string(doc.Contents), "model") {
					t.Errorf("sent %s, %v", doc.Contents, err)
				}
				asked = append(asked, fmt.Sprintf("%s %d", doc.Token, doc.Config.Max))
				if len(asked) > len(c.responses) {
					t.Fatalf("a request too many: %q", asked)
				}
				text := c.responses[len(asked)-1]
				if rest, refused := strings.CutPrefix(text, "503 "); refused {
					w.WriteHeader(http.StatusServiceUnavailable)
					text = rest
				} else {
					w.Header().Set("Content-Type", "text/event-stream")
				}
				io.WriteString(w, text)
			}))
			defer srv.Close()
			m := google.New("gemini-4-argon", &google.Options{APIKey: "key", BaseURL: srv.URL})
			got, shown := "", ""
			usage := func(u pawl.Usage) string {
				return fmt.Sprintf(" | in %d, out %d, read %d, thought %d", u.Input, u.Output, u.CacheRead, u.Reasoning)
			}
			for chunk, err := range m.Stream(t.Context(), pawl.Request{Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Count."})}, MaxTokens: c.max}) {
				shown += chunk.Text
				switch me, failed := err.(*pawl.ModelError); {
				case failed:
					got = me.Class.String() + usage(me.Usage)
				case chunk.Reply != nil:
					r := chunk.Reply
					got = r.Stop.String()
					if r.Filter != "" {
						got += " (" + r.Filter + ")"
					}
					got += ": " + r.Text()
					for _, p := range r.Parts {
						if call, is := p.(pawl.Call); is {
							got += " " + call.Tool
						}
					}
					if got += usage(r.Usage); shown != r.Text() {
						t.Errorf("it streamed %q", shown)
					}
				}
			}
			if d := cmp.Diff([]string{c.want, c.asked}, []string{got, strings.Join(asked, ", ")}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
