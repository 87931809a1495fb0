package pawl_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/stop"
)

// TestContradictions: everything that makes no sense is told at once, each with
// what would be right.
func TestContradictions(t *testing.T) { // Promises: D8.
	bad := func(i pawl.ToolInfo) pawl.Tool { return deed{i} }
	for _, c := range []struct {
		agent pawl.Agent
		want  string
	}{
		{pawl.Agent{}, `agent "": agent name "": use lower-case letters, digits and hyphens
model: none is set; set Agent.Model`},
		{pawl.Agent{
			Name: "My Agent", Model: pawl.ModelFunc(nil), Loop: pawl.SingleCall{}, Builtins: true, Strategy: pawl.StrategyJSON,
			Serial: true, MaxParallel: 2,
			Tools: []pawl.Tool{
				nil, bad(pawl.ToolInfo{Name: "look"}), bad(pawl.ToolInfo{Name: "look"}), bad(pawl.ToolInfo{Name: "a b"}),
				bad(pawl.ToolInfo{Name: "__mine__"}), bad(pawl.ToolInfo{Name: "n", Timeout: -1}), bad(pawl.ToolInfo{Name: "s", Input: []byte(`{"type":1}`)}),
			},
			Limits:   pawl.Limits{Iterations: 10_001, Tokens: -1, Time: -1, Cost: 2, ToolErrors: -1, Margin: 11},
			Policies: []pawl.Policy{nil, progress.NoProgress(-1, 0, "")}, Goal: &pawl.Goal{},
			Output: json.RawMessage(`{"type":"nonsense"}`), Sampling: pawl.Sampling{MaxTokens: -1},
			Stop: must(stop.Parse(`tool_called("nosuch")`, nil)),
		}, `agent "My Agent": agent name "My Agent": use lower-case letters, digits and hyphens
limits: iterations is 10,001; the most is 10,000
limits: tokens is -1; it must be positive
limits: time is -1ns; it must be positive
limits: cost is $2, but the model has no price; give it one or drop the ceiling
limits: tool_errors and attempts must be positive
limits: margin is 11; it is a fraction such as 0.1
tools: one of them is nil
tool "look": there are two of that name
tool "a b": a name has 1 to 64 letters, digits, _ or -
tool "__mine__": names that begin with __ belong to the machine
tool "n": Timeout, MaxOutput, MaxCalls, MaxParallel and Weight may not be negative
tool "s": input: schema at /type: value matches none of the alternatives: (1) value must be one of "array", "boolean", "integer", "null", "number", "object", "string"; (2) value must be an array, got the number 1
loop single: it offers no tools, but the agent has 7; use the react loop or drop them
loop single: it offers no tools; drop Builtins
loop single: the json strategy is a way to call tools; use native
goal: it needs both a Metric and a Success condition
output: schema at /type: value matches none of the alternatives: (1) value must be one of "array", "boolean", "integer", "null", "number", "object", "string"; (2) value must be an array, got the string "nonsense"
sampling: MaxTokens may not be negative
max_parallel: MaxParallel is 2, but a Serial agent makes one call at a time; drop one of them
policies: one of them is nil
column 13: tool_called("nosuch") can never hold: the agent has no tool nosuch (there is __complete__, __log_progress__, __mine__, __pause_for_human__, __retrieve_memory__, __store_memory__, a b, look, look, n, s)
no_progress(-1, fail): the window may not be negative, and then is fail, escalate or hint`},
		{pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil), Tools: []pawl.Tool{bad(pawl.ToolInfo{Name: "look"})}, Sampling: pawl.Sampling{ToolChoice: "see"}},
			`agent "a": sampling: ToolChoice is "see"; use required, none or the name of a tool that the agent runs`},
		{pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil), Sampling: pawl.Sampling{ToolChoice: "required"}},
			`agent "a": sampling: ToolChoice is "required", but no tools are offered; add one or leave it out`},
		{pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil), MaxParallel: -1},
			`agent "a": max_parallel: MaxParallel is -1; it may not be negative`},
		{pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil), Stop: must(stop.Parse(`confidence >= 0.9`, nil))},
			`agent "a": column 1: confidence >= 0.9 can never hold: nothing in the agent sets a confidence (add a reflexion policy, or the built-in tools for __complete__)`},
	} {
		_, err := pawl.NewMachine(c.agent)
		if err == nil {
			t.Errorf("%s: no complaint", c.agent.Name)
			continue
		}
		if got := err.Error(); got != c.want {
			t.Error(cmp.Diff(strings.Split(c.want, "\n"), strings.Split(got, "\n")))
		}
	}
}

// restless is a loop that only ever records.
type restless struct{}

func (restless) Name() string { return "restless" }
func (restless) Next(s *pawl.State) pawl.Step {
	return pawl.Record{Events: []pawl.Event{pawl.Noted{By: "restless", Name: "n", Value: fmt.Append(nil, s.Seq())}}}
}

// A loop that only ever records is stopped, too.
func TestNoRunaway(t *testing.T) {
	m := must(pawl.NewMachine(pawl.Agent{Name: "restless", Model: pawl.ModelFunc(nil), Loop: restless{}}))
	s := new(pawl.State)
	var event pawl.Event = pawl.RunStarted{Declaration: m.Declaration()}
	for range 2000 {
		s.Fold(pawl.Entry{Run: "r", Seq: s.Seq() + 1, At: s.Seq(), Event: event})
		switch step := m.Decide(s).(type) {
		case pawl.Record:
			event = step.Events[0]
		case pawl.Finish:
			if v := step.Verdict; v.Status != pawl.StatusFailed || !strings.Contains(v.Detail, "restless") {
				t.Errorf("it ends as %v", v)
			}
			return
		}
	}
	t.Error("it never ends")
}
