package progress_test

import (
	"fmt"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/progress"
)

// long is a run of many turns, each of them new, with a goal that names so much
// as open; zero: without a goal.
func long(turns, open int) (s *pawl.State) {
	s = new(pawl.State)
	d := pawl.Declaration{Agent: "long", Loop: "react", Machine: pawl.MachineNumber, Tools: []pawl.ToolInfo{edit{}.Info()}}
	if open > 0 {
		d.Goal = "metric >= 0"
	}
	add := func(it int, e pawl.Event) {
		s.Fold(pawl.Entry{Run: "r", Seq: s.Seq() + 1, At: s.Seq(), Iteration: it, Event: e})
	}
	add(0, pawl.RunStarted{Declaration: d, Input: "go"})
	ids := make([]string, open)
	for i := range ids {
		ids[i] = fmt.Sprint("example.com/package.Test", i)
	}
	for i := 1; i <= turns; i++ {
		c := pawl.Call{ID: fmt.Sprint("c_", i), Tool: "edit", Args: fmt.Appendf(nil, `{"n":%d}`, i)}
		add(i, pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1})
		add(i, pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{Parts: []pawl.Part{c}, Stop: pawl.StopCalls}})
		add(i, pawl.ToolStarted{Call: c.ID, Tool: "edit", Args: c.Args, Effect: pawl.Read, Attempt: 1})
		add(i, pawl.ToolFinished{Call: c.ID, Tool: "edit", Status: pawl.ToolOK, Result: fmt.Appendf(nil, "%d", i)})
		if open > 0 {
			add(i, pawl.Measured{Value: float64(-open), Open: ids})
		}
	}
	return s
}

// BenchmarkReview is what the policy costs a turn, early and late in a run.
func BenchmarkReview(b *testing.B) {
	p, think := progress.NoProgress(progress.Window, progress.Fail, ""), pawl.Think{Purpose: pawl.PurposeTurn}
	for _, open := range []int{0, 10, 500} {
		for _, turns := range []int{100, 10_000} {
			b.Run(fmt.Sprintf("open=%d/turns=%d", open, turns), func(b *testing.B) {
				s := long(turns, open)
				b.ReportAllocs()
				for b.Loop() {
					if step := p.Review(s, think); step != pawl.Step(think) {
						b.Fatalf("it objects: %+v", step)
					}
				}
			})
		}
	}
}
