package pawl

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What a run waits for says when its time is over, also when it hangs on no call.
func TestPendingExpires(t *testing.T) {
	end := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := grown(new(State),
		RunStarted{Declaration: Declaration{Agent: "a"}, Input: "go"},
		InputRequested{Call: "stuck", Question: "How on?", Expires: end},
		RunPaused{Status: StatusWaitingInput})
	want := []Pending{{Run: "r", Kind: "input", Call: "stuck", Args: []byte("{}"), Reason: "How on?", ExpiresAt: &end}}
	if d := cmp.Diff(want, s.Result().Pending); d != "" {
		t.Error(d)
	}
}

// A denied run that has ended waits for nothing, also if more of its calls were asked about.
func TestPendingDenied(t *testing.T) {
	s := new(State)
	for i, e := range []Event{
		RunStarted{Declaration: Declaration{Agent: "a", Tools: []ToolInfo{{Name: "pay"}}}, Input: "go"},
		ModelCalled{Purpose: PurposeTurn, Attempt: 1, MaxTokens: 100},
		ModelReplied{Purpose: PurposeTurn, Reply: Do(Call{ID: "c_1", Tool: "pay"}, Call{ID: "c_2", Tool: "pay"})},
		ApprovalRequested{Call: "c_1", Tool: "pay"},
		ApprovalRequested{Call: "c_2", Tool: "pay"},
		ApprovalDecided{Call: "c_1"},
		RunStopped{Status: StatusDenied},
	} {
		fold(s, e)
		if n := len(s.Result().Pending); i == 4 && n != 2 || i == 6 && n != 0 {
			t.Errorf("after %T, %d calls are pending", e, n)
		}
	}
}
