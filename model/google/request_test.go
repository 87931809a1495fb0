package google

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

func ask(text string) []pawl.Message {
	return []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: text}}}}
}

// Each model is asked to think in its own way, and for a level that it knows; it shows its
// thoughts where it thinks. A temperature is sent only where it counts.
func TestEffort(t *testing.T) {
	for _, c := range []struct {
		model, effort string
		max           int
		want          string
	}{
		{"gemini-4-hydrogen", "", 0, `{"maxOutputTokens":16384,"thinkingConfig":{"includeThoughts":true}}`},
		{"gemini-4-hydrogen", "none", 0, `{"maxOutputTokens":16384,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`},
		{"gemini-4-hydrogen", "minimal", 0, `{"maxOutputTokens":16384,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`},
		{"gemini-4-hydrogen", "max", 90000, `{"maxOutputTokens":65536,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"XHIGH"}}`},
		{"gemini-4-argon", "max", 0, `{"maxOutputTokens":16384,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}`},
		{"gemini-5-xenon", "medium", 0, `{"maxOutputTokens":16384,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"MEDIUM"}}`},
		{"gemini-3.8-flash", "minimal", 0, `{"maxOutputTokens":16384,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`},
		{"gemini-3.6-flash", "minimal", 0, `{"maxOutputTokens":16384,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"MINIMAL"}}`},
		{"gemini-3.1-pro-preview", "high", 0, `{"maxOutputTokens":16384,"temperature":0.5,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}`},
		{"gemini-2.5-flash-lite", "", 0, `{"maxOutputTokens":16384,"temperature":0.5}`},
		{"gemini-2.5-flash-lite", "none", 0, `{"maxOutputTokens":16384,"temperature":0.5,"thinkingConfig":{"thinkingBudget":0}}`},
		{"gemini-2.5-flash-lite", "minimal", 0, `{"maxOutputTokens":16384,"temperature":0.5,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":1024}}`},
		{"gemini-2.5-flash-lite", "high", 60000, `{"maxOutputTokens":60000,"temperature":0.5,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":24576}}`},
		{"gemini-2.5-flash-lite", "high", 600, `{"maxOutputTokens":600,"temperature":0.5,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":512}}`},
		{"house", "high", 0, `{"maxOutputTokens":16384,"temperature":0.5}`},
	} {
		m := New(c.model, &Options{APIKey: "key"})
		body, _, err := m.body(pawl.Request{Messages: ask("Hi."), MaxTokens: c.max, Sampling: pawl.Sampling{Effort: c.effort, Temperature: 0.5}}, "", m.server.Lessons())
		must(t, err)
		var doc struct {
			Config json.RawMessage `json:"generationConfig"`
		}
		must(t, json.Unmarshal(body, &doc))
		if d := cmp.Diff(c.want, string(doc.Config)); d != "" {
			t.Errorf("%s, effort %q (-want +sent):\n%s", c.model, c.effort, d)
		}
	}
}

// What a model wants back goes to it and its account only; a call that has lost its signature has
// the placeholder.
func TestSignatures(t *testing.T) {
	m := New("gemini-4-hydrogen", &Options{APIKey: "key"})
	const signed, unsigned = `"thoughtSignature":"YQ=="`, `"thoughtSignature":"skip_thought_signature_validator"`
	for name, c := range map[string]struct {
		model *Model
		moved bool
		want  string
	}{
		"the same":         {m, false, signed},
		"another key":      {New("gemini-4-hydrogen", &Options{APIKey: "other"}), false, unsigned},
		"another endpoint": {New("gemini-4-hydrogen", &Options{APIKey: "key", BaseURL: "http://127.0.0.1:1"}), false, unsigned},
		"another model":    {New("gemini-4-neon", &Options{APIKey: "key"}), false, unsigned},
		"an older model":   {New("gemini-2.5-flash-lite", &Options{APIKey: "key"}), false, ""},
		"moved, not bound": {m, true, signed},
		"moved and bound":  {bound(m), true, unsigned},
	} {
		p := &piece{kind: "functionCall", call: call{ID: "x", Name: "f"}, rest: map[string]json.RawMessage{"thoughtSignature": json.RawMessage(`"YQ=="`)}}
		parts := p.parts(m.server.Full, m.server.Account())
		think := parts[0].(pawl.Thinking)
		think.Moved = c.moved
		parts[0] = think
		body, _, err := c.model.body(pawl.Request{Messages: append(ask("Hi."), pawl.Message{Role: pawl.RoleAssistant, Parts: parts},
			pawl.Message{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.ToolResult{Ref: "x", Tool: "f", Content: json.RawMessage(`1`)}}})}, "", m.server.Lessons())
		must(t, err)
		var doc struct {
			Contents []struct {
				Parts []map[string]json.RawMessage `json:"parts"`
			} `json:"contents"`
		}
		must(t, json.Unmarshal(body, &doc))
		got := ""
		if s := doc.Contents[1].Parts[0]["thoughtSignature"]; s != nil {
			got = `"thoughtSignature":` + string(s)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// bound is a model as one whose thinking is bound to what stood before it.
func bound(m *Model) *Model {
	other := *m
	other.server.Traits.Bound = true
	return &other
}

// Hosted tools are those of the sheet; beside other tools they are told apart in the reply, which
// Vertex AI has no word for.
func TestHostedTools(t *testing.T) {
	search, own := pawl.ToolInfo{Name: "web_search", Hosted: pawl.Usage{Searches: 1}}, pawl.ToolInfo{Name: "now"}
	code := pawl.ToolInfo{Name: "code_execution", Hosted: pawl.Usage{Sessions: 1}}
	for _, c := range []struct {
		model, base string
		tools       []pawl.ToolInfo
		want        string // the error of Hosts, or else the tools and their configuration
	}{
		{"gemini-4-hydrogen", "", []pawl.ToolInfo{own, search}, `[{"functionDeclarations":[{"name":"now"}]},{"googleSearch":{}}] {"includeServerSideToolInvocations":true}`},
		{"gemini-4-hydrogen", "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google", []pawl.ToolInfo{own, search}, `[{"functionDeclarations":[{"name":"now"}]},{"googleSearch":{}}] `},
		{"gemini-2.5-flash-lite", "", []pawl.ToolInfo{search, code}, `[{"googleSearch":{}},{"codeExecution":{}}] `},
		{"gemini-2.5-flash-lite", "", []pawl.ToolInfo{search, own}, "google/gemini-2.5-flash-lite takes no other tools beside web_search; drop now, or use a model since Gemini 3"},
		{"house", "", []pawl.ToolInfo{search}, "google/house is not known to run web_search itself"},
		{"gemini-4-hydrogen", "", []pawl.ToolInfo{{Name: "web_fetch", Hosted: pawl.Usage{Searches: 1}}}, "google/gemini-4-hydrogen runs no web_fetch itself; it runs web_search and code_execution"},
	} {
		m := New(c.model, &Options{APIKey: "key", BaseURL: c.base})
		var got string
		if err := m.Hosts(c.tools); err != nil {
			got = err.Error()
		} else {
			body, _, err := m.body(pawl.Request{Messages: ask("Hi."), Tools: c.tools}, "", m.server.Lessons())
			must(t, err)
			var doc struct{ Tools, ToolConfig json.RawMessage }
			must(t, json.Unmarshal(body, &doc))
			got = string(doc.Tools) + " " + string(doc.ToolConfig)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.model, got, c.want)
		}
	}
}

var must = check.Must
