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

// TestNestedRunIsRefused: a tool cannot drive a run whose cost no limit of its
// own run would know of, whichever way it goes about it.
func TestNestedRunIsRefused(t *testing.T) { // Promises: T16.
	j := memory.New()
	eng := engine.New(j, nil)
	asked := 0
	inner := pawl.Agent{Name: "inner", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		asked++
		reply := pawl.Say("done")
		reply.Usage = pawl.Usage{Input: 300_000}
		return reply, nil
	})}
	start := func(t *testing.T, agent pawl.Agent) pawl.Result {
		t.Helper()
		h, err := eng.Start(t.Context(), agent, "go", nil)
		must(t, err)
		return ends(t, h, pawl.StatusSuccess)
	}
	before := start(t, inner)
	asked = 0
	for name, drive := range map[string]func(context.Context) error{
		"run": func(ctx context.Context) error { _, err := engine.Run(ctx, inner, "go"); return err },
		"start": func(ctx context.Context) error {
			_, err := eng.Start(ctx, inner, "go", &engine.StartOptions{Key: "k"})
			return err
		},
		"resume": func(ctx context.Context) error { _, err := eng.Resume(ctx, inner, before.Run, nil); return err },
		"fork":   func(ctx context.Context) error { _, err := eng.Fork(ctx, inner, before.Run, 1, nil); return err },
		"without its end": func(ctx context.Context) error {
			_, err := engine.Run(context.WithoutCancel(ctx), inner, "go")
			return err
		},
	} {
		drives := func(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
			ctx, cancel := context.WithCancel(ctx) // as a tool may derive its own
			defer cancel()
			return pawl.Output{JSON: json.RawMessage(`"ran"`)}, drive(ctx)
		}
		research := fake{name: "research", effect: pawl.Read, run: drives}
		look := fake{name: "look", effect: pawl.Read, run: drives}
		assistant := pawl.Agent{Name: "assistant", Description: "Looks.", Model: turns([]pawl.Call{call("look", 1)}), Tools: []pawl.Tool{look}}
		for kind, outer := range map[string]pawl.Agent{
			"alone":    {Model: turns([]pawl.Call{call("research", 1)}), Tools: []pawl.Tool{research}},
			"together": {Model: turns([]pawl.Call{call("research", 1), call("look", 1)}), Tools: []pawl.Tool{research, look}},
			"below":    {Model: turns([]pawl.Call{ask("assistant")}), Tools: []pawl.Tool{tool.Agent(assistant, nil)}},
			"observer": {Model: turns(), Observer: func(ctx context.Context) (pawl.Observation, error) { return pawl.Observation{}, drive(ctx) }},
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				outer.Name, outer.Limits.Tokens = "outer", 5000
				run := start(t, outer).Run
				if asked != 0 {
					t.Errorf("the inner model was asked %d times", asked)
				}
				if kind == "below" {
					run += ".c_1"
				}
				want := "offer its agent to the model with tool.Agent"
				if kind == "observer" {
					want = "an observer"
				}
				if log := text(t, j, run); !strings.Contains(log, want) || !strings.Contains(log, "cannot start or resume another run") {
					t.Errorf("the log of %s does not say that the run was refused:\n%s", run, log)
				}
			})
		}
	}
}

// text is a log as it is written.
func text(t *testing.T, j pawl.Journal, run string) string {
	t.Helper()
	return strings.Join(logOf(t, j, run), "\n")
}
