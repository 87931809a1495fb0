package engine

import (
	"context"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/team"
)

// mostAhead is how many calls of one reply may start before the reply is complete.
const mostAhead = 64

// ahead are the Reads of one reply that started while it was streamed; see
// [pawl.Agent.EarlyReads]. They run until an act takes them over, or something else is done
// first.
type ahead struct {
	toolBatch
	started map[string]*toolCall
}

// readsAhead reports whether calls of the reply may start before it is complete. A hook may
// have the reply made again, so there must be none.
func (d *driver) readsAhead(c *modelCall) bool {
	_, whole := c.model.(pawl.ModelFunc)
	return !whole && c.t.Purpose == pawl.PurposeTurn && d.rec.machine.Agent().EarlyReads && len(d.rec.watchingHooks()) == 0
}

// streamAhead performs a model call on a goroutine of its own, and starts calls of its reply as
// they become ready.
func (d *driver) streamAhead(c *modelCall) error {
	over, ready := make(chan *effect, 1), make(chan pawl.Call)
	c.done, c.ready = over, ready
	a := &ahead{toolBatch: toolBatch{d: d, at: c.at, done: make(chan *effect, mostAhead)}, started: map[string]*toolCall{}}
	d.ahead = a
	d.effects.depart(&c.effect)
	var queue []pawl.Call
	stopped, done := false, false
	defer func() {
		if a.giveUp(); !done { // after an error or a panic
			d.effects.abort()
		}
	}()
	for {
		select {
		case call := <-ready:
			queue = append(queue, call)
		case e := <-a.done:
			a.ended(e)
		case <-a.tickets[0].granted():
		case <-a.tickets[1].granted():
		case e := <-over:
			c.record(&d.rec, e.cut, e.abandoned)
			done = true
			return d.rec.failed
		}
		if cancel, suspend, _ := d.inbox.wanted(); cancel || suspend {
			stopped = true
		}
		for !stopped && (len(queue) > 0 || len(a.waiting) > 0) {
			if len(a.waiting) == 0 {
				if stopped = !a.next(queue[0]); stopped {
					break
				}
				queue = queue[1:]
			}
			t := a.waiting[0]
			if err := a.start(); err != nil {
				return err
			}
			if len(a.waiting) > 0 { // until another call ends
				break
			}
			if stopped = t.began.IsZero(); stopped { // the run's time is over
				delete(a.started, t.classified.Call.ID)
			}
		}
	}
}

// next makes the next call of the reply wait for its start. It reports whether the call may
// start; if not, no later one may.
func (a *ahead) next(call pawl.Call) bool {
	r := &a.d.rec
	call.Tool, call.Args = r.clean.secrets.Scrub(call.Tool), r.clean.json(call.Args)
	c, ok := r.machine.Early(r.state, call)
	if !ok || len(a.started) == mostAhead || timeLeft(r.state, time.Now()) <= 0 {
		return false
	}
	tool, _, _ := r.machine.Tool(c.Call.Tool)
	_, board := team.OnBoard(tool, r.lease.Run, ParentOf(r.state))
	_, behind := team.OnBackground(tool)
	_, remembers := tool.(rememberer)
	_, recalls := tool.(pawl.Recaller)
	if board || behind || remembers || recalls { // what it answers from is the run's own, and changes
		return false
	}
	t := new(toolCall)
	t.set(a.d, a.at, &c)
	a.waiting, a.started[c.Call.ID] = append(a.waiting, t), t
	return true
}

// ended takes in that a call has returned.
func (a *ahead) ended(e *effect) {
	t := e.work.(*toolCall)
	t.ended = time.Now()
	a.count(t, -1)
	t.slot.free()
}

// giveUp gives up the call that waits for its start.
func (a *ahead) giveUp() {
	for _, t := range a.waiting {
		t.slot.free()
		delete(a.started, t.classified.Call.ID)
	}
	a.waiting = nil
	for kind, t := range a.tickets {
		if t != nil {
			pools[kind].leave(t)
			a.tickets[kind] = nil
		}
	}
}

// take returns the call that started early as c, which runs it; nil: none did.
func (a *ahead) take(c *pawl.Classified) *toolCall {
	if a == nil || !c.Early {
		return nil
	}
	t := a.started[c.Call.ID]
	delete(a.started, c.Call.ID)
	return t
}

// over is where the calls arrive when they have returned.
func (a *ahead) over() <-chan *effect {
	if a == nil {
		return nil
	}
	return a.done
}

// drop stops a call whose result is not used, and waits for it: a Read returns soon.
func (a *ahead) drop(id string) {
	if a == nil || a.started[id] == nil {
		return
	}
	t := a.started[id]
	delete(a.started, id)
	for runs := a.d.effects.drop(&t.effect); runs && t.ended.IsZero(); {
		a.ended(<-a.done)
	}
	t.slot.free()
}

// dropAhead stops all that no act has taken over.
func (d *driver) dropAhead() {
	if d.ahead == nil {
		return
	}
	for id := range d.ahead.started {
		d.ahead.drop(id)
	}
	d.ahead = nil
}

// offer hands the calls of a chunk to the driver. It waits until the driver has taken them, so
// that which calls start early does not depend on which goroutine is faster.
func (c *modelCall) offer(ctx context.Context, chunk *pawl.Chunk) {
	if chunk.Ready == nil {
		return
	}
	if c.ready != nil {
		select {
		case c.ready <- *chunk.Ready:
		case <-ctx.Done():
		}
	}
	chunk.Ready = nil
}
