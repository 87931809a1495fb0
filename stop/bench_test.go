package stop_test

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// BenchmarkEval asks conditions that do not hold, which is what a run does
// before every step, after a thousand turns.
func BenchmarkEval(b *testing.B) {
	w := newWorld("hello", true)
	for range 1000 {
		w.think("nothing yet", pawl.Usage{Input: 10, Output: 10}, 0.001, call{tool: "search", args: `{"category":"cloud","page":3}`, status: pawl.ToolOK})
	}
	for name, source := range map[string]string{
		"documented": `tool_called("submit_po") && confidence >= 0.9 || iterations >= 10000`,
		"numbers":    `tokens > 1000000 || cost > 50 || elapsed > 1h || tool_errors >= 3 || stalled(2000)`,
		"text":       `text_matches("FINAL ANSWER") || user_said("stop") > 2`,
		"predicate":  `tool_called("search", args.category == "paper")`,
	} {
		c, err := stop.Parse(source, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c.Eval(&w.state).Holds {
					b.Fatal("holds")
				}
			}
		})
	}
}
