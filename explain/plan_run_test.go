package explain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/journal/memory"
)

// billing is a model that bills four bytes a token, with a cache that has the
// longest beginning a request shares with the one before it.
type billing struct {
	turns int
	last  []string
}

func (*billing) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "some/model", Price: &dear}
}

func (b *billing) Stream(_ context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	pieces := []string{r.System}
	for _, t := range r.Tools {
		pieces = append(pieces, t.Name+t.Description+string(t.Input))
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			text, _ := json.Marshal(p)
			if c, ok := p.(pawl.ToolResult); ok {
				text = c.Content
			}
			pieces = append(pieces, string(text))
		}
	}
	all, same, begins := 0, 0, true
	for i, p := range pieces {
		all += len(p)
		if begins = begins && i < len(b.last) && b.last[i] == p; begins {
			same += len(p)
		}
	}
	b.last = pieces
	reply := pawl.Say("Done.")
	if r.Purpose == pawl.PurposeTurn && b.turns > 1 {
		b.turns--
		reply = pawl.Do(pawl.Call{Tool: "read", Args: fmt.Appendf(nil, `{"n":%d,"why":%q}`, b.turns, strings.Repeat("why ", 290))})
	} else if r.Purpose == pawl.PurposeSummary {
		reply = pawl.Say(strings.Repeat("sum ", 1500))
	}
	reply.Usage = pawl.Usage{Input: all / 4, CacheRead: same / 4, CacheWrite: (all - same) / 4, Output: 300}
	return func(yield func(pawl.Chunk, error) bool) { yield(pawl.Chunk{Reply: &reply}, nil) }
}

type reading struct{}

func (reading) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "read", Description: "Reads.", Effect: pawl.Read, Input: []byte(`{"type":"object","properties":{"n":{"type":"integer"},"why":{"type":"string"}}}`)}
}

func (reading) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{JSON: []byte(`"` + strings.Repeat("word", 1200) + `"`)}, nil
}

// TestPlanAgainstRuns: a run that is as the plan takes it to be costs what the
// plan says, with the conversation shortened or not.
func TestPlanAgainstRuns(t *testing.T) {
	for _, turns := range []int{1, 5, 20, 60, 120} {
		agent := pawl.Agent{Name: "planned", Prompt: strings.Repeat("Do it. ", 500), Model: &billing{turns: turns}, Tools: []pawl.Tool{reading{}},
			Limits: pawl.Limits{Iterations: turns, Tokens: 1 << 40}}
		m, err := pawl.NewMachine(agent)
		if err != nil {
			t.Fatal(err)
		}
		p := explain.PlanOf(m, &explain.PlanOptions{Input: "Go.", Iterations: turns})
		run, err := engine.New(memory.New(), nil).Start(t.Context(), agent, "Go.", nil)
		if err != nil {
			t.Fatal(err)
		}
		report, err := explain.Of(run.Entries(t.Context()), nil)
		if err != nil || report.Status != pawl.StatusSuccess || report.Iterations != turns {
			t.Fatalf("%v after %d turns: %s, %v", report.Status, report.Iterations, report.Reason.Detail, err)
		}
		k := report.Spending.Compaction
		t.Logf("%3d turns: planned $%.4f (otherwise $%.4f), cost $%.4f; shortened %d times, cost $%.4f, saved $%.4f; avoidable %d tokens",
			turns, *p.Likely.CostUSD, *p.Otherwise.CostUSD, *report.CostUSD, k.Times, *k.CostUSD, *k.Saved.CostUSD, report.Spending.Cache.Avoidable.Tokens)
		if off := *p.Likely.CostUSD / *report.CostUSD; off < 0.9 || off > 1.1 {
			t.Errorf("%d turns are planned at $%v and cost $%v", turns, *p.Likely.CostUSD, *report.CostUSD)
		}
		if n := report.Spending.Cache.Avoidable.Tokens; n > 0 {
			t.Errorf("%d turns: %d tokens were avoidable misses, of a cache that missed nothing", turns, n)
		}
		if saved := *p.Otherwise.CostUSD - *report.CostUSD; turns >= 60 && (*k.NetUSD < 0.7*saved || *k.NetUSD > 1.3*saved) {
			t.Errorf("%d turns: compaction is said to have saved $%v net, and the plan without it is $%v dearer", turns, *k.NetUSD, saved)
		}
	}
}
