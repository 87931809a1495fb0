package server

import (
	"context"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/runs"
)

// briefs keeps the briefs of runs that have ended: pages are asked for every few seconds,
// and a brief takes a log to read.
type briefs struct {
	mu    sync.Mutex
	known map[briefKey]runs.Brief
}

type briefKey struct {
	run string
	seq uint64
}

// mostBriefs is how many briefs are kept. When there are more, all are made again.
const mostBriefs = 2000

func (c *briefs) of(ctx context.Context, j pawl.Journal, h pawl.Head) (runs.Brief, error) {
	if !h.Status.Ended() {
		return runs.BriefOf(ctx, j, h)
	}
	key := briefKey{h.Run, h.Seq}
	c.mu.Lock()
	b, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return b, nil
	}
	b, err := runs.BriefOf(ctx, j, h)
	if err != nil {
		return b, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= mostBriefs {
		c.known = map[briefKey]runs.Brief{}
	}
	c.known[key] = b
	return b, nil
}
