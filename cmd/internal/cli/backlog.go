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
func (a *app) watchBacklog(j store) {
	if to := a.reporting(true); to != nil && to.Telemetry != nil {
		b := &backlog{journal: j}
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

// fresh is how long a count is good for: several readers of the metrics cost one.
const fresh = 5 * time.Second

// look counts, unless it did so just before. An agent that had a backlog is reported until the
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
	for status, add := range map[pawl.Status]func(*telemetry.Backlog, pawl.Head){
		pawl.StatusQueued: func(b *telemetry.Backlog, h pawl.Head) {
			b.Queued++
			b.Oldest = max(b.Oldest, now.Sub(h.Updated))
		},
		pawl.StatusRunning: func(b *telemetry.Backlog, h pawl.Head) {
			if !runs.IsChild(h) && !runs.Owned(h.Lease) {
				b.Unowned++
			}
		},
		pawl.StatusWaitingDoubt: func(b *telemetry.Backlog, _ pawl.Head) { b.InDoubt++ },
	} {
		for h, err := range b.journal.List(ctx, pawl.Query{Status: status}) {
			if err != nil {
				return nil, err
			}
			of := found[h.Agent]
			add(&of, h)
			found[h.Agent] = of
		}
	}
	b.at, b.found = now, found
	return found, nil
}
