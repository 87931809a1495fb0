package fakeprovider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

// searcher searches, has the turn paused or calls a tool, runs code beside a call, and answers.
func searcher(pause bool) pawl.Model {
	hosted := func(tool, args, result string) pawl.HostedCall {
		return pawl.HostedCall{Call: pawl.Call{Tool: tool, Args: json.RawMessage(args)}, Result: json.RawMessage(result)}
	}
	bern := hosted("web_search", `{"query":"bern"}`, `[{"title":"Bern","url":"https://example.org/bern"}]`)
	more := hosted("web_search", `{"query":"more"}`, `[]`)
	first := pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: "Hm."}, pawl.Text{Text: "I look further."}}, Hosted: []pawl.HostedCall{bern, more, more}, Stop: pawl.StopPause}
	if !pause {
		first.Parts, first.Stop = append(first.Parts, pawl.Call{Tool: "note", Args: json.RawMessage(`{"Text":"more"}`)}), 0
	}
	second := pawl.Do(pawl.Call{Tool: "note", Args: json.RawMessage(`{"Text":"Bern"}`)})
	second.Hosted = []pawl.HostedCall{hosted("code_execution", `{"code":"print(1)"}`, `{"stdout":"1\n","return_code":0}`)}
	return searches(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		results := 0
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if _, is := p.(pawl.ToolResult); is {
					results++
				}
			}
		}
		switch paused := r.Messages[len(r.Messages)-1].Role == pawl.RoleAssistant; {
		case results == 0 && !paused:
			return first, nil
		case results == 0 || results == 1 && !pause:
			return second, nil
		}
		return pawl.Say("Bern has 134,591 inhabitants."), nil
	})
}

// searches is a model whose provider runs everything.
type searches func(context.Context, pawl.Request) (pawl.Reply, error)

func (f searches) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return pawl.ModelFunc(f).Stream(ctx, r)
}

func (searches) Hosts([]pawl.ToolInfo) error { return nil }

func noter() pawl.Tool {
	return tool.Func("note", "Notes.", func(context.Context, struct{ Text string }) (string, error) { return "noted", nil }, pawl.Idempotent)
}

// Each wire has the tools that its provider runs as its reference says: what the provider did
// is in the log, bounded and priced, and what it wants back goes back as it came.
func TestHosted(t *testing.T) {
	price := &pawl.Price{Input: 1, Output: 1, Search: 0.01, Session: 0.03}
	for name, c := range map[string]struct {
		model func(url string) pawl.Model
		want  []string
		uses  string
	}{
		"anthropic": {func(url string) pawl.Model {
			return anthropic.New("claude-sonnet-5-5", &anthropic.Options{BaseURL: url, APIKey: "k", Price: price})
		}, []string{
			`c_1 web_search {"query":"bern"} [{"title":"Bern","url":"https://example.org/bern"}] `,
			`c_2 web_search {"query":"more"} [] `, `c_3 web_search {"query":"more"}  max_uses_exceeded`,
			`c_4 code_execution {"code":"print(1)"} {"return_code":0,"stderr":"","stdout":"1\n"} `,
		}, "2 searches, 0 sessions"},
		"responses": {func(url string) pawl.Model {
			return openai.New("gpt-6.2-sol", &openai.Options{API: openai.Responses, BaseURL: url, APIKey: "k", Price: price})
		}, []string{
			`c_1 web_search {"query":"bern","type":"search"} [{"title":"Bern","url":"https://example.org/bern"}] `,
			`c_2 web_search {"query":"more","type":"search"} [] `, `c_3 web_search {"query":"more","type":"search"} [] `,
			`c_5 code_execution {"code":"print(1)"} [{"logs":"{\"stdout\":\"1\\n\",\"return_code\":0}"}] `,
		}, "3 searches, 1 sessions"},
		"google": {func(url string) pawl.Model {
			return google.New("gemini-4-hydrogen", &google.Options{BaseURL: url, APIKey: "k", Price: price})
		}, []string{
			`c_1 web_search {"queries":["bern","more","more"]} [{"web":{"title":"Bern","uri":"https://example.org/bern"}}] `,
			`c_3 code_execution {"code":"print(1)"} "{\"stdout\":\"1\\n\",\"return_code\":0}" `,
		}, "3 searches, 0 sessions"},
	} {
		t.Run(name, func(t *testing.T) {
			fake := fakeprovider.New(searcher(name == "anthropic"), nil)
			srv := httptest.NewServer(fake)
			defer srv.Close()
			defer fake.Close()
			e := engine.New(memory.New(), nil)
			defer e.Close()
			run, err := e.Start(t.Context(), pawl.Agent{
				Name: "searcher", Model: c.model(srv.URL), Limits: pawl.Limits{Cost: 1},
				Tools: []pawl.Tool{tool.Hosted(tool.WebSearch, &tool.HostedOptions{MaxCalls: 2}), tool.Hosted(tool.CodeExecution, nil), noter()},
			}, "How many people live in Bern?", nil)
			must(t, err)
			res, err := run.Wait(t.Context())
			must(t, err)
			if res.Answer != "Bern has 134,591 inhabitants." {
				t.Errorf("the run ended as %v with %q", res.Verdict, res.Answer)
			}
			var got []string
			s := new(pawl.State)
			for entry, err := range run.Entries(t.Context()) {
				must(t, err)
				if reply, ok := entry.Event.(pawl.ModelReplied); ok {
					for _, h := range reply.Reply.Hosted {
						got = append(got, fmt.Sprintf("%s %s %s %s %s", h.Call.ID, h.Call.Tool, h.Call.Args, h.Result, h.Error))
					}
				}
				s.Fold(entry)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("what the provider ran (-want +got):\n%s", d)
			}
			u := s.Usage()
			if uses := fmt.Sprintf("%d searches, %d sessions", u.Searches, u.Sessions); uses != c.uses {
				t.Errorf("it used %s, not %s", uses, c.uses)
			}
			dollars, _ := s.Cost()
			if fees := dollars - float64(u.Input+u.Output)/1e6; fees < 0.0099*float64(u.Searches) {
				t.Errorf("%v dollars are too few for %s", dollars, c.uses)
			}
			if !s.Tainted() {
				t.Error("the run is not tainted")
			}
			for _, r := range fake.Requests() {
				if len(r.Problems) > 0 {
					t.Errorf("the provider objects to a request: %q\n%s", r.Problems, r.Body)
				}
			}
		})
	}
}

// A run survives its process at every entry, and is asked to pay for a search once more only
// where the reply was lost.
func TestHostedIsKilledEverywhere(t *testing.T) {
	log := pawltest.KillEverywhere(t, func() pawl.Agent {
		return pawl.Agent{Name: "searcher", Model: searcher(true), Tools: []pawl.Tool{tool.Hosted(tool.WebSearch, nil), tool.Hosted(tool.CodeExecution, nil), noter()}}
	}, "How many people live in Bern?", nil)
	if last, ok := log[len(log)-1].Event.(pawl.RunStopped); !ok || last.Status != pawl.StatusSuccess {
		t.Errorf("the log ends with %+v", log[len(log)-1].Event)
	}
}
