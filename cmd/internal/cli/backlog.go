package cli

import (
	"context"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/telemetry"
)

// watchBacklog shows in the metrics what waits in a journal.
func (a *app) watchBacklog(ctx context.Context, j store, h workHost) {
	if to := a.reporting(true); to != nil && to.Telemetry != nil {
		names, _ := h.Names(ctx) // never fails
		b := newBacklog(j, names)
		to.Telemetry.WatchBacklog(b.look)
	}
}

// A backlog counts the runs of a journal that wait for somebody.
type backlog struct {
	journal store

	mu    sync.Mutex
	at    time.Time // of the last count
	found map[string]telemetry.Backlog
}

// newBacklog counts the runs of a journal. The agents that this process drives are reported
// from the beginning, so that an autoscaler has something to go by before the first run.
func newBacklog(j store, agents []string) *backlog {
	b := &backlog{journal: j, found: map[string]telemetry.Backlog{}}
	for _, agent := range agents {
		b.found[agent] = telemetry.Backlog{}
	}
	return b
}

// fresh is how long a count is good for: several readers of the metrics cost one.
const fresh = 5 * time.Second

// look counts, unless it did so just before. An agent that was reported is reported until the
// process ends, so that its metrics go down to zero.
func (b *backlog) look(ctx context.Context) (map[string]telemetry.Backlog, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Sub(b.at) < fresh {
		return b.found, nil
	}
	found := map[string]telemetry.Backlog{}
	for agent := range b.found {
		found[agent] = telemetry.Backlog{}
	}
	for _, status := range []pawl.Status{pawl.StatusQueued, pawl.StatusRunning, pawl.StatusWaitingDoubt} {
		for h, err := range b.journal.List(ctx, pawl.Query{Status: status}) {
			if err != nil {
				return nil, err
			}
			of := found[h.Agent]
			switch {
			case status == pawl.StatusQueued:
				of.Queued++
				of.Oldest = max(of.Oldest, now.Sub(h.Updated))
			case status == pawl.StatusWaitingDoubt:
				of.InDoubt++
			case !runs.IsChild(h) && !runs.Owned(h.Lease):
				of.Unowned++
			}
			found[h.Agent] = of
		}
	}
	b.at, b.found = now, found
	return found, nil
}
