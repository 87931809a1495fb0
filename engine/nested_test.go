package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// TestNestedRunIsRefused: a tool cannot drive a run whose cost no limit of its
// own run would know of, whichever way it goes about it.
func TestNestedRunIsRefused(t *testing.T) {
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
