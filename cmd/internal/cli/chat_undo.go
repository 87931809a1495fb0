package cli

import (
	"context"
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// The signal that says that a conversation goes on from before a run: a note, which wakes
// nobody, in the run's inbox, which also takes it when the run is over.
const undoneRequest = "chat.undone"

var undoneBody = json.RawMessage(`{"name":"undone","value":true}`)

// markUndone makes durable that the last exchange is undone.
func (t *talk) markUndone(ctx context.Context) error {
	_, err := t.j.Send(ctx, pawl.Signal{Run: t.last, Kind: pawl.SignalNote, Request: undoneRequest, By: engine.Self().User, Body: undoneBody})
	return err
}

// isUndone reports whether the last exchange was undone, by this process or an earlier one.
func (t *talk) isUndone(ctx context.Context) (bool, error) {
	for s, err := range t.j.Signals(ctx, t.last, 0) {
		if err != nil || s.Request == undoneRequest {
			return err == nil, err
		}
	}
	return false, nil
}

// back goes on from before the last exchange, in a thread that branches off there.
func (t *talk) back(last *pawl.State) {
	t.thread, t.last, t.branch = newThread(), "", ""
	if start, _ := last.Start(); start.Continues != nil {
		t.last, t.branch = start.Continues.Run, start.Continues.Run
	}
}
