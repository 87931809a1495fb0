package runs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/tool"
)

// BenchmarkReport explains runs of growing length as a command does: read,
// without what looks like a secret, and folded. x-fold is how many times as long
// it takes as reading and folding alone.
func BenchmarkReport(b *testing.B) {
	for _, n := range []int{100, 1000, 9999} {
		m, err := script.Parse("bench.yaml", []byte(`
repeat: last
replies:
  - {text: "Looking for number {{turn}}.", usage: {input: 100, output: 10}, calls: [{tool: add, args: {a: "{{turn}}", b: 2}}]}
`))
		if err != nil {
			b.Fatal(err)
		}
		add := tool.Func("add", "adds", func(context.Context, sum) (json.RawMessage, error) {
			return json.RawMessage(`{"sum":3}`), nil
		}, pawl.Read)
		j := memory.New()
		run, err := engine.New(j, nil).Start(b.Context(), pawl.Agent{Name: "bench", Model: m, Tools: []pawl.Tool{add},
			Limits: pawl.Limits{Iterations: n, Tokens: 1 << 40}}, "go", nil)
		if err == nil {
			_, err = run.Wait(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
		var h pawl.Head
		for h, err = range j.List(b.Context(), pawl.Query{}) {
			if err != nil || h.Iterations != n {
				b.Fatal(h, err)
			}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			var folds time.Duration
			for b.Loop() {
				begin := time.Now()
				if _, err := engine.Load(b.Context(), j, h.Run); err != nil {
					b.Fatal(err)
				}
				folds += time.Since(begin)
				if _, err := runs.Report(b.Context(), j, h, explain.Place{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed()-folds)/float64(folds), "x-fold")
			b.ReportMetric(float64(b.Elapsed()-folds)/float64(b.N*n), "ns/iteration")
		})
	}
}

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}
