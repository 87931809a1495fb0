package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/openai"
)

// A refuser is a server that answers a request with the first refusal whose condition holds.
type refuser struct {
	t    *testing.T
	when []func(path string, body map[string]any) (refusal string)
	came []string // the paths and the fields of interest
	show []string
}

const finished = `data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"

func (s *refuser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		s.t.Error(err)
	}
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	line := path
	for _, name := range s.show {
		if v, ok := body[name]; ok {
			b, _ := json.Marshal(v)
			line += " " + name + "=" + string(b)
		}
	}
	s.came = append(s.came, line)
	for _, f := range s.when {
		if refusal := f(path, body); refusal != "" {
			w.Header().Set("Content-Type", "application/json")
			status := http.StatusBadRequest
			if strings.HasPrefix(refusal, "404") {
				status, refusal = http.StatusNotFound, refusal[3:]
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, refusal)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if path == "responses" {
		_, _ = io.WriteString(w, whole)
	} else {
		_, _ = io.WriteString(w, finished)
	}
}

// has refuses requests that have a field, within objects too.
func has(field, refusal string) func(string, map[string]any) string {
	return func(_ string, body map[string]any) string {
		at := any(body)
		for name := range strings.SplitSeq(field, ".") {
			m, _ := at.(map[string]any)
			if at = m[name]; at == nil {
				return ""
			}
		}
		return refusal
	}
}

func on(path, refusal string) func(string, map[string]any) string {
	return func(p string, _ map[string]any) string {
		if p == path {
			return refusal
		}
		return ""
	}
}

// useResponses is what OpenAI says of tools beside an effort.
const useResponses = `{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.","type":"invalid_request_error","param":"reasoning_effort","code":null}}`

// What a server refuses is changed in the same attempt, and from then on at once.
func TestLessons(t *testing.T) {
	tools := []pawl.ToolInfo{{Name: "now"}}
	for name, c := range map[string]struct {
		api    openai.API
		model  string
		r      pawl.Request
		refuse []func(string, map[string]any) string
		show   []string
		want   []string // of the first request, the last of them again for the second
		note   string
	}{
		"temperature": {"", "house", pawl.Request{Sampling: pawl.Sampling{Temperature: 0.5}},
			[]func(string, map[string]any) string{has("temperature", `{"error":{"message":"Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}`)},
			[]string{"temperature"}, []string{"chat/completions temperature=0.5", "chat/completions"},
			"temperature was left out, because the server refused it: Unsupported value: 'temperature' does not support 0.5"},
		"an option of a strict server": {"", "house", pawl.Request{Sampling: pawl.Sampling{Options: map[string]json.RawMessage{"top_p": json.RawMessage("0.9")}}},
			[]func(string, map[string]any) string{has("top_p", `{"detail":[{"type":"extra_forbidden","loc":["body","top_p"],"msg":"Extra inputs are not permitted","input":0.9}]}`)},
			[]string{"top_p"}, []string{"chat/completions top_p=0.9", "chat/completions"}, "top_p was left out, because the server refused it: top_p: Extra inputs are not permitted"},
		"a field of a strict server beside a schema": {"", "house", pawl.Request{Output: json.RawMessage(`{"type":"object"}`)},
			[]func(string, map[string]any) string{has("stream_options.include_usage", `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted","input":true}]}`)},
			[]string{"stream_options"}, []string{`chat/completions stream_options={"include_usage":true}`, "chat/completions stream_options={}"},
			"stream_options.include_usage was left out, because the server refused it: stream_options.include_usage: Extra inputs are not permitted"},
		"two fields": {"", "house", pawl.Request{Sampling: pawl.Sampling{Effort: "high"}},
			[]func(string, map[string]any) string{
				has("stream_options", `{"error":{"message":"Unknown name \"stream_options\": Cannot find field.","code":400,"status":"INVALID_ARGUMENT"}}`),
				has("reasoning_effort", `{"error":"Unrecognized request argument supplied: reasoning_effort"}`),
			},
			[]string{"reasoning_effort", "stream_options"},
			[]string{`chat/completions reasoning_effort="high" stream_options={"include_usage":true}`, `chat/completions reasoning_effort="high"`, "chat/completions"}, "reasoning_effort was left out"},
		"an effort of another model": {"", "house", pawl.Request{Sampling: pawl.Sampling{Effort: "max"}},
			[]func(string, map[string]any) string{func(_ string, b map[string]any) string {
				if b["reasoning_effort"] != "high" {
					return `{"error":{"message":"Unsupported value: 'reasoning_effort' does not support 'max' with this model. Supported values are: 'low', 'medium', and 'high'.","param":"reasoning_effort","code":"unsupported_value"}}`
				}
				return ""
			}},
			[]string{"reasoning_effort"}, []string{`chat/completions reasoning_effort="max"`, `chat/completions reasoning_effort="high"`}, `reasoning_effort was sent as "high"`},
		"a masked effort": {openai.Responses, "house", pawl.Request{Sampling: pawl.Sampling{Effort: "minimal"}},
			[]func(string, map[string]any) string{func(_ string, b map[string]any) string {
				if b["reasoning"].(map[string]any)["effort"] != "low" { //nolint:forcetypeassert // this model is asked for one
					return `{"error":{"message":"Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'.","param":"***.effort","code":"unsupported_value"}}`
				}
				return ""
			}},
			[]string{"reasoning"}, []string{`responses reasoning={"effort":"minimal","summary":"auto"}`, `responses reasoning={"effort":"low","summary":"auto"}`}, `reasoning.effort was sent as "low"`},
		"no summary without a verified account": {openai.Responses, "gpt-5.6-sol", pawl.Request{},
			[]func(string, map[string]any) string{has("reasoning.summary", `{"error":{"message":"Your organization must be verified to generate reasoning summaries.","param":"reasoning.summary","code":"unsupported_value"}}`)},
			[]string{"reasoning"}, []string{`responses reasoning={"summary":"auto"}`, "responses reasoning={}"}, "reasoning.summary was left out"},
		"a schema": {"", "house", pawl.Request{System: "Be brief.", Output: json.RawMessage(`{"type":"object"}`)},
			[]func(string, map[string]any) string{has("response_format", `{"error":{"message":"response_format is not supported by this model"}}`)},
			[]string{"response_format", "messages"},
			[]string{
				`chat/completions response_format={"json_schema":{"name":"output","schema":{"type":"object"}},"type":"json_schema"} messages=[{"content":"Be brief.","role":"system"},{"content":"Hi.","role":"user"}]`,
				`chat/completions messages=[{"content":"Be brief.\n\nThe final answer must be JSON that fits this schema, and nothing else:\n{\"type\":\"object\"}","role":"system"},{"content":"Hi.","role":"user"}]`,
			}, "response_format was left out"},
		"a limit": {"", "house", pawl.Request{MaxTokens: 16384},
			[]func(string, map[string]any) string{func(_ string, b map[string]any) string {
				if b["max_tokens"].(float64) > 8192 { //nolint:forcetypeassert // it is always sent
					return `{"error":{"message":"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]","type":"invalid_request_error"}}`
				}
				return ""
			}},
			[]string{"max_tokens"}, []string{"chat/completions max_tokens=16384", "chat/completions max_tokens=8192"}, "max_tokens was sent as 8192"},
		"another name of the limit": {"", "house", pawl.Request{MaxTokens: 100},
			[]func(string, map[string]any) string{has("max_tokens", `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`)},
			[]string{"max_tokens", "max_completion_tokens"}, []string{"chat/completions max_tokens=100", "chat/completions max_completion_tokens=100"}, "max_tokens was sent as max_completion_tokens"},
		"a small window": {"", "house", pawl.Request{},
			[]func(string, map[string]any) string{func(_ string, b map[string]any) string {
				if b["max_tokens"].(float64) > 8000 { //nolint:forcetypeassert // it is always sent
					return `{"object":"error","message":"'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 8192 tokens and your request has 16 input tokens (16384 > 8192 - 16).","type":"BadRequestError","code":400}`
				}
				return ""
			}},
			[]string{"max_tokens"}, []string{"chat/completions max_tokens=16384", "chat/completions max_tokens=4096"}, "max_tokens was sent as 4096"},
		"tools beside thinking": {openai.Chat, "gpt-5.6-sol", pawl.Request{Tools: tools},
			[]func(string, map[string]any) string{on("chat/completions", useResponses)},
			[]string{"reasoning"}, []string{"chat/completions", `responses reasoning={"summary":"auto"}`}, "Responses was used, because the server refused Chat Completions: Function tools"},
		"the same behind a gateway without Responses": {openai.Chat, "gpt-5.6-sol", pawl.Request{Tools: tools},
			[]func(string, map[string]any) string{on("responses", `404{"detail":"Not Found"}`), func(_ string, b map[string]any) string {
				if b["reasoning_effort"] != "none" {
					return useResponses
				}
				return ""
			}},
			[]string{"reasoning_effort"}, []string{"chat/completions", "responses", "chat/completions", `chat/completions reasoning_effort="none"`}, `reasoning_effort was sent as "none"`},
		"a server without Responses": {openai.Responses, "house", pawl.Request{},
			[]func(string, map[string]any) string{on("responses", "404 page not found")},
			nil, []string{"responses", "chat/completions"}, "Chat Completions was used, because the server refused Responses: "},
		"a model without Responses": {openai.Responses, "house", pawl.Request{},
			[]func(string, map[string]any) string{on("responses", `{"error":{"message":"The requested model 'house' is not supported with the Responses API.","param":"model"}}`)},
			nil, []string{"responses", "chat/completions"}, "Chat Completions was used, because the server refused Responses: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := &refuser{t: t, when: c.refuse, show: c.show}
			srv := httptest.NewServer(s)
			defer srv.Close()
			c.r.Messages = []pawl.Message{wiretest.User(pawl.Text{Text: "Hi."})}
			for range 2 { // of the process, not of a value
				m := openai.New(c.model, &openai.Options{APIKey: "key", BaseURL: srv.URL + "/v1", API: c.api})
				r, err := modeltest.Ask(t, m, c.r)
				must(t, err)
				if all := strings.Join(r.Notes, "; "); !strings.Contains(all, c.note) {
					t.Errorf("notes %q, want %q", all, c.note)
				}
			}
			if d := cmp.Diff(append(c.want, c.want[len(c.want)-1]), s.came); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What a request cannot do without, what is the user's to fix and what is no refusal is not changed.
func TestNoLesson(t *testing.T) {
	for name, refusal := range map[string]string{
		"a message":      `{"error":{"message":"Invalid value for 'messages[0].content': not supported.","param":"messages[0].content","code":"unsupported_value"}}`,
		"a range":        `{"error":{"message":"temperature: Input should be between 0 and 2","param":"temperature","code":"invalid_value"}}`,
		"another's name": `{"error":{"message":"my_temperature is not supported"}}`,
		"a long request": `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 16400 tokens (9000 in the messages, 7400 in the completion).","code":"context_length_exceeded"}}`,
		"no model":       `404{"error":{"message":"The model 'house' does not exist or you do not have access to it.","code":"model_not_found"}}`,
	} {
		s := &refuser{t: t, when: []func(string, map[string]any) string{func(string, map[string]any) string { return refusal }}}
		srv := httptest.NewServer(s)
		for _, api := range []openai.API{openai.Chat, openai.Responses} {
			m := openai.New("house", &openai.Options{APIKey: "key", BaseURL: srv.URL + "/v1", API: api})
			for _, err := range m.Stream(t.Context(), pawl.Request{Messages: requests["hello"].Messages, Sampling: pawl.Sampling{Temperature: 0.5}}) {
				if c := class(err); c != pawl.ClassInvalid && c != pawl.ClassNotFound && c != pawl.ClassTooLong {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		srv.Close()
		if len(s.came) != 2 {
			t.Errorf("%s: sent %q", name, s.came)
		}
	}
}
