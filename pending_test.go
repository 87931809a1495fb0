package pawl

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What a run waits for says when its time is over, also when it hangs on no call.
func TestPendingExpires(t *testing.T) {
	end := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := new(State)
	for i, e := range []Event{
		RunStarted{Declaration: Declaration{Agent: "a"}, Input: "go"},
		InputRequested{Call: "stuck", Question: "How on?", Expires: end},
		RunPaused{Status: StatusWaitingInput},
	} {
		s.Fold(Entry{Run: "r", Seq: uint64(i + 1), At: uint64(i), Time: end.Add(-time.Hour), Event: e})
	}
	want := []Pending{{Run: "r", Kind: "input", Call: "stuck", Args: []byte("{}"), Reason: "How on?", ExpiresAt: &end}}
	if d := cmp.Diff(want, s.Result().Pending); d != "" {
		t.Error(d)
	}
}
