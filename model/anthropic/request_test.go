package anthropic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/canon"
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
		m := anthropic.New("claude-sonnet-4-5", &anthropic.Options{APIKey: "key", HTTPClient: &http.Client{Transport: b}})
		for range m.Stream(t.Context(), pawl.Request{Output: fmt.Appendf(nil, object, schema)}) {
		}
		var doc struct {
			Config *struct {
				Format struct {
					Schema struct{ Properties struct{ X any } }
				}
			} `json:"output_config"`
		}
		if err := json.Unmarshal(b.sent, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Config == nil || want == "" {
			if (doc.Config == nil) != (want == "") {
				t.Errorf("%s is sent: %v", schema, doc.Config != nil)
			}
			continue
		}
		if got := provider.Marshal(doc.Config.Format.Schema.Properties.X); !canon.Equal(got, []byte(want)) {
			t.Errorf("%s is sent as\n%s, want\n%s", schema, got, want)
		}
	}
}

// The marks of a request say how long it is kept, and there are none if it is not.
func TestCacheMarks(t *testing.T) {
	for want, r := range map[string]pawl.Request{
		`{"type":"ephemeral"}`:            {},
		`{"type":"ephemeral","ttl":"1h"}`: {Long: true},
		"":                                {Sampling: pawl.Sampling{Cache: "off"}},
	} {
		b := &body{}
		m := anthropic.New("claude-sonnet-4-5", &anthropic.Options{APIKey: "key", HTTPClient: &http.Client{Transport: b}})
		r.System, r.Messages = "Be brief.", []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "Hello"}}}}
		for range m.Stream(t.Context(), r) {
		}
		if marks := strings.Count(string(b.sent), `"cache_control":`); marks != 2*min(1, len(want)) || strings.Count(string(b.sent), `"cache_control":`+want) != marks {
			t.Errorf("%s: sent %s", want, b.sent)
		}
	}
}
