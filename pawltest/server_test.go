package pawltest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

func TestServer(t *testing.T) {
	add := tool.Func("add", "Add two numbers.", func(_ context.Context, in struct{ A, B int }) (int, error) { return in.A + in.B, nil }, pawl.Read)
	for name, model := range map[string]func(base string) pawl.Model{
		"anthropic": func(base string) pawl.Model {
			return anthropic.New("claude-sonnet-5-5", &anthropic.Options{APIKey: "key", BaseURL: base})
		},
		"chat": func(base string) pawl.Model {
			return openai.New("house", &openai.Options{APIKey: "key", BaseURL: base + "/v1"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := pawltest.NewServer(t, script.Replies(
				pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "I add."}, pawl.Call{Tool: "add", Args: []byte(`{"A":1,"B":2}`)}}, Usage: pawl.Usage{Input: 30, Output: 5}},
				pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "It is 3."}}, Usage: pawl.Usage{Input: 40, Output: 4}},
			))
			agent := pawl.Agent{Name: "adder", Prompt: "Add.", Model: model(s.URL), Tools: []pawl.Tool{add}}
			result, err := engine.Run(t.Context(), agent, "What is 1 + 2?")
			if err != nil || result.Err() != nil || result.Answer != "It is 3." {
				t.Fatalf("%v, %v: %q", err, result.Err(), result.Answer)
			}
			if u := result.Usage; result.ToolCalls != 1 || u.Input != 70 || u.Output != 9 {
				t.Errorf("%d calls, usage %+v", result.ToolCalls, u)
			}
		})
	}
}

func TestServerRefuses(t *testing.T) {
	m, err := script.New(&script.Script{Replies: []script.Reply{{Error: &script.Error{Class: pawl.ClassAuth, Message: "no such key"}}}})
	if err != nil {
		t.Fatal(err)
	}
	s := pawltest.NewServer(t, m)
	agent := pawl.Agent{Name: "adder", Model: anthropic.New("claude-sonnet-5-5", &anthropic.Options{APIKey: "key", BaseURL: s.URL})}
	result, err := engine.Run(t.Context(), agent, "Hi.")
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != pawl.StatusFailed || !strings.Contains(result.Reason.Detail, "no such key") || !strings.Contains(result.Reason.Detail, "auth") {
		t.Errorf("%v: %s", result.Status, result.Reason.Detail)
	}
}
