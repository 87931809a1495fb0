package guard_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/guard"
)

// lived is a run of so many turns, each of which reads a page and looks somebody
// up. look is called when the calls of a turn are open; one of them is of
// consequence.
func lived(b *testing.B, turns int, look func(m *pawl.Machine, s *pawl.State)) {
	b.Helper()
	s := &scenario{}
	a := s.agent(nil, func(pawl.Call) {}, guard.DataFlow(nil))
	a.Limits.Iterations, a.Limits.Tokens = 10_000, 1<<40
	m, err := pawl.NewMachine(a)
	if err != nil {
		b.Fatal(err)
	}
	state := new(pawl.State)
	fold := func(iteration int, e pawl.Event) {
		state.Fold(pawl.Entry{Run: "r", Seq: state.Seq() + 1, At: state.Seq(), Time: time.Unix(int64(state.Seq()), 0), Iteration: iteration, Event: e})
	}
	page, _ := json.Marshal(strings.Repeat("A line of what a page says, with a path /usr/lib/go, a number 123456 and a time 12:30:45.\n", 100))
	fold(0, pawl.RunStarted{Declaration: m.Declaration(), Input: "Tell bob@corp.example what you find."})
	for i := range turns {
		id := func(n int) string { return fmt.Sprintf("c_%d", 3*i+n) }
		fold(i+1, pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1})
		fold(i+1, pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{Stop: pawl.StopCalls, Parts: []pawl.Part{
			pawl.Call{ID: id(1), Tool: "send_email", Args: json.RawMessage(`{"to":["bob@corp.example"],"body":"It is known."}`)},
			pawl.Call{ID: id(2), Tool: "fetch", Args: json.RawMessage(fmt.Sprintf(`{"url":"https://news.example/%d"}`, i))},
			pawl.Call{ID: id(3), Tool: "find_contact", Args: json.RawMessage(`{"name":"bob"}`)},
		}}})
		look(m, state)
		fold(i+1, pawl.ToolFinished{Call: id(1), Tool: "send_email", Status: pawl.ToolOK, Result: json.RawMessage(`"sent"`)})
		fold(i+1, pawl.ToolFinished{Call: id(2), Tool: "fetch", Status: pawl.ToolOK, Result: page})
		fold(i+1, pawl.ToolFinished{Call: id(3), Tool: "find_contact", Status: pawl.ToolOK, Result: json.RawMessage(`{"email":"bob@corp.example"}`)})
	}
}

// BenchmarkDataFlow reviews the calls of a turn, each turn of a run once: what is
// read of a run once is not read again, however long it gets. A page has 9 KB.
func BenchmarkDataFlow(b *testing.B) {
	for _, turns := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				b.StopTimer()
				lived(b, turns, func(m *pawl.Machine, s *pawl.State) {
					b.StartTimer()
					m.Decide(s)
					b.StopTimer()
				})
				b.StartTimer()
				n += turns
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/turn")
		})
	}
}

// BenchmarkDataFlowAgain reviews the calls of the last turn again, as happens
// while the policies settle.
func BenchmarkDataFlowAgain(b *testing.B) {
	for _, turns := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			var m *pawl.Machine
			var last *pawl.State
			lived(b, turns, func(of *pawl.Machine, s *pawl.State) { m, last = of, s.Clone() })
			m.Decide(last)
			for b.Loop() {
				m.Decide(last)
			}
		})
	}
}
