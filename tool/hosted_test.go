package tool_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/tool"
)

func ExampleHosted() {
	a := pawl.Agent{
		Name:   "reporter",
		Model:  anthropic.New("claude-sonnet-5-5", nil),
		Tools:  []pawl.Tool{tool.Hosted(tool.WebSearch, &tool.HostedOptions{MaxCalls: 3})},
		Limits: pawl.Limits{Cost: 0.50},
	}
	_, err := pawl.NewMachine(a)
	fmt.Println(err)
	a.Limits = pawl.Limits{}
	a.Model = openai.New("house", &openai.Options{BaseURL: "http://localhost:11434/v1"}) // Chat Completions
	_, err = pawl.NewMachine(a)
	fmt.Println(err)
	// Output:
	// <nil>
	// agent "reporter": tool "web_search": openai/house does not run web_search itself in Chat Completions; the Responses API does (wire: openai-responses)
}

// other is a model whose provider runs everything, at a price without searches.
type other struct{}

func (other) Hosts([]pawl.ToolInfo) error { return nil }

func (other) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "other", Price: &pawl.Price{Input: 1, Output: 1}}
}

func (other) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] { return nil }

func TestHostedIsChecked(t *testing.T) {
	search := tool.Hosted(tool.WebSearch, nil)
	for name, c := range map[string]struct {
		agent pawl.Agent
		want  string // empty: nothing is wrong
	}{
		"fine":     {pawl.Agent{Model: other{}, Tools: []pawl.Tool{search}}, ""},
		"unknown":  {pawl.Agent{Model: other{}, Tools: []pawl.Tool{tool.Hosted("images", nil)}}, `tool "images": no provider runs it`},
		"json":     {pawl.Agent{Model: other{}, Strategy: pawl.StrategyJSON, Tools: []pawl.Tool{search}}, "the json strategy offers no hosted tools"},
		"price":    {pawl.Agent{Model: other{}, Limits: pawl.Limits{Cost: 1}, Tools: []pawl.Tool{search}}, "does not say what a search costs"},
		"fallback": {pawl.Agent{Model: other{}, Fallback: []pawl.Model{openai.New("house", &openai.Options{API: openai.Chat})}, Tools: []pawl.Tool{search}}, "openai/house does not run web_search itself"},
		"two":      {pawl.Agent{Model: other{}, Tools: []pawl.Tool{search, search}}, "there are two of that name"},
	} {
		c.agent.Name = "a"
		if _, err := pawl.NewMachine(c.agent); fmt.Sprint(err) != "<nil>" && c.want == "" || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
