package pawl

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRetry holds what a hook may have made again at every point of a run, that
// the log's word for it is the State's, and that what is refused changes nothing,
// even if a log says otherwise.
func TestRetry(t *testing.T) {
	s := new(State)
	var log []Entry
	add := func(iteration int, events ...Event) {
		for _, event := range events {
			e := Entry{Run: "r", Seq: s.seq + 1, At: s.seq, Time: time.Unix(int64(s.seq), 0).UTC(), Iteration: iteration, Event: event}
			log = append(log, e)
			s.Fold(e)
		}
	}
	latest := func(typ string) Entry {
		for _, e := range slices.Backward(log) {
			if e.Type() == typ {
				return e
			}
		}
		t.Fatalf("the log has no %s", typ)
		return Entry{}
	}
	check := func(about Entry, refused string) {
		t.Helper()
		d := s.Retry("guard", "no good", about)
		if refused == "" {
			if d.Direction != "retry" || d.Refused != "" || d.Entry != about.Seq {
				t.Errorf("after entry %d, retrying entry %d: %+v", s.seq, about.Seq, d)
			}
			return
		}
		if d.Direction != "retry refused" || !strings.Contains(d.Refused, refused) {
			t.Errorf("after entry %d, retrying entry %d: %+v, want it refused as %q", s.seq, about.Seq, d, refused)
		}
		before := s.Clone()
		for _, direction := range []string{d.Direction, "retry"} {
			d.Direction = direction
			after := s.Clone()
			after.Fold(Entry{Run: "r", Seq: s.seq, At: s.seq - 1, Time: s.time, Iteration: s.iteration, Event: d})
			before.idle, after.idle = 0, 0
			if dumped(before) != dumped(after) {
				t.Errorf("after entry %d, retrying entry %d was refused and changes the state", s.seq, about.Seq)
			}
		}
	}
	calls := func(ids ...string) ModelReplied {
		r := ModelReplied{Purpose: PurposeTurn, Reply: Reply{Stop: StopCalls}}
		for _, id := range ids {
			r.Reply.Parts = append(r.Reply.Parts, Call{ID: id, Tool: "look", Args: json.RawMessage(`{}`)})
		}
		return r
	}
	run := func(id string, effect Effect, attempt int) (Event, Event) {
		return ToolStarted{Call: id, Tool: "look", Effect: effect, Key: "k", Attempt: attempt, Args: json.RawMessage(`{}`)},
			ToolFinished{Call: id, Tool: "look", Status: ToolOK, Result: json.RawMessage(`1`)}
	}

	add(0, RunStarted{Declaration: machines(t)[1].Declaration(), Input: "go"})
	check(log[0], "only the latest reply")
	add(1, ModelCalled{Purpose: PurposeTurn, Attempt: 1}, calls("c_1", "c_2"))
	first := latest("model.replied")
	check(first, "")
	add(1, s.Retry("guard", "", first))
	check(first, "asked again as it is")
	add(1, PlanRejected{Reasons: []string{"no"}, Feedback: "no", Rejection: 1})
	check(first, "asked again as it is")
	add(1, ToolRefused{Call: "c_1", Why: "no"}, ToolRefused{Call: "c_2", Why: "no"})
	check(latest("tool.refused"), "only the latest reply")
	add(1, ModelCalled{Purpose: PurposeTurn, Attempt: 2})
	check(first, "asked again as it is")
	add(1, calls("c_3", "c_4", "c_5"))
	check(first, "only the latest reply")

	start, finish := run("c_3", Read, 1)
	add(1, start)
	check(latest("model.replied"), "calls of the reply were acted on")
	add(1, finish)
	looked := latest("tool.finished")
	check(looked, "")
	start, finish = run("c_4", Write, 1)
	add(1, start, finish)
	check(latest("tool.finished"), "only a call whose effect is read or idempotent")
	add(1, s.Retry("guard", "", looked))
	check(looked, "not the call's latest result")
	if c, _ := s.Call("c_3"); c.Phase != PhaseApproved || c.Result != nil || c.Retries != 1 || c.Attempt != 1 {
		t.Errorf("c_3 is to run again: %+v", c)
	}
	for attempt := 2; attempt <= 3; attempt++ {
		start, finish = run("c_3", Read, attempt)
		add(1, start)
		check(looked, "not the call's latest result")
		add(1, finish)
		check(looked, "not the call's latest result") // the log has a newer one
		if attempt == 2 {
			check(latest("tool.finished"), "")
			add(1, s.Retry("guard", "", latest("tool.finished")))
		}
	}
	check(latest("tool.finished"), "run again 2 times")

	start, finish = run("c_5", Idempotent, 1)
	before := s.bytes
	add(1, start, finish) // the turn is over
	put := latest("tool.finished")
	check(put, "")
	closed := dumped(s)
	add(1, s.Retry("guard", "", put))
	if !s.HasOpen() || s.Iterations() != 0 || len(s.calls) != 2 || s.bytes != before || s.ToolCalls() != 2 || s.Succeeded("look") != 2 {
		t.Errorf("the turn is open again: %d calls answered, %d bytes, %d ran", len(s.calls), s.bytes, s.ToolCalls())
	}
	start, finish = run("c_5", Idempotent, 2)
	add(1, start, finish)
	if s.HasOpen() || s.Iterations() != 1 || len(s.calls) != 5 || s.ToolCalls() != 3 || s.Succeeded("look") != 3 {
		t.Errorf("the turn is over again, and differs from what it was:\n%s\n%s", dumped(s), closed)
	}
	check(latest("model.replied"), "calls of the reply were acted on")
	again := latest("tool.finished")
	check(again, "")
	add(1, ModelCalled{Purpose: PurposeJudge, Attempt: 1})
	check(again, "the model has been told")
	add(1, ModelReplied{Purpose: PurposeJudge, Reply: Say("fine")})
	check(latest("model.replied"), "only the latest reply")
	check(again, "the model has been told")
	add(2, ModelCalled{Purpose: PurposeTurn, Attempt: 1}, ModelReplied{Purpose: PurposeTurn, Reply: Say("done")})
	check(latest("model.replied"), "")
	check(again, "the model has been told")
	add(2, RunForked{From: "q", Seq: s.seq, Input: "and now?"})
	check(latest("model.replied"), "asked again as it is")
}
