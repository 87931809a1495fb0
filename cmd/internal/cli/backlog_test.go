package cli

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/telemetry"
)

// The metrics of a journal count what waits in it, and go down to zero.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := memoryStore{memory.New()}
		held := map[string]pawl.Lease{}
		put := func(run string, status pawl.Status) {
			t.Helper()
			lease, after := held[run], uint64(1)
			if lease.Epoch == 0 {
				var err error
				if lease, err = j.Claim(t.Context(), pawl.Claim{Run: run, Owner: "elsewhere", TTL: 15 * time.Second, New: true}); err != nil {
					t.Fatal(err)
				}
				held[run], after = lease, 0
			}
			h := pawl.Head{Run: run, Agent: "help", Status: status, Seq: after + 1, Created: time.Now(), Updated: time.Now()}
			must(t, j.Append(t.Context(), pawl.Batch{Run: run, Epoch: lease.Epoch, After: after, Records: [][]byte{[]byte(`{}`)}, Head: h}))
		}
		b := newBacklog(j, []string{"help"})
		look := func(want telemetry.Backlog) {
			t.Helper()
			got, err := b.look(t.Context())
			if found, ok := got["help"]; err != nil || !ok || found != want {
				t.Errorf("it is %+v, %v, not %+v", got, err, want)
			}
		}
		look(telemetry.Backlog{})
		put("first", pawl.StatusQueued)
		time.Sleep(time.Minute)
		put("second", pawl.StatusQueued)
		put("driven", pawl.StatusRunning)
		put("doubt", pawl.StatusWaitingDoubt)
		look(telemetry.Backlog{Queued: 2, Oldest: time.Minute, InDoubt: 1})
		put("first", pawl.StatusSuccess)
		look(telemetry.Backlog{Queued: 2, Oldest: time.Minute, InDoubt: 1}) // counted just before
		time.Sleep(20 * time.Second)
		look(telemetry.Backlog{Queued: 1, Oldest: 20 * time.Second, Unowned: 1, InDoubt: 1})
		for _, run := range []string{"second", "driven", "doubt"} {
			put(run, pawl.StatusSuccess)
		}
		time.Sleep(fresh)
		look(telemetry.Backlog{})
	})
}
