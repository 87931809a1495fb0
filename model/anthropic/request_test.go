package anthropic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// body keeps the body of a request and sends nothing.
type body struct{ sent []byte }

func (b *body) RoundTrip(r *http.Request) (*http.Response, error) {
	b.sent, _ = io.ReadAll(r.Body)
	return nil, io.EOF
}

// A schema goes in the form that the API promises to keep to, or not at all.
func TestOutputSchemas(t *testing.T) {
	const object = `{"type":"object","required":["x"],"properties":{"x":%s}}`
	for schema, want := range map[string]string{
		`{"type":"string","maxLength":9,"format":"date","pattern":"^<"}`:             `{"type":"string","format":"date","pattern":"^<","description":"{maxLength: 9}"}`,
		`{"type":"string","description":"A word.","format":"word","default":"a"}`:    `{"type":"string","description":"A word.\n\n{default: a, format: word}"}`,
		`{"type":"integer","maximum":9007199254740993,"examples":[1,"b"]}`:           `{"type":"integer","description":"{examples: [1,\"b\"], maximum: 9007199254740993}"}`,
		`{"type":"array","items":{"type":"number","minimum":0},"minItems":2}`:        `{"type":"array","items":{"type":"number","description":"{minimum: 0}"},"description":"{minItems: 2}"}`,
		`{"oneOf":[{"const":1},{"type":"array","items":{"enum":[1]},"minItems":1}]}`: `{"anyOf":[{"const":1},{"type":"array","items":{"enum":[1]},"minItems":1}]}`,
		`{"type":"object","properties":{"y":true},"minProperties":1}`:                `{"type":"object","properties":{"y":true},"additionalProperties":false,"description":"{minProperties: 1}"}`,

		`{"type":"object"}`: "", `{"type":"object","properties":{"y":true},"additionalProperties":true}`: "",
		`{"type":["string","null"]}`: "", `{"description":"anything"}`: "", `{"$ref":"#"}`: "", `{"type":"array","items":{"type":"object"}}`: "",
	} {
		b := &body{}
		m := anthropic.New("claude-sonnet-5-5", &anthropic.Options{APIKey: "key", HTTPClient: &http.Client{Transport: b}})
		for range m.Stream(t.Context(), pawl.Request{Output: fmt.Appendf(nil, object, schema)}) {
		}
		var doc struct {
			Config *struct {
				Format struct {
					Schema struct{ Properties struct{ X any } }
				}
			} `json:"output_config"`
		}
		must(t, json.Unmarshal(b.sent, &doc))
		told := strings.Contains(string(b.sent), "The final answer must be JSON that fits this schema")
		if told != (doc.Config == nil) {
			t.Errorf("%s: the prompt has the schema: %v", schema, told)
		}
		if doc.Config == nil || want == "" {
			if (doc.Config == nil) != (want == "") {
				t.Errorf("%s is sent: %v", schema, doc.Config != nil)
			}
			continue
		}
		if got := provider.Marshal(doc.Config.Format.Schema.Properties.X); !wire.Equal(got, []byte(want)) {
			t.Errorf("%s is sent as\n%s, want\n%s", schema, got, want)
		}
	}
}

// send returns the body of a request to a model.
func send(t *testing.T, model string, r pawl.Request) string {
	t.Helper()
	b := &body{}
	m := anthropic.New(model, &anthropic.Options{APIKey: "key", HTTPClient: &http.Client{Transport: b}})
	if r.Messages == nil {
		r.Messages = []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "Hello"}}}}
	}
	for range m.Stream(t.Context(), r) {
	}
	return string(b.sent)
}

