package engine

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
)

// A toolBatch runs the calls of a group in parallel: in call order, as many at once as the
// agent, their tools and the process allow.
type toolBatch struct {
	s       *effects
	at      uint64
	calls   []*toolCall
	waiting []*toolCall // not started yet
	running int
	lanes   [2]int         // running calls
	tools   map[string]int // running calls of tools with a limit, by tool
	tickets [2]*ticket     // in the queues of the pools
	done    chan *effect
}

// runBatch runs a group. A call that has not started when the run is cancelled or suspended,
// or when its time is over, stays open: the machine decides about it.
func runBatch(s *effects, at uint64, calls []pawl.Classified) error {
	b := toolBatch{s: s, at: at, done: make(chan *effect, len(calls))}
	for i := range calls {
		b.calls = append(b.calls, newToolCall(s, at, &calls[i]))
	}
	b.waiting = slices.Clone(b.calls)
	defer b.leave()
	return b.run()
}

// leave stops the calls that still run after an error or a panic, and returns the batch's
// shares of the pools.
func (b *toolBatch) leave() {
	b.s.abort()
	for _, t := range b.calls {
		t.slot.free()
	}
	for kind, t := range b.tickets {
		if t != nil {
			pools[kind].leave(t)
		}
	}
}

// run starts the calls and waits for them. Calls that have returned are recorded together in
// one commit; they do not wait for the others.
func (b *toolBatch) run() error {
	r := b.s.rec
	for {
		for _, f := range r.features {
			if a, ok := f.(attendant); ok {
				if err := a.serve(b.at); err != nil {
					return err
				}
			}
		}
		if cancel, suspend, _ := b.s.inbox.wanted(); cancel || suspend {
			b.waiting = nil
		}
		if len(b.waiting) > 0 && timeFor(r, b.at, b.waiting[0].classified) <= 0 {
			b.waiting = nil
		}
		if err := b.start(); err != nil {
			return err
		}
		if b.running == 0 && len(b.waiting) == 0 {
			return nil
		}
		if err := r.flush(); err != nil {
			return err
		}
		if b.drop(); b.running == 0 && len(b.waiting) == 0 { // the results that it is for are durable
			return nil
		}
		var over <-chan time.Time // the end of the run's time, for waiting calls
		if len(b.waiting) > 0 {
			over = b.s.inbox.alarm(timeLeft(r.state, time.Now()))
		}
		select {
		case e := <-b.done:
			b.record(e)
			for len(b.done) > 0 {
				b.record(<-b.done)
			}
		case <-over:
		case <-b.s.inbox.wake:
		}
	}
}

// start starts the calls that may start, after making their intents durable.
func (b *toolBatch) start() error {
	b.waiting = slices.DeleteFunc(b.waiting, func(t *toolCall) bool { // the machine refuses a call that is cancelled
		return b.s.inbox.cancels(t.classified.Call.ID) != nil
	})
	if len(b.waiting) == 0 {
		return nil
	}
	var ready []*effect
	kept := b.waiting[:0]
	for _, t := range b.waiting {
		most := t.classified.Info().MaxParallel
		if b.lanes[t.slot.lane] >= t.slot.most || most > 0 && b.tools[t.classified.Call.Tool] >= most || !b.admitted(&t.slot) {
			kept = append(kept, t)
			continue
		}
		if !t.prepare(b.s.rec) { // its approval is requested again
			t.slot.free()
			continue
		}
		b.count(t, 1)
		ready = append(ready, &t.effect)
	}
	if b.waiting = kept; len(ready) == 0 {
		return nil
	}
	if err := b.s.rec.announce(ready...); err != nil {
		return err
	}
	now := time.Now()
	for _, e := range ready {
		e.began, e.done = now, b.done
		b.s.depart(e)
	}
	return nil
}

// admitted takes the call's share of its pool, or queues for it.
func (b *toolBatch) admitted(l *slot) bool {
	t := b.tickets[l.kind]
	if t == nil {
		if l.try() {
			return true
		}
		b.tickets[l.kind] = pools[l.kind].wait(l.share, b.s.inbox)
		return false
	}
	if l.held = t.granted.Load(); l.held {
		b.tickets[l.kind] = nil
	}
	return l.held
}

// count counts a running call, or with by = -1 an ended one.
func (b *toolBatch) count(t *toolCall, by int) {
	b.running += by
	b.lanes[t.slot.lane] += by
	if t.classified.Info().MaxParallel > 0 {
		if b.tools == nil {
			b.tools = map[string]int{}
		}
		b.tools[t.classified.Call.Tool] += by
	}
}

// drop stops the calls that the loop needs no longer. Those that have not started stay open: the
// machine refuses them.
func (b *toolBatch) drop() {
	for _, id := range b.s.rec.machine.Dropped(b.s.rec.state) {
		b.waiting = slices.DeleteFunc(b.waiting, func(t *toolCall) bool { return t.classified.Call.ID == id })
		for _, t := range b.calls {
			if t.classified.Call.ID == id && !t.sheltered {
				b.s.drop(&t.effect)
			}
		}
	}
}

// record records a call that has returned or was abandoned.
func (b *toolBatch) record(e *effect) {
	b.count(e.work.(*toolCall), -1)
	e.work.record(b.s.rec, e.cut, e.abandoned)
}

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
	share   int64
	granted atomic.Bool // the ticket has its share
	inbox   *inbox      // of the run, which is notified then
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

// wait queues for a share, and notifies the run when it has it.
func (p *pool) wait(share int64, b *inbox) *ticket {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &ticket{share: share, inbox: b}
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
		p.queue[0].granted.Store(true)
		p.queue[0].inbox.notify()
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
