package window_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/window"
)

// quick answers at once, whatever the conversation, so that what is measured is
// the planning and the sending of requests.
type quick struct{ turns int }

func (quick) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "quick", Price: &pawl.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}}
}

func (q quick) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		switch {
		case r.Purpose == pawl.PurposeSummary:
			return pawl.Say(strings.Repeat("sum ", simSummary)), nil
		case r.Turn > q.turns:
			return pawl.Say("Done."), nil
		}
		return pawl.Do(pawl.Call{Tool: "look", Args: fmt.Appendf(nil, `{"n":%d}`, r.Turn)}), nil
	}).Stream(ctx, r)
}

// BenchmarkPlan is the cost of one iteration of a run of so many, whose
// conversation is shortened by price and as it is: it must not grow with the run.
func BenchmarkPlan(b *testing.B) {
	page := strings.Repeat("page ", 200)
	look := tool.Func("look", "Look.", func(_ context.Context, _ struct {
		N int `json:"n"`
	}) (string, error) {
		return page, nil
	}, pawl.Read)
	for _, o := range []window.Options{{}, {Never: true}} {
		for _, n := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("never=%v/%d", o.Never, n), func(b *testing.B) {
				agent := pawl.Agent{Name: "plan", Model: quick{n}, Tools: []pawl.Tool{look}, Policies: []pawl.Policy{window.Compact(&o)},
					Limits: pawl.Limits{Iterations: n + 1, Tokens: 1 << 40}}
				b.ReportAllocs()
				for b.Loop() {
					if r, err := engine.Run(b.Context(), agent, "Look."); err != nil || r.Status != pawl.StatusSuccess {
						b.Fatal(r.Status, r.Reason, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*(n+1)), "ns/iteration")
			})
		}
	}
}