// The sheet says how a model is asked to think, and with what effort.
func TestEffort(t *testing.T) {
	const adaptive = `{"display":"summarized","type":"adaptive"}`
	for _, c := range []struct {
		model, effort string
		limit         int
		thinking      string
		sent          string // the effort of output_config
	}{
		{"claude-sonnet-5-5", "", 0, adaptive, ""},
		{"claude-sonnet-5-5", "none", 0, `{"type":"between_tools"}`, ""},
		{"claude-sonnet-5-5", "minimal", 0, adaptive, "low"},
		{"claude-sonnet-5-5", "max", 0, adaptive, "max"},
		{"claude-opus-5-5", "none", 0, adaptive, "low"}, // it cannot stop
		{"claude-haiku-5-5", "none", 0, `{"type":"disabled"}`, ""},
		{"claude-haiku-5-5", "xhigh", 0, adaptive, "xhigh"},
		{"claude-fable-6", "none", 0, adaptive, "low"}, // unknown, so like the newest
		{"claude-sonnet-5", "none", 0, `{"type":"disabled"}`, ""},
		{"claude-opus-4-8", "", 0, "", ""}, // off by default
		{"claude-opus-4-8", "none", 0, "", ""},
		{"claude-opus-4-8", "high", 0, adaptive, "high"},
		{"claude-opus-4-6", "xhigh", 0, adaptive, "high"},
		{"claude-haiku-4-5", "", 0, "", ""},
		{"claude-haiku-4-5", "none", 0, "", ""},
		{"claude-haiku-4-5", "low", 16000, `{"budget_tokens":4000,"type":"enabled"}`, ""},
		{"claude-haiku-4-5", "medium", 16000, `{"budget_tokens":8000,"type":"enabled"}`, ""},
		{"claude-haiku-4-5", "max", 64000, `{"budget_tokens":32768,"type":"enabled"}`, ""},
		{"claude-haiku-4-5", "low", 2048, `{"budget_tokens":1024,"type":"enabled"}`, ""},
		{"claude-haiku-4-5", "high", 2000, "", ""}, // there is no room
		{"house", "", 0, "", ""},
		{"house", "none", 0, "", ""},
		{"house", "medium", 16000, `{"budget_tokens":8000,"type":"enabled"}`, ""},
	} {
		var doc struct {
			Thinking json.RawMessage
			Config   struct{ Effort string } `json:"output_config"`
		}
		must(t, json.Unmarshal([]byte(send(t, c.model, pawl.Request{MaxTokens: c.limit, Sampling: pawl.Sampling{Effort: c.effort}})), &doc))
		if string(doc.Thinking) != c.thinking || doc.Config.Effort != c.sent {
			t.Errorf("%s with effort %q and %d tokens: thinking %s and effort %q, want %s and %q", c.model, c.effort, c.limit, doc.Thinking, doc.Config.Effort, c.thinking, c.sent)
		}
	}
}

