package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/tool"
)

// TestApproverNeedsNoDisk: an approver answers while the run lives, so a journal
// in memory is enough for what it decides: the agent's calls and those of agents
// that are its tools. It is not enough for what only somebody outside can give.
func TestApproverNeedsNoDisk(t *testing.T) {
	yes := &engine.Options{Approver: engine.ApproverFunc(func(_ context.Context, r engine.Request) (engine.Decision, error) {
		return engine.Decision{Approve: r.Tool == "pay"}, nil
	})}
	as := func(a pawl.Agent) pawl.Agent { return a }
	for name, c := range map[string]struct {
		change func(pawl.Agent) pawl.Agent
		opt    *engine.Options
		refuse string // what the error says; empty: the run succeeds
	}{
		"approver":    {as, yes, ""},
		"no approver": {as, nil, "set Options.Approver"},
		"sub-agent": {func(a pawl.Agent) pawl.Agent {
			return pawl.Agent{Name: "boss", Model: turns([]pawl.Call{{Tool: "payer", Args: json.RawMessage(`{"input":"pay"}`)}}), Tools: []pawl.Tool{tool.Agent(a, &tool.AgentOptions{Description: "Pay."})}}
		}, yes, ""},
		"sub-agent, no approver": {func(a pawl.Agent) pawl.Agent {
			return pawl.Agent{Name: "boss", Model: says(pawl.Say("")), Tools: []pawl.Tool{tool.Agent(a, &tool.AgentOptions{Description: "Pay."})}}
		}, nil, "set Options.Approver"},
		"question": {func(a pawl.Agent) pawl.Agent {
			a.Policies = append(a.Policies, progress.NoProgress(3, progress.Escalate, ""))
			return a
		}, yes, "use a journal on disk"},
		"client tool": {func(a pawl.Agent) pawl.Agent {
			a.Tools = append(a.Tools, part{pawl.ToolInfo{Name: "pick", Client: true, Input: json.RawMessage(`{"type":"object"}`)}})
			return a
		}, yes, "use a journal on disk"},
		"sub-agent that asks": {func(a pawl.Agent) pawl.Agent {
			a.Tools = append(a.Tools, part{pawl.ToolInfo{Name: "pick", Client: true, Input: json.RawMessage(`{"type":"object"}`)}})
			return pawl.Agent{Name: "boss", Model: says(pawl.Say("")), Tools: []pawl.Tool{tool.Agent(a, &tool.AgentOptions{Description: "Pay."})}}
		}, yes, "use a journal on disk"},
	} {
		t.Run(name, func(t *testing.T) {
			l := new(ledger)
			h, err := engine.New(memory.New(), c.opt).Start(t.Context(), c.change(payer(l, call("pay", 1))), "go", nil)
			if c.refuse != "" {
				if err == nil || !strings.Contains(err.Error(), c.refuse) {
					t.Fatalf("%v; it must say %q", err, c.refuse)
				}
				return
			}
			must(t, err)
			ends(t, h, pawl.StatusSuccess)
			if n := l.len(); n != 1 {
				t.Errorf("paid %d times", n)
			}
		})
	}
}
