package pawl

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pawl-run/pawl/internal/wire"
)

// Equal calls are found as a look at all calls finds them, in whatever order the
// states of a run, and of runs that part ways, are asked.
func TestEqual(t *testing.T) {
	naive := func(s *State, content string) (of string) {
		for c := range s.Calls() {
			if c.Ran && c.OK() && c.Effect == Idempotent && contentKey(c.Tool, c.Args) == content {
				of = c.ID
			}
		}
		return of
	}
	r := rand.New(rand.NewPCG(1, 2))
	states := []*State{labelled(t, nil)}
	found := 0
	for n := range 400 {
		s := states[max(0, len(states)-1-r.IntN(3)*r.IntN(4))] // now and then a run goes another way
		calls := 0
		for range s.Calls() {
			calls++
		}
		reply := Reply{Stop: StopCalls}
		var events []Event
		for i := range 1 + r.IntN(3) {
			call := Call{ID: callID(calls + i + 1), Tool: "look", Args: json.RawMessage(fmt.Sprintf(`{"b":1, "a":%d}`, r.IntN(40)))}
			reply.Parts = append(reply.Parts, call)
			events = append(events, ToolStarted{Call: call.ID, Tool: call.Tool, Args: call.Args, Effect: Effect(1 + r.IntN(3)), Attempt: 1},
				ToolFinished{Call: call.ID, Tool: call.Tool, Status: ToolStatus(1 + r.IntN(2)), Result: wire.Quote(fmt.Sprint(n, i))})
		}
		s = grown(s, ModelCalled{Purpose: PurposeTurn, Attempt: 1}, ModelReplied{Purpose: PurposeTurn, Reply: reply})
		for _, e := range events {
			s = grown(s, e)
			states = append(states, s)
		}
		if r.IntN(4) == 0 {
			if retry, ok := events[len(events)-1].(ToolFinished); ok {
				states = append(states, grown(s, HookDirected{Hook: "h", Direction: directRetry, Call: retry.Call, Entry: s.Seq()}))
			}
		}
		for range 5 {
			s := states[r.IntN(len(states))]
			content := contentKey("look", []byte(fmt.Sprintf(`{"a":%d,"b":1}`, r.IntN(40))))
			got, want := s.equal(content), naive(s, content)
			if got != want {
				t.Fatalf("at entry %d: %q, want %q", s.Seq(), got, want)
			}
			if got != "" {
				found++
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d were found", found)
	}
}
