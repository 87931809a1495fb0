package fakeprovider

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

// A model takes what the sheet says, and what it refuses it refuses in OpenAI's words.
func TestRulesOfOpenAI(t *testing.T) {
	const (
		chat, responses = "/v1/chat/completions", "/v1/responses"
		tools           = `"tools":[{"type":"function","function":{"name":"now"}}]`
	)
	for _, c := range []struct{ path, model, fields, want string }{
		{chat, "gpt-6.2-sol", tools, "Function tools with reasoning_effort are not supported for gpt-6.2-sol in /v1/chat/completions. To use function tools, use /v1/responses"},
		{chat, "gpt-6-luna", tools + `,"reasoning_effort":"low"`, "Function tools with reasoning_effort"},
		{chat, "gpt-6-luna", tools + `,"reasoning_effort":"none"`, ""},
		{chat, "gpt-5.4", tools, ""}, // which does not think by itself
		{chat, "gpt-5.4", tools + `,"reasoning_effort":"high"`, "Function tools with reasoning_effort"},
		{chat, "gpt-5.2", tools + `,"reasoning_effort":"high"`, ""},
		{chat, "house", tools + `,"reasoning_effort":"high","temperature":1`, ""},
		{chat, "gpt-6.2-sol", `"reasoning_effort":"none"`, "'reasoning_effort' does not support 'none' with this model. Supported values are: 'low', 'medium', 'high', 'xhigh', 'max'."},
		{chat, "gpt-6.2-sol", `"temperature":0.5`, "Unsupported parameter: 'temperature' is not supported with this model."},
		{chat, "gpt-6-luna", `"temperature":0.5,"reasoning_effort":"none"`, ""},
		{chat, "gpt-4x", `"temperature":0.5`, ""},
		{chat, "gpt-4x", `"reasoning_effort":"low"`, "Unsupported parameter: 'reasoning_effort'"},
		{chat, "gpt-6.2-sol", `"prompt_cache_options":{"ttl":"12h"}`, "Invalid value: '12h'"},
		{responses, "gpt-6.2-sol", `"reasoning":{"effort":"minimal"}`, "'minimal' is not supported with the 'gpt-6.2-sol' model. Supported values are: 'low'"},
		{responses, "gpt-6.2-sol", `"reasoning":{"effort":"max"},"prompt_cache_options":{"ttl":"12h"}`, ""},
		{responses, "gpt-6.2-sol", `"top_p":0.5`, "Unsupported parameter: 'top_p'"},
		{responses, "gpt-5.5", `"prompt_cache_options":{"ttl":"12h"}`, "Unsupported parameter: 'prompt_cache_options'"},
	} {
		_, url := serve(t, script.Replies(pawl.Say("Yes.")), nil)
		conversation := `"messages":[{"role":"user","content":"Hi."}]`
		if c.path == responses {
			conversation = `"input":"Hi."`
		}
		res, text := send(t, url, c.path, `{"model":"`+c.model+`",`+conversation+`,`+c.fields+`}`)
		if refused := res.StatusCode != http.StatusOK; refused != (c.want != "") || !strings.Contains(text, c.want) {
			t.Errorf("%s %s %s: %s", c.path, c.model, c.fields, text)
		}
	}
}

// Sources, cache writes and thinking come as OpenAI sends them; thinking only in words if asked for.
func TestRepliesOfOpenAI(t *testing.T) {
	reply := pawl.Reply{
		Parts: []pawl.Part{pawl.Thinking{Text: "Hm."}, pawl.Text{Text: "Yes."}, pawl.Citation{Title: "A page", URL: "http://a"}},
		Usage: pawl.Usage{Input: 100, Output: 10, CacheWrite: 60, CacheLong: 20},
	}
	_, url := serve(t, script.Replies(reply, reply, reply), nil)
	_, text := send(t, url, "/v1/responses", `{"model":"gpt-6.2-sol","input":"Hi.","reasoning":{"summary":"auto"}}`)
	for _, want := range []string{
		`"annotations":[{"end_index":4,"start_index":0,"title":"A page","type":"url_citation","url":"http://a"}]`,
		`"cache_write_tokens":60,"cache_write_tokens_details":{"ttl_12h_tokens":20,"ttl_30m_tokens":40}`, `"text":"Hm."`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
	if _, text = send(t, url, "/v1/responses", `{"model":"gpt-6.2-sol","input":"Hi."}`); strings.Contains(text, "Hm.") || !strings.Contains(text, `"summary":[]`) {
		t.Errorf("%s", text)
	}
	if _, text = send(t, url, "/v1/chat/completions", `{"model":"gpt-6.2-sol","messages":[{"role":"user","content":"Hi."}]}`); !strings.Contains(text, `"url_citation":{"end_index":4,"start_index":0,"title":"A page","url":"http://a"}`) {
		t.Errorf("%s", text)
	}
}
