package pawl

import (
	"encoding/json"
	"testing"
)

// Who supervised a call says nothing any more about the copy of a run: the run
// itself may have gone on, and the records of the call may have been let go.
func TestImportForgetsSupervisors(t *testing.T) {
	s := justBegun(machines(t)[1])
	add := func(e Event) {
		s.Fold(Entry{Run: "run", Seq: s.Seq() + 1, At: s.Seq(), Time: s.Time(), Iteration: 1, Event: e})
	}
	supervised := func(call, want string) {
		t.Helper()
		if c, ok := s.Call(call); !ok || c.Supervised != want || c.Attempt != 1 {
			t.Errorf("%s is supervised by %q at its attempt %d, want %q", call, c.Supervised, c.Attempt, want)
		}
	}
	add(ModelCalled{Purpose: PurposeTurn, Attempt: 1})
	add(ModelReplied{Purpose: PurposeTurn, Reply: Reply{Parts: []Part{
		Call{ID: "c_1", Tool: "pay", Args: json.RawMessage(`{}`)}, Call{ID: "c_2", Tool: "pay", Args: json.RawMessage(`{}`)},
	}}})
	add(ToolStarted{Call: "c_1", Tool: "pay", Args: json.RawMessage(`{}`), Effect: Write, Key: "run/c_1", Attempt: 1, Supervised: "anna"})
	supervised("c_1", "anna")
	add(s.Import("ben", false, false))
	supervised("c_1", "")
	add(RunResumed{Epoch: 2})
	add(ToolStarted{Call: "c_2", Tool: "pay", Args: json.RawMessage(`{}`), Effect: Write, Key: "run/c_2", Attempt: 1, Supervised: "anna"})
	supervised("c_2", "anna")
}
