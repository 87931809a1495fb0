package cli

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

// A test whose verdict changes has a line, and so has what the model says and does.
func TestFixView(t *testing.T) {
	var out bytes.Buffer
	a := &app{console: console{err: &lockedWriter{w: &out}}}
	v := &fixView{view: a.liveView(func(pawl.Entry) {}), a: a}
	seq := uint64(0)
	add := func(turn int, events ...pawl.Event) {
		for _, e := range events {
			seq++
			v.add(pawl.Entry{Seq: seq, At: seq - 1, Iteration: turn, Event: e}, false)
		}
	}
	add(0, pawl.RunStarted{}, pawl.Observed{Text: "FAIL"}, pawl.Measured{Value: -2, Open: []string{"m.TestA", "m.TestB"}})
	add(1, pawl.ModelCalled{Purpose: pawl.PurposeTurn}, pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Say("Looking at the sum.")},
		pawl.ToolFinished{Call: "c1", Tool: "edit_file", Status: pawl.ToolOK, Result: []byte(`"sum.go: replaced at line 3"`)},
		pawl.Observed{Text: "FAIL"}, pawl.Measured{Value: -2, Open: []string{"m.TestB", "m.TestC\x1b[2J"}})
	add(2, pawl.ToolFinished{Call: "c2", Tool: "edit_file", Status: pawl.ToolFailed, Error: "old does not occur"},
		pawl.Measured{Value: -2, Open: []string{"m.TestA"}}, pawl.ProgressJudged{Judgement: pawl.JudgedRefuted, Detail: "done is claimed"})
	add(3, pawl.Measured{Value: -2, Open: []string{"m.TestA", "m [panic in TestA]"}}, pawl.Measured{Value: -2, Open: []string{"m.TestD"}})
	want := `[0] fails: m.TestA
[0] fails: m.TestB
[1] Looking at the sum.
[1] sum.go: replaced at line 3
[1] passes now: m.TestA
[1] newly fails: m.TestC
[2] c2 edit_file: error after 0 ms: old does not occur
[2] passes now: m.TestB
[2] passes now: m.TestC
[2] fails again: m.TestA
[2] it says it is done, but the tests fail
[3] m [panic in TestA] kept the tests after it from running
[3] passes now: m.TestA
[3] ran for the first time, and fails: m.TestD
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
