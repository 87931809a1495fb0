package fakeprovider_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// at is a transport to a handler, whatever the host.
type at struct{ http.Handler }

func (a at) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	a.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// An agent with two tools, a schema, thinking and a ceiling in dollars runs with the current
// models of OpenAI: at OpenAI with one request for each turn, and behind a gateway with one more,
// in which the adapter learns of the Responses API.
func TestCurrentModelsOfOpenAI(t *testing.T) {
	type in struct{ At string }
	look := func(n int) pawl.Call {
		return pawl.Call{Tool: []string{"look", "peek"}[n%2], Args: json.RawMessage(`{"At":"it"}`)}
	}
	for _, name := range []string{"gpt-6.2-sol", "gpt-6.2-astra", "gpt-6.1-terra", "gpt-6-luna", "gpt-5.6-sol", "gpt-5.4"} {
		for where, base := range map[string]string{"OpenAI": "https://api.openai.com/v1", "a gateway": "https://" + name + ".gateway.example/v1"} {
			brain := script.Replies(
				pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: "Hm."}, look(0), look(1)}, Usage: pawl.Usage{Input: 1500, Output: 40, CacheWrite: 1200}},
				pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: "I see."}, pawl.Text{Text: `{"answer":"blue"}`}}, Usage: pawl.Usage{Input: 1700, Output: 40, CacheRead: 1200}},
			)
			fake := fakeprovider.New(brain, nil)
			f := func(context.Context, in) (string, error) { return "it is blue", nil }
			got, err := engine.Run(t.Context(), pawl.Agent{
				Name: "current", Prompt: "You look at things.", Model: openai.New(name, &openai.Options{APIKey: "key", BaseURL: base, HTTPClient: &http.Client{Transport: at{fake}}}),
				Sampling: pawl.Sampling{Effort: "high"},
				Tools:    []pawl.Tool{tool.Func("look", "Looks.", f, pawl.Read), tool.Func("peek", "Peeks.", f, pawl.Read)},
				Output:   json.RawMessage(`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}`),
				Limits:   pawl.Limits{Cost: 50},
			}, "What colour is it?")
			if err != nil || got.Status != pawl.StatusSuccess || got.Answer != `{"answer":"blue"}` || got.CostUSD == nil || got.Usage.CacheWrite != 1200 {
				t.Errorf("%s at %s: %+v, %v", name, where, got, err)
			}
			var paths, efforts []string
			for _, r := range fake.Requests() {
				paths = append(paths, r.Path[strings.LastIndexByte(r.Path, '/')+1:])
				efforts = append(efforts, r.Decoded.Sampling.Effort)
			}
			want := "responses responses"
			if where != "OpenAI" {
				want = "completions " + want
			}
			if strings.Join(paths, " ") != want || efforts[len(efforts)-1] != "high" {
				t.Errorf("%s at %s: requests to %q with efforts %q", name, where, paths, efforts)
			}
			if where == "OpenAI" && len(fake.Problems()) > 0 {
				t.Errorf("%s: %q", name, fake.Problems())
			}
		}
	}
}