// A model gets what it takes: no sampling if it takes none, no tool that it must call if it
// cannot be forced, and what options say over what the adapter says.
func TestOptions(t *testing.T) {
	tools := []pawl.ToolInfo{{Name: "now"}}
	for _, c := range []struct {
		model, options string
		gone, kept     []string
	}{
		{"claude-sonnet-5-5", `{"temperature":0.5,"top_p":0.9,"top_k":5}`, []string{"temperature", "top_p", "top_k"}, nil},
		{"claude-sonnet-4-6", `{"temperature":0.5,"top_p":0.9,"top_k":5}`, nil, []string{"temperature", "top_p", "top_k"}},
		{"claude-sonnet-4-6", `{"thinking":{"type":"adaptive"},"temperature":0.5,"top_p":0.96,"top_k":5}`, []string{"temperature", "top_k"}, []string{"top_p"}},
		{"house", `{"temperature":0.5,"top_p":0.9,"top_k":5}`, nil, []string{"temperature", "top_p", "top_k"}},
		{"claude-sonnet-5-5", `{"tool_choice":{"type":"any"}}`, []string{"tool_choice"}, nil},
		{"claude-haiku-5-5", `{"tool_choice":{"type":"tool","name":"now"}}`, nil, []string{`"tool_choice":{"type":"tool","name":"now"}`}},
		{"claude-sonnet-5-5", `{"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`, nil, []string{`"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`}},
		{"claude-sonnet-5-5", `{"output_config":{"effort":"low"}}`, nil, []string{`"effort":"low"`, `"format":{"schema":`}},
		{"claude-sonnet-5-5", `{"thinking":{"display":"omitted"}}`, nil, []string{`"thinking":{"display":"omitted","type":"adaptive"}`}},
		{"claude-sonnet-5-5", `{"thinking":{"type":"between_tools"}}`, []string{"display"}, []string{`"thinking":{"type":"between_tools"}`}},
		{"claude-sonnet-5-5", `{"thinking":null}`, []string{"thinking"}, nil},
	} {
		var options map[string]json.RawMessage
		must(t, json.Unmarshal([]byte(c.options), &options))
		sent := send(t, c.model, pawl.Request{Tools: tools, Output: json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`), Sampling: pawl.Sampling{Options: options}})
		for _, word := range c.gone {
			if strings.Contains(sent, word) {
				t.Errorf("%s with %s: %s is sent: %s", c.model, c.options, word, sent)
			}
		}
		for _, word := range c.kept {
			if !strings.Contains(sent, word) {
				t.Errorf("%s with %s: %s is not sent: %s", c.model, c.options, word, sent)
			}
		}
	}
}

// A tool choice is sent as Anthropic names it, unless the model cannot be forced, or not while it
// thinks with a budget.
func TestToolChoice(t *testing.T) {
	for _, c := range []struct{ model, choice, sent string }{
		{"claude-haiku-5-5", "required", `"tool_choice":{"type":"any"}`},
		{"claude-haiku-5-5", "now", `"tool_choice":{"name":"now","type":"tool"}`},
		{"claude-haiku-5-5", "none", `"tool_choice":{"type":"none"}`},
		{"claude-sonnet-5-5", "none", `"tool_choice":{"type":"none"}`},
		{"claude-sonnet-5-5", "required", ""},
		{"claude-haiku-4-5", "now", ""},
	} {
		sent := send(t, c.model, pawl.Request{Tools: []pawl.ToolInfo{{Name: "now"}}, ToolChoice: c.choice, Sampling: pawl.Sampling{Effort: "high"}})
		if !strings.Contains(sent, c.sent) || c.sent == "" && strings.Contains(sent, "tool_choice") {
			t.Errorf("%s with %s: %s", c.model, c.choice, sent)
		}
	}
}

// A hosted tool is of the newest type that its model takes.
func TestHostedTools(t *testing.T) {
	tools := []pawl.ToolInfo{{Name: "web_search", MaxCalls: 2, Hosted: pawl.Usage{Searches: 2}}, {Name: "code_execution", Hosted: pawl.Usage{Sessions: 1}}}
	for model, want := range map[string]string{
		"claude-sonnet-5-5": `[{"name":"web_search","type":"web_search_20260318","max_uses":2,"allowed_callers":["direct"]},{"name":"code_execution","type":"code_execution_20260521"}]`,
		"claude-haiku-4-5":  `[{"name":"web_search","type":"web_search_20250305","max_uses":2},{"name":"code_execution","type":"code_execution_20260521"}]`,
		"house":             `[{"name":"web_search","type":"web_search_20250305","max_uses":2},{"name":"code_execution","type":"code_execution_20250825"}]`,
	} {
		if sent := send(t, model, pawl.Request{Tools: tools}); !strings.Contains(sent, `"tools":`+want) {
			t.Errorf("%s: sent %s, want %s", model, sent, want)
		}
	}
}

// A turn whose thinking cannot go back goes without. A model with a budget does not think until
// it is over, and others think on.
func TestTurnsWithoutThinking(t *testing.T) {
	for model, want := range map[string]string{"claude-haiku-4-5": "", "claude-opus-5-5": "adaptive", "claude-opus-4-6": "adaptive"} {
		for _, made := range []string{"google/gemini-4-hydrogen", ""} {
			var doc struct{ Thinking struct{ Type string } }
			sent := send(t, model, pawl.Request{MaxTokens: 9000, Sampling: pawl.Sampling{Effort: "high"}, Messages: []pawl.Message{
				{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "Time?"}}},
				{Role: pawl.RoleAssistant, Parts: []pawl.Part{pawl.Thinking{Text: "Hm", Opaque: json.RawMessage(`{"x":1}`), Model: made}, pawl.Call{ID: "c_1", Tool: "now", Args: json.RawMessage(`{}`)}}},
				{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.ToolResult{Call: "c_1", Tool: "now", Content: json.RawMessage(`12`)}}},
			}})
			if _ = json.Unmarshal([]byte(sent), &doc); doc.Thinking.Type != want {
				t.Errorf("%s, made by %q: thinking %q, want %q", model, made, doc.Thinking.Type, want)
			}
		}
	}
}

// The marks of a request say how long it is kept, and there are none if it is not, or too short.
func TestCacheMarks(t *testing.T) {
	for _, c := range []struct {
		model string
		bytes int // of the system prompt
		r     pawl.Request
		want  string
		marks int
	}{
		{"claude-sonnet-5-5", 600, pawl.Request{}, `{"type":"ephemeral"}`, 2},
		{"claude-sonnet-5-5", 600, pawl.Request{Long: true}, `{"type":"ephemeral","ttl":"1h"}`, 2},
		{"claude-sonnet-5-5", 600, pawl.Request{Sampling: pawl.Sampling{Cache: "off"}}, "", 0},
		{"claude-sonnet-5-5", 400, pawl.Request{}, "", 0},
		{"claude-sonnet-5-5", 500, pawl.Request{}, `{"type":"ephemeral"}`, 1}, // with the message it may be long enough
		{"claude-haiku-4-5", 4000, pawl.Request{}, "", 0},
		{"claude-haiku-4-5", 4100, pawl.Request{}, `{"type":"ephemeral"}`, 2},
		{"claude-haiku-4-5", 4000, pawl.Request{Tools: []pawl.ToolInfo{{Name: "now"}}}, `{"type":"ephemeral"}`, 2},
		{"house", 1, pawl.Request{Long: true}, `{"type":"ephemeral","ttl":"1h"}`, 2},
	} {
		c.r.System = strings.Repeat("x", c.bytes)
		sent := send(t, c.model, c.r)
		if marks := strings.Count(sent, `"cache_control":`); marks != c.marks || strings.Count(sent, `"cache_control":`+c.want) != marks {
			t.Errorf("%s, %d bytes: %d marks, want %d %s: %s", c.model, c.bytes, marks, c.marks, c.want, sent)
		}
	}
}

var must = check.Must
