package fakeprovider

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

// TestStrict sends what providers refuse, and expects their words.
func TestStrict(t *testing.T) {
	const (
		messages = "/v1/messages"
		chat     = "/v1/chat/completions"
	)
	claude := func(msgs string) string {
		return `{"model":"m","max_tokens":10,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[` + msgs + `]}`
	}
	gpt := func(msgs string) string { return `{"model":"m","messages":[` + msgs + `]}` }
	const (
		hi    = `{"role":"user","content":"Hi"}`
		use   = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]}`
		res   = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}`
		mark  = `"cache_control":{"type":"ephemeral"}`
		call  = `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		reply = `{"role":"tool","tool_call_id":"c1","content":"ok"}`
	)
	marked := `{"type":"text","text":"x",` + mark + `}`
	for _, c := range []struct{ path, body, want string }{
		{messages, claude(hi + "," + use + "," + res), ""},
		{messages, claude(hi + "," + use + "," + hi), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."},
		{messages, claude(hi + "," + use), "messages.1: `tool_use` ids were found without `tool_result`"},
		{messages, claude(hi + "," + res), "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1."},
		{messages, claude(hi + "," + use + "," + res + "," + use + "," + res), "messages: `tool_use` ids must be unique"},
		{messages, claude(hi + "," + use + "," + strings.Replace(res, `}]}`, `},{"type":"tool_result","tool_use_id":"t1"}]}`, 1)), "each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1"},
		{messages, claude(hi + "," + use + "," + strings.Replace(res, `[{`, `[{"type":"text","text":"first"},{`, 1)), "`tool_use` ids were found without `tool_result` blocks immediately after"},
		{messages, claude(hi + "," + strings.Replace(use, `"input":{}`, `"input":[1]`, 1) + "," + res), "messages.1.content.0.tool_use.input: Input should be a valid dictionary"},
		{messages, claude(hi + "," + strings.ReplaceAll(use+","+res, `"t1"`, `"t:1"`)), "String should match pattern"},
		{messages, claude(`{"role":"user","content":""}`), "messages: text content blocks must be non-empty"},
		{messages, claude(`{"role":"user","content":" "}`), "messages: text content blocks must contain non-whitespace text"},
		{messages, claude(`{"role":"user","content":[]}`), "all messages must have non-empty content"},
		{messages, claude(`{"role":"user","content":[{"type":"text","text":"",` + mark + `}]}`), "messages.0.content.0.text: cache_control cannot be set for empty text blocks"},
		{messages, claude(hi + "," + use + "," + strings.Replace(res, `"content":"ok"`, mark, 1)), "cache_control cannot be set for empty content blocks"},
		{messages, claude(`{"role":"user","content":[` + strings.Join([]string{marked, marked, marked, marked}, ",") + `]}`), ""},
		{messages, claude(`{"role":"user","content":[` + strings.Join([]string{marked, marked, marked, marked, marked}, ",") + `]}`), "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{messages, claude(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"y"},{"type":"text","text":"z"}]},` + hi), "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{messages, claude(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"z"}]},` + hi), "messages.1.content.0.thinking.signature: Field required"},
		{messages, claude(hi + `,{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"},{"type":"text","text":"z"}]},` + hi), "Invalid `data` in `redacted_thinking` block"},
		{messages, claude(`{"role":"assistant","content":"Hi"}`), `messages: first message must use the \"user\" role`},
		{messages, claude(`{"role":"tool","content":"Hi"}`), "messages.0.role: Input should be 'user' or 'assistant'"},
		{messages, claude(`{"role":"user","content":[{"type":"odd"}]}`), "Input tag 'odd' found using 'type'"},
		{messages, claude(""), "messages: at least one message is required"},
		{messages, strings.Replace(claude(hi+","+use+","+res), `"tools"`, `"stools"`, 1), "must define tools"},
		{messages, strings.Replace(claude(hi), `"max_tokens":10,`, "", 1), "max_tokens: Field required"},
		{messages, strings.Replace(claude(hi), `"max_tokens":10`, `"max_tokens":3000,"temperature":0,"thinking":{"type":"enabled","budget_tokens":2000}`, 1), "`temperature` may only be set to 1 when thinking is enabled."},
		{messages, strings.Replace(claude(hi), `"max_tokens":10`, `"max_tokens":1000,"thinking":{"type":"enabled","budget_tokens":2000}`, 1), "`max_tokens` must be greater than `thinking.budget_tokens`."},
		{messages, claude(`{"role":"user","content":"\ud83d"}`), "The request body is not valid JSON: no low surrogate in string: line 1 column 124 (char 123)"},
		{messages, claude(`{"role":"user","content":"\ud83d\ude42 \\ud83d"}`), ""},
		{messages, claude("{\"role\":\"user\",\"content\":\"\xff\"}"), "invalid UTF-8"},
		{messages, "{", "The request body is not valid JSON"},

		{chat, gpt(hi + "," + call + "," + reply), ""},
		{chat, gpt(hi + "," + call + "," + hi), "The following tool_call_ids did not have response messages: c1"},
		{chat, gpt(hi + "," + call), "The following tool_call_ids did not have response messages: c1"},
		{chat, gpt(hi + "," + reply), "messages with role 'tool' must be a response to a"},
		{chat, gpt(hi + "," + call + "," + reply + "," + reply), "Duplicate value for 'tool_call_id' of 'c1' in message[3]"},
		{chat, gpt(hi + "," + call + "," + reply + "," + call + "," + reply), "Duplicate value for 'tool_call_id' of 'c1' in message[3]"},
		{chat, gpt(hi + "," + strings.ReplaceAll(call+","+reply, "c1", strings.Repeat("c", 41))), "Expected a string with maximum length 40, but got a string with length 41 instead."},
		{chat, gpt(hi + "," + strings.Replace(call, `"{}"`, `"[1]"`, 1) + "," + reply), "expected the JSON of an object"},
		{chat, gpt(hi + "," + strings.Replace(call, `"{}"`, `"{\"a\":\"\\ud83d\"}"`, 1) + "," + reply), "no low surrogate in string"},
		{chat, gpt(hi + "," + strings.Replace(call, `"{}"`, `"{\"a\":1e999}"`, 1) + "," + reply), ""},
		{chat, gpt(`{"role":"user","content":[{"type":"text","text":""}]}`), "empty string"},
		{chat, gpt(`{"role":"user"}`), "Invalid value for 'content': expected a string, got null."},
		{chat, gpt(hi + `,{"role":"assistant"}`), "Invalid value for 'content': expected a string, got null."},
		{chat, gpt(`{"role":"odd","content":"x"}`), "Invalid value: 'odd'."},
		{chat, gpt(""), "Invalid 'messages': empty array."},
		{chat, `{"messages":[` + hi + `]}`, "you must provide a model parameter"},
		{chat, `{"model":"m","messages":[` + hi + `],"stream_options":{"include_usage":true}}`, "only allowed when 'stream' is enabled"},
		{chat, gpt(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"png"}}]}`), "Expected a base64-encoded data URL"},
		{chat, "[]", "We could not parse the JSON body of your request."},
	} {
		fake, url := serve(t, script.Replies(pawl.Say("Fine."), pawl.Say("Fine."), pawl.Say("Fine.")), nil)
		res, text := send(t, url, c.path, c.body)
		if c.want == "" {
			if res.StatusCode != http.StatusOK {
				t.Errorf("%s %s\nis refused: %s", c.path, c.body, text)
			}
			continue
		}
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(text, c.want) {
			t.Errorf("%s %s\nis answered %d %s, want %s", c.path, c.body, res.StatusCode, text, c.want)
		}
		if r := fake.Requests()[0]; len(r.Problems) == 0 || r.Status != http.StatusBadRequest {
			t.Errorf("%s %s\nis recorded with %d, %q", c.path, c.body, r.Status, r.Problems)
		}
	}
}

// TestOptions shows what the server asks whatever is said.
func TestOptions(t *testing.T) {
	_, url := serve(t, script.Replies(pawl.Say("Fine.")), &Options{Key: "k", Models: []string{"m"}, MaxBytes: 1000})
	bodies := map[string][2]string{ // a sound one, and one of another model
		"/v1/messages":                     {`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`, ""},
		"/v1/chat/completions":             {`{"model":"m","messages":[{"role":"user","content":"Hi"}]}`, ""},
		"/v1/responses":                    {`{"model":"m","input":"Hi"}`, ""},
		"/v1beta/models/m:generateContent": {`{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}`, "/v1beta/models/other:generateContent"},
	}
	for path, b := range bodies {
		other, body := path, strings.Replace(b[0], `"m"`, `"other"`, 1)
		if b[1] != "" {
			other = b[1]
		}
		wrong := http.StatusUnauthorized
		if strings.Contains(path, "models/") {
			wrong = http.StatusBadRequest
		}
		for i, c := range []struct {
			path, body, key string
			want            int
		}{
			{path, b[0], "k", http.StatusOK},
			{path, b[0], "x", wrong},
			{other, body, "k", http.StatusNotFound},
			{path, strings.Repeat(" ", 1001), "k", http.StatusRequestEntityTooLarge},
		} {
			res, text := send(t, url, c.path, c.body, "Authorization", "Bearer "+c.key)
			if res.StatusCode != c.want || (i > 0) != strings.Contains(text, `"error":{`) {
				t.Errorf("%s, case %d: %d %s, want %d", path, i, res.StatusCode, text, c.want)
			}
		}
	}
	if res, _ := send(t, url, "/v1/embeddings", "{}"); res.StatusCode != http.StatusNotFound {
		t.Errorf("status %d", res.StatusCode)
	}
}

// TestBrainErrors tells what a brain failed with as each provider would.
func TestBrainErrors(t *testing.T) {
	want := map[pawl.Class]map[Wire]int{
		pawl.ClassRateLimit:  {Anthropic: 429, Chat: 429, Responses: 429, Google: 429},
		pawl.ClassOverloaded: {Anthropic: 529, Chat: 503, Responses: 503, Google: 503},
		pawl.ClassQuota:      {Anthropic: 400, Chat: 429, Responses: 429, Google: 429},
		pawl.ClassAuth:       {Anthropic: 401, Chat: 401, Responses: 401, Google: 400},
		pawl.ClassNotFound:   {Anthropic: 404, Chat: 404, Responses: 404, Google: 404},
		pawl.ClassTooLong:    {Anthropic: 400, Chat: 400, Responses: 400, Google: 400},
		pawl.ClassRefused:    {Anthropic: 400, Chat: 400, Responses: 400, Google: 400},
		pawl.ClassUnknown:    {Anthropic: 500, Chat: 500, Responses: 500, Google: 500},
	}
	for class, statuses := range want {
		fake, url := serve(t, pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Reply{}, &pawl.ModelError{Class: class, Message: "The brain said so."}
		}), nil)
		for w, m := range models(url) {
			_, err := last(t.Context(), m, asked())
			said := "model: " + class.String()
			if class == pawl.ClassUnknown || class == pawl.ClassRefused && w == Google { // which the wire does not tell
				said = "model: "
			}
			if err == nil || !strings.Contains(err.Error(), "said so") || !strings.Contains(err.Error(), said) {
				t.Errorf("%v on %v: %v", class, w, err)
			}
		}
		send(t, url, "/v1/responses", responsesAsk)
		send(t, url, googleStream, googleAsk)
		for _, r := range fake.Requests() {
			if r.Status != statuses[r.Wire] {
				t.Errorf("%v on %v: status %d, want %d", class, r.Wire, r.Status, statuses[r.Wire])
			}
		}
	}
}
