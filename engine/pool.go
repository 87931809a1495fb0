package engine

import (
	"slices"
	"sync"

	"github.com/pawl-run/pawl"
)

// The default limits of calls of a run at once: calls that start a process or leave this
// one, and calls of Go functions.
const (
	mostExternal = 10
	mostFuncs    = 256
)

// A pool bounds the calls that run in this process. A call of an agent that may run n calls
// at once takes 1/(4n) of the pool: 4n of its calls fill the pool, and agents with
// different limits share it in proportion. Calls are admitted in the order of their
// requests, so none waits for ever.
type pool struct {
	mu    sync.Mutex
	used  int64
	queue []*ticket
}

// whole is the size of a pool.
const whole = 1 << 40

// pools are the pools for Go functions and for external calls.
var pools [2]pool

// A ticket is a place in the queue of a pool.
type ticket struct {
	share int64
	ready chan struct{} // closed when the ticket gets its share
}

// try takes a share if no call waits and there is room.
func (p *pool) try(share int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) > 0 || p.used+share > whole {
		return false
	}
	p.used += share
	return true
}

// wait queues for a share.
func (p *pool) wait(share int64) *ticket {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &ticket{share, make(chan struct{})}
	p.queue = append(p.queue, t)
	p.admit() // a share may have become free meanwhile
	return t
}

// give returns a share.
func (p *pool) give(share int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= share
	p.admit()
}

// leave gives up a ticket, and the share if it has one.
func (p *pool) leave(t *ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.queue, t); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	} else {
		p.used -= t.share
	}
	p.admit()
}

// admit admits tickets from the front of the queue, as far as there is room.
func (p *pool) admit() {
	for len(p.queue) > 0 && p.used+p.queue[0].share <= whole {
		p.used += p.queue[0].share
		close(p.queue[0].ready)
		p.queue = slices.Delete(p.queue, 0, 1)
	}
}

// A slot is what a running call occupies: a place in a lane of its run, and a share of a pool.
type slot struct {
	lane  int   // the run counts the calls of a lane together
	most  int   // the maximum of calls in the lane
	kind  int   // the index of the pool
	share int64 // zero: none
	held  bool
}

// slotOf returns what a call will occupy. A child run takes no share of a pool: its calls
// do, and would wait for ever if child runs had filled the pool.
func slotOf(r *recorder, c *pawl.Classified) slot {
	info := c.Info()
	l := slot{most: mostFuncs}
	if info.External {
		l = slot{lane: 1, kind: 1, most: mostExternal}
	}
	if n := r.machine.Agent().MaxParallel; n > 0 {
		l.lane, l.most = 0, n
	}
	if c.Child == "" {
		l.share = whole / (4 * int64(l.most))
	}
	return l
}

// try takes the share of the pool if it is free now.
func (l *slot) try() bool {
	l.held = l.share == 0 || pools[l.kind].try(l.share)
	return l.held
}

// free returns the share, once.
func (l *slot) free() {
	if l.held && l.share > 0 {
		pools[l.kind].give(l.share)
	}
	l.held = false
}
