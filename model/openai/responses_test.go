package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/openai"
)

const mine = "openai/tiny"

func thought(opaque string) pawl.Thinking {
	return pawl.Thinking{Opaque: json.RawMessage(opaque), Model: mine}
}

// responsesRequests are what transcripts in testdata/responses ask for where
// they ask for something else than their namesakes in testdata.
var responsesRequests = map[string]pawl.Request{
	// A whole conversation, with all that has to be put right on its way.
	"history": {
		Messages: []pawl.Message{
			wiretest.User(pawl.Text{Text: "Look."}, pawl.File{Type: "image/png", Data: wiretest.Dot}),
			wiretest.Assistant(
				thought(`{"id": "rs_1", "type": "reasoning", "summary": [{"type":"summary_text","text":"<Hm>"}], "encrypted_content": "gAAA=="}`),
				thought(`{"id":"rs_2","type":"reasoning","summary":[],"encrypted_content":"gBBB"}`),
				pawl.Thinking{Opaque: json.RawMessage(`{"reasoning_content":"dropped"}`), Model: mine},
				pawl.Call{ID: "c_1", Ref: "same", Tool: "weather", Args: json.RawMessage(`{"city": "Paris"}`)},
				thought(`{"id":"rs_3","type":"reasoning","summary":[]}`),
				pawl.Call{ID: "c_2", Ref: "same", Tool: "weather", Args: json.RawMessage(`"{\"city\""`)},
				pawl.Call{ID: "c_3", Ref: "call_3", Tool: "the time!", Args: json.RawMessage(`{}`)},
			),
			wiretest.User(pawl.Text{Text: "By the way: hurry."}),
			wiretest.User(
				pawl.ToolResult{Call: "c_1", Tool: "weather", Content: json.RawMessage(`{"sky":"blue"}`), Images: []pawl.File{{Type: "image/png", Data: []byte("<html>")}, {Type: "image/jpeg", Data: wiretest.Dot}}},
				pawl.ToolResult{Call: "c_2", Tool: "weather", Content: json.RawMessage(`"arguments are not an object"`), Failed: true},
				pawl.ToolResult{Call: "c_3", Tool: "the time!", Content: json.RawMessage(`""`)},
			),
			wiretest.Assistant(
				thought(`{"id":"rs_4","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Plainly."}]}`),
				thought(`{"phase":"commentary"}`), pawl.Text{Text: "Blue, "}, pawl.Text{Text: " \n"},
			),
			wiretest.Assistant(thought(`{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"again"}`), pawl.Text{Text: "I say."}),
			wiretest.User(pawl.Text{Text: "Sure?"}),
			wiretest.Assistant(thought(`{"id":"rs_5","type":"reasoning","summary":[],"encrypted_content":"led to nothing"}`)),
			wiretest.User(pawl.Text{Text: " "}),
		},
		Sampling: pawl.Sampling{MaxTokens: 3000},
	},
	"output": {
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Classify."})},
		Output:   json.RawMessage(`{"type":"object","properties":{"label":{"type":"string"}}}`),
		Sampling: pawl.Sampling{Temperature: 0.2, Options: map[string]json.RawMessage{
			"include":          json.RawMessage("null"),
			"reasoning":        json.RawMessage(`{"summary":"auto","effort":"high"}`),
			"reasoning_effort": json.RawMessage(`"low"`),
			"text":             json.RawMessage(`{"verbosity":"low"}`),
		}},
	},
	"owned": {
		Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Hello"})},
		Sampling: pawl.Sampling{Options: map[string]json.RawMessage{"previous_response_id": json.RawMessage(`"resp_1"`)}},
	},
}

func TestResponsesWire(t *testing.T) {
	wiretest.Run(t, "testdata/responses", []string{"Authorization", "Content-Type", "Accept"}, func(url, name string) (pawl.Model, pawl.Request) {
		r, ok := responsesRequests[name]
		if !ok {
			r = requests[name]
		}
		return openai.New("tiny", &openai.Options{API: openai.Responses, APIKey: "key", BaseURL: url + "/v1/"}), r
	})
}

func TestOnlyReasoningModelsAreAskedForReasoning(t *testing.T) {
	for name, want := range map[string]bool{
		"gpt-5.2": true, "o9": true, "gpt-6.2-sol": true, "gpt-7": true, "house": true,
		"gpt-4x": false, "gpt-4.9-mini": false, "ft:gpt-4x:me": false, "chatgpt-4x-latest": false,
	} {
		s := &sent{}
		m := openai.New(name, &openai.Options{APIKey: "key", HTTPClient: &http.Client{Transport: s}})
		if err := last(t.Context(), m, requests["hello"]); class(err) != pawl.ClassNetwork {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := s.body["include"]; ok != want {
			t.Errorf("%s is asked for reasoning: %v", name, ok)
		}
	}
}

const whole = `data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Yes."}]}]}}` + "\n\n"

// A request that is refused for the reasoning it recalls goes once more without.
func TestReasoningThatIsRefusedIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		history pawl.Message
		refuse  string
		sent    []bool // whether requests have reasoning
		class   pawl.Class
	}{
		"unreadable":   {wiretest.Assistant(thought(`{"type":"reasoning","id":"rs_1","encrypted_content":"x"}`), pawl.Text{Text: "No."}), `{"error":{"code":"invalid_encrypted_content","message":"The encrypted content for item rs_1 could not be verified."}}`, []bool{true, false}, 0},
		"not found":    {wiretest.Assistant(thought(`{"type":"reasoning","id":"rs_1","encrypted_content":"x"}`), pawl.Text{Text: "No."}), `{"error":{"message":"Item with id 'rs_1' not found. Items are not persisted when store is set to false."}}`, []bool{true, false}, 0},
		"for others":   {wiretest.Assistant(thought(`{"type":"reasoning","id":"rs_1","encrypted_content":"x"}`), pawl.Text{Text: "No."}), `{"error":{"message":"Unknown parameter: 'x'."}}`, []bool{true}, pawl.ClassInvalid},
		"without some": {wiretest.Assistant(pawl.Text{Text: "No."}), `{"error":{"message":"encrypted content, though there is none"}}`, []bool{false}, pawl.ClassInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			var got []bool
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var body struct{ Input []struct{ Type string } }
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
					t.Error(err)
				}
				got = append(got, body.Input[1].Type == "reasoning")
				if len(got) == 1 {
					http.Error(w, c.refuse, http.StatusBadRequest)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				w.Write([]byte(whole))
			}))
			defer srv.Close()
			out := wiretest.Result(t, openai.New("tiny", &openai.Options{API: openai.Responses, APIKey: "key", BaseURL: srv.URL}), pawl.Request{
				Messages: []pawl.Message{wiretest.User(pawl.Text{Text: "Really?"}), c.history, wiretest.User(pawl.Text{Text: "Why?"})},
			})
			if d := cmp.Diff(c.sent, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if c.class == 0 && !strings.Contains(out, `text "Yes."`) || c.class != 0 && !strings.Contains(out, "error "+c.class.String()) {
				t.Errorf("%s", out)
			}
		})
	}
}
