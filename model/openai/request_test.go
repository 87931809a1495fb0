package openai_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/internal/testkit/wiretest"
	"github.com/pawl-run/pawl/model/openai"
)

// body returns the path and the body of the request for r.
func body(t *testing.T, model string, o openai.Options, r pawl.Request) (string, map[string]any) {
	t.Helper()
	s := &sent{}
	if o.Key == nil {
		o.APIKey = "key"
	}
	o.HTTPClient = &http.Client{Transport: s}
	if r.Messages == nil {
		r.Messages = requests["hello"].Messages
	}
	if err := last(t.Context(), openai.New(model, &o), r); class(err) != pawl.ClassNetwork {
		t.Fatalf("%s: %v", model, err)
	}
	return s.path, s.body
}

// The Responses API is for OpenAI and Azure, and Chat Completions for the others, unless one is
// asked for.
func TestAPI(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	for _, c := range []struct {
		model, base string
		api         openai.API
		want        string
	}{
		{"gpt-6.2-sol", "", "", "/v1/responses"},
		{"gpt-9", "", "", "/v1/responses"},
		{"prod", "https://me.openai.azure.com/openai/v1", "", "/openai/v1/responses"},
		{"gpt-6.2-sol", "http://127.0.0.1:11434/v1", "", "/v1/chat/completions"},
		{"gpt-6.2-sol", "https://openai.com.example/v1", "", "/v1/chat/completions"},
		{"gpt-audio-2", "", "", "/v1/chat/completions"},
		{"gpt-6.2-sol", "", openai.Chat, "/v1/chat/completions"},
		{"house", "http://127.0.0.1:11434/v1", openai.Responses, "/v1/responses"},
	} {
		if path, _ := body(t, c.model, openai.Options{BaseURL: c.base, API: c.api}, pawl.Request{}); path != c.want {
			t.Errorf("%s at %q, api %q: %s, want %s", c.model, c.base, c.api, path, c.want)
		}
	}
}

// What a model takes is in the sheet; of an unknown one only what is asked for is sent.
func TestEffortAndTemperature(t *testing.T) {
	for _, c := range []struct {
		model, base, effort string
		temperature         float64
		options             string
		want                string // reasoning, or reasoning_effort, and temperature
	}{
		{"gpt-6.2-sol", "", "", 0, "", `{"summary":"auto"}`},
		{"gpt-6.2-sol", "", "high", 0.5, "", `{"effort":"high","summary":"auto"}`},
		{"gpt-6.2-sol", "", "none", 0, "", `{"effort":"low","summary":"auto"}`},
		{"gpt-6.1-terra", "", "none", 0.5, "", `{"effort":"none"} 0.5`},
		{"gpt-6.1-terra", "", "minimal", 0.5, "", `{"effort":"low","summary":"auto"}`},
		{"gpt-5.4", "", "", 0.5, "", `0.5`}, // which does not think by itself
		{"gpt-5.4", "", "max", 0.5, "", `{"effort":"xhigh","summary":"auto"}`},
		{"gpt-5.1", "", "", 0, `{"reasoning_effort":"low","top_p":0.3}`, `{"effort":"low"}`},
		{"gpt-4x", "", "high", 0.5, "", `0.5`},
		{"gpt-6.2-sol", "", "high", 0, `{"reasoning":{"summary":"detailed"}}`, `{"effort":"high","summary":"detailed"}`},
		{"gpt-6.2-sol", "", "high", 0, `{"reasoning":{"summary":null,"context":"auto"}}`, `{"context":"auto","effort":"high"}`},
		{"gpt-6.2-sol", "http://127.0.0.1:1/v1", "max", 0.5, "", `"max"`},
		{"house", "http://127.0.0.1:1/v1", "", 0.5, "", `0.5`},
		{"house", "http://127.0.0.1:1/v1", "xhigh", 0.5, "", `"xhigh" 0.5`},
	} {
		r := pawl.Request{Sampling: pawl.Sampling{Effort: c.effort, Temperature: c.temperature}}
		if c.options != "" {
			must(t, json.Unmarshal([]byte(c.options), &r.Sampling.Options))
		}
		_, b := body(t, c.model, openai.Options{BaseURL: c.base}, r)
		var got []string
		for _, name := range []string{"reasoning", "reasoning_effort", "temperature", "top_p"} {
			if v, ok := b[name]; ok {
				text, _ := json.Marshal(v)
				got = append(got, string(text))
			}
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s, effort %q, temperature %v, options %s (-want +got):\n%s", c.model, c.effort, c.temperature, c.options, d)
		}
	}
}

