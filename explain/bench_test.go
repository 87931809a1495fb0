package explain_test

import (
	"fmt"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
)

// BenchmarkOf explains runs of growing length: the cost of an entry stays the same.
func BenchmarkOf(b *testing.B) {
	for _, n := range []int{30, 300, 3000} {
		m, err := script.Parse("bench.yaml", []byte(endless))
		if err != nil {
			b.Fatal(err)
		}
		nop := fake{pawl.ToolInfo{Name: "search", Input: []byte(anything), Effect: pawl.Read}, nil}
		nop.do = instant
		e := engine.New(memory.New(), nil)
		run, err := e.Start(b.Context(), pawl.Agent{Name: "bench", Model: m, Tools: []pawl.Tool{nop},
			Limits: pawl.Limits{Iterations: n, Tokens: 1 << 40}}, "go", nil)
		if err != nil {
			b.Fatal(err)
		}
		var log []pawl.Entry
		for entry, err := range run.Entries(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			if entry.Seq > 0 {
				log = append(log, entry)
			}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := explain.Of(sequence(log), nil)
				if err != nil || r.Markdown() == "" {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(log)), "ns/entry")
		})
	}
}
