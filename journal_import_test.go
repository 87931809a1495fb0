package pawl

import (
	"encoding/json"
	"testing"
)

// Who supervised a call says nothing any more about the copy of a run: the run
// itself may have gone on, and the records of the call may have been let go.
func TestImportForgetsSupervisors(t *testing.T) {
	s := justBegun(machines(t)[1])
	supervised := func(call, want string) {
		t.Helper()
		if c, ok := s.Call(call); !ok || c.Supervised != want || c.Attempt != 1 {
			t.Errorf("%s is supervised by %q at its attempt %d, want %q", call, c.Supervised, c.Attempt, want)
		}
	}
	fold(s, ModelCalled{Purpose: PurposeTurn, Attempt: 1})
	fold(s, ModelReplied{Purpose: PurposeTurn, Reply: Reply{Parts: []Part{
		Call{ID: "c_1", Tool: "pay", Args: json.RawMessage(`{}`)}, Call{ID: "c_2", Tool: "pay", Args: json.RawMessage(`{}`)},
	}}})
	fold(s, ToolStarted{Call: "c_1", Tool: "pay", Args: json.RawMessage(`{}`), Effect: Write, Key: "run/c_1", Attempt: 1, Supervised: "anna"})
	supervised("c_1", "anna")
	fold(s, s.Internals().Import("ben", false, false))
	supervised("c_1", "")
	fold(s, RunResumed{Epoch: 2})
	fold(s, ToolStarted{Call: "c_2", Tool: "pay", Args: json.RawMessage(`{}`), Effect: Write, Key: "run/c_2", Attempt: 1, Supervised: "anna"})
	supervised("c_2", "anna")
}
