package workflow_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
)

// A round costs the same however many went before it.
func BenchmarkRounds(b *testing.B) {
	noop := tool.Func("noop", "Do nothing.", func(_ context.Context, in word) (word, error) { return in, nil }, pawl.Read)
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			agent := New(pawl.Agent{Name: "flow", Tools: []pawl.Tool{noop}},
				While{ID: "w", Cond: "true", Max: n, Do: []Step{Call{ID: "a", Tool: "noop", Args: map[string]any{"word": "{{input}}{{steps.w.rounds}}"}}}})
			b.ReportAllocs()
			for b.Loop() {
				if r, err := engine.Run(b.Context(), agent, "x"); err != nil || r.ToolCalls != n {
					b.Fatal(r.Verdict, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/round")
		})
	}
}
