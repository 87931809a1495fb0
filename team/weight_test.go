package team_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// results returns the results that a model has read, oldest first.
func results(r pawl.Request) (all []string) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if res, ok := p.(pawl.ToolResult); ok {
				all = append(all, res.Text())
			}
		}
	}
	return all
}

// drive runs an agent to its end, and checks that the run can be decided again.
func drive(t *testing.T, j pawl.Journal, a pawl.Agent) pawl.Result {
	t.Helper()
	h, err := engine.New(j, nil).Start(t.Context(), a, "Scout.", &engine.StartOptions{ID: "r"})
	must(t, err)
	r, err := h.Wait(t.Context())
	must(t, err)
	if _, err := engine.New(j, nil).Replay(t.Context(), a, "r"); err != nil {
		t.Error(err)
	}
	return r
}

// TestWeight: what is left of the limits is divided by weight among the calls of a reply.
func TestWeight(t *testing.T) {
	shares := func(b tool.AgentOptions) (tokens []float64) {
		scout := pawl.Agent{Name: "scout", Description: "Finds out.", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Say("seen"), nil
		})}
		b.Name = "b"
		a := pawl.Agent{Name: "lead", Tools: []pawl.Tool{tool.Agent(scout, &tool.AgentOptions{Name: "a"}), tool.Agent(scout, &b)}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if len(results(r)) == 0 {
				return pawl.Do(do("a", `{"input":"x"}`), do("b", `{"input":"x"}`)), nil
			}
			return pawl.Say("done"), nil
		})}
		j := memory.New()
		drive(t, j, a)
		for e, err := range engine.Entries(t.Context(), j, "r", 1) {
			if c, ok := e.Event.(pawl.ChildStarted); ok && err == nil {
				tokens = append(tokens, float64(c.Limits.Tokens)/500_000)
			}
		}
		return tokens
	}
	for want, got := range map[string][]float64{
		"[0.50 0.50]": shares(tool.AgentOptions{}),
		"[0.25 0.75]": shares(tool.AgentOptions{Weight: 3}),
	} {
		if s := fmt.Sprintf("%.2f", got); s != want {
			t.Errorf("the shares are %s, want %s", s, want)
		}
	}
}
