package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

// greedy is a model that replies with as many tokens as it may, and never has enough. Where it can,
// it asks a person first.
type greedy struct{ pawl.Model }

func (greedy) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "greedy", Price: &pawl.Price{Input: 1, Output: 10}}
}

var insatiable = greedy{pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	reply := pawl.Do(pawl.Call{Tool: "dig", Args: json.RawMessage(`{}`)})
	if len(r.Tools) > 1 && len(r.Messages) == 1 {
		reply = pawl.Do(pawl.Call{Tool: "ask_human", Args: json.RawMessage(`{"question":"Deeper?"}`)})
	}
	reply.Usage = pawl.Usage{Input: 10, Output: r.MaxTokens}
	return reply, nil
})}

// TestGreedyBranches holds that branches that all use whatever they may stay within the ceilings of
// the run together, whichever ceiling it is, also in branches of branches and over a pause.
func TestGreedyBranches(t *testing.T) {
	var dug atomic.Int64 // what is always new is progress
	dig := tool.Func("dig", "Dig.", func(context.Context, struct{}) (string, error) { return fmt.Sprint(dug.Add(1)), nil }, pawl.Read)
	digger := pawl.Agent{Name: "digger", Description: "Digs.", Model: insatiable, Tools: []pawl.Tool{dig}, Limits: pawl.Limits{Iterations: 1000, Tokens: 1_000_000, Cost: 100}}
	asker := digger
	asker.Name, asker.Tools = "asker", []pawl.Tool{tool.AskHuman(), dig}
	run := func(id string, a pawl.Agent) workflow.Step { return Step{ID: id, Agent: &a, Input: "Dig."} }
	for name, limits := range map[string]pawl.Limits{
		"tokens": {Iterations: 1000, Tokens: 60_000}, "cost": {Iterations: 1000, Tokens: 10_000_000, Cost: 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			flow := New(pawl.Agent{Name: "flow", Model: insatiable, Limits: limits},
				Step{ID: "all", Parallel: [][]Step{
					{run("a", digger)}, {run("b", asker)},
					{{ID: "deep", Parallel: [][]Step{{run("c", digger)}, {run("d", digger), run("e", digger)}}}},
				}})
			j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
			must(t, err)
			defer j.Close()
			e := engine.New(j, nil)
			h, err := e.Start(t.Context(), flow, "Go.", nil)
			must(t, err)
			for pass := 0; ; pass++ {
				r, err := h.Wait(t.Context())
				must(t, err)
				used := r.Usage.Input + r.Usage.Output
				if used > limits.Tokens || limits.Cost > 0 && (r.CostUSD == nil || float64(*r.CostUSD) > limits.Cost) {
					t.Errorf("%v: it used %d of %d tokens, $%v of %v", r.Status, used, limits.Tokens, r.CostUSD, limits.Cost)
				}
				if r.Status.Ended() {
					if pass == 0 {
						t.Error("nobody was asked")
					}
					return
				}
				if len(r.Pending) != 1 {
					t.Fatalf("%v: %v", r.Verdict, r.Pending)
				}
				must(t, e.Answer(t.Context(), r.Pending[0].Run, r.Pending[0].Call, "ann", "dig on"))
				if h, err = e.Resume(t.Context(), flow, r.Run, nil); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