// What the sheet changes of a request is said.
func TestNotes(t *testing.T) {
	srv := &refuser{t: t}
	m := openai.New("gpt-6.2-sol", &openai.Options{APIKey: "key", HTTPClient: &http.Client{Transport: served{srv}}})
	r, err := modeltest.Ask(t, m, pawl.Request{Messages: requests["hello"].Messages, Sampling: pawl.Sampling{Effort: "none", Temperature: 1}})
	must(t, err)
	want := []string{"effort none was sent as low, the nearest that openai/gpt-6.2-sol takes", "temperature was left out, because gpt-6.2-sol takes none while it thinks"}
	if d := cmp.Diff(want, r.Notes); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Requests of a run share a key of the cache. A longer lifetime is asked for where the model has
// one that is not the usual, and no cache where there is to be none. Other servers know none of it.
func TestCache(t *testing.T) {
	for _, c := range []struct {
		model, base string
		api         openai.API
		long        bool
		cache       string
		want        string // the options
	}{
		{"gpt-6.2-sol", "", "", true, "", `{"ttl":"12h"}`},
		{"gpt-5.6-luna", "", "", true, "", `{"ttl":"12h"}`},
		{"gpt-6.2-sol", "", "", false, "", `null`},
		{"gpt-6.2-sol", "", openai.Chat, true, "", `null`},
		{"gpt-6.2-sol", "", "", false, "off", `{"mode":"explicit"}`},
		{"gpt-5.5", "", "", true, "", `null`},
		{"gpt-6.2-sol", "http://127.0.0.1:1/v1", "", true, "", `null`},
	} {
		_, b := body(t, c.model, openai.Options{BaseURL: c.base, API: c.api}, pawl.Request{Run: "run_1", Long: c.long, Sampling: pawl.Sampling{Cache: c.cache}})
		got, _ := json.Marshal(b["prompt_cache_options"])
		if string(got) != c.want || b["prompt_cache_retention"] != nil || (b["prompt_cache_key"] == "run_1") != (c.base == "") {
			t.Errorf("%s at %q, %q, long %v, cache %q: %s and %v", c.model, c.base, c.api, c.long, c.cache, got, b["prompt_cache_key"])
		}
	}
}

// Objects among the options join what the run has; the schema is the run's.
func TestOptionsJoin(t *testing.T) {
	_, b := body(t, "gpt-6.2-sol", openai.Options{}, pawl.Request{Output: json.RawMessage(`{"type":"object"}`), Sampling: pawl.Sampling{Options: map[string]json.RawMessage{
		"text": json.RawMessage(`{"verbosity":"low","format":{"type":"text"}}`),
	}}})
	want := map[string]any{"verbosity": "low", "format": map[string]any{"name": "output", "schema": map[string]any{"type": "object"}, "strict": false, "type": "json_schema"}}
	if d := cmp.Diff(want, b["text"]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// OpenAI takes arrays with items, and as the schema of the answer only that of an object. Any other
// stands in the prompt.
func TestSchemas(t *testing.T) {
	for _, api := range []openai.API{openai.Chat, openai.Responses} {
		for schema, sent := range map[string]bool{
			`{"type":"object"}`: true, `{"type":"array","items":{"type":"string"}}`: false, `{"enum":["a"]}`: false, `{"type":"object","anyOf":[{"required":["a"]}]}`: false,
		} {
			r := pawl.Request{Output: json.RawMessage(schema), Tools: []pawl.ToolInfo{{Name: "t", Input: json.RawMessage(`{"type":"object","properties":{"l":{"type":"array"}}}`)}}}
			_, b := body(t, "gpt-6.2-sol", openai.Options{API: api}, r)
			all, err := json.Marshal(b)
			must(t, err)
			has := bytes.Contains(all, []byte(`"json_schema"`))
			told := bytes.Contains(all, []byte("must be JSON that fits this schema"))
			if has != sent || told == sent || !bytes.Contains(all, []byte(`"l":{"items":{},"type":"array"}`)) {
				t.Errorf("%s: %s is sent: %v, told: %v\n%s", api, schema, has, told, all)
			}
			_, b = body(t, "house", openai.Options{API: api, BaseURL: "http://127.0.0.1:1/v1"}, r)
			if b["response_format"] == nil && b["text"] == nil {
				t.Errorf("%s: another server does not get %s", api, schema)
			}
		}
	}
}

// A landing request keeps the tools and forbids their use.
func TestNoCalls(t *testing.T) {
	for _, api := range []openai.API{openai.Chat, openai.Responses} {
		r := pawl.Request{Tools: []pawl.ToolInfo{{Name: "now"}}, ToolChoice: "none"}
		if _, b := body(t, "gpt-6.2-sol", openai.Options{API: api}, r); b["tool_choice"] != "none" || b["tools"] == nil {
			t.Errorf("%s: %v with tools %v", api, b["tool_choice"], b["tools"])
		}
		r.Tools = nil
		if _, b := body(t, "gpt-6.2-sol", openai.Options{API: api}, r); b["tool_choice"] != nil {
			t.Errorf("%s: %v without tools", api, b["tool_choice"])
		}
	}
}

// Reasoning and citations go back to who made them, and not to another account.
func TestWhatGoesBack(t *testing.T) {
	own, other := account(t, "key"), account(t, "other")
	if own == other || own == "" {
		t.Fatalf("accounts %q and %q", own, other)
	}
	item := func(id, account string) pawl.Thinking {
		return pawl.Thinking{Opaque: json.RawMessage(`{"type":"reasoning","id":"` + id + `","summary":[],"encrypted_content":"x"}`), Model: "openai/gpt-6.2-sol", Account: account}
	}
	cite := func(model, url string) pawl.Citation {
		return pawl.Citation{URL: url, Model: model, Opaque: json.RawMessage(`{"type":"url_citation","url":"` + url + `"}`)}
	}
	moved := item("rs_3", own)
	moved.Moved = true // which OpenAI does not mind
	_, b := body(t, "gpt-6.2-sol", openai.Options{}, pawl.Request{Messages: []pawl.Message{
		wiretest.User(pawl.Text{Text: "Well?"}),
		wiretest.Assistant(item("rs_1", own), pawl.Text{Text: "One."}, cite("openai/gpt-6.2-sol", "http://a"), cite("anthropic/claude", "http://b"), item("rs_2", other), pawl.Text{Text: "Two."}, moved, pawl.Text{Text: "Three."}),
		wiretest.User(pawl.Text{Text: "Well?"}),
	}})
	var got []string
	for _, it := range b["input"].([]any) { //nolint:forcetypeassert // it is always a list
		text, _ := json.Marshal(it)
		got = append(got, string(text))
	}
	want := []string{
		`{"content":[{"text":"Well?","type":"input_text"}],"role":"user","type":"message"}`,
		`{"encrypted_content":"x","id":"rs_1","summary":[],"type":"reasoning"}`,
		`{"content":[{"annotations":[{"type":"url_citation","url":"http://a"}],"text":"One.","type":"output_text"}],"role":"assistant","type":"message"}`,
		`{"content":[{"text":"Two.","type":"output_text"}],"role":"assistant","type":"message"}`,
		`{"encrypted_content":"x","id":"rs_3","summary":[],"type":"reasoning"}`,
		`{"content":[{"text":"Three.","type":"output_text"}],"role":"assistant","type":"message"}`,
		`{"content":[{"text":"Well?","type":"input_text"}],"role":"user","type":"message"}`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// account returns the account of a reasoning item of a model with a key.
func account(t *testing.T, key string) (account string) {
	t.Helper()
	const reply = `data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"reasoning","id":"rs_1","encrypted_content":"x"},{"type":"message","content":[{"type":"output_text","text":"Yes."}]}]}}` + "\n\n"
	m := openai.New("gpt-6.2-sol", &openai.Options{APIKey: key, HTTPClient: &http.Client{Transport: served{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(reply))
	})}}})
	r, err := modeltest.Ask(t, m, requests["hello"])
	must(t, err)
	return r.Parts[0].(pawl.Thinking).Account //nolint:forcetypeassert // it thinks first
}

var must = check.Must
