package engine

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-run/pawl"
)

// lookEvery is how often the mailbox is looked into; the rule is once a second.
const lookEvery = 400 * time.Millisecond

// attend keeps the leases of all live runs and brings them their mail. One
// goroutine serves the whole engine, however many runs it has, and ends when
// there are none.
func (e *Engine) attend() {
	ctx := context.Background()
	tick := time.NewTicker(min(lookEvery, e.opt.Lease/3))
	defer tick.Stop()
	renewed := time.Now()
	for {
		<-tick.C
		e.mu.Lock()
		if len(e.live) == 0 {
			e.watching = false
			e.mu.Unlock()
			return
		}
		after := e.letters
		e.mu.Unlock()
		if e.mail != nil {
			e.bring(ctx, after)
		}
		if now := time.Now(); now.Sub(renewed) >= e.opt.Lease/3 {
			renewed = now
			e.renew(ctx)
		}
	}
}

// bring hands new letters to the runs they are for. A mailbox that cannot be
// read now is read again at the next tick.
func (e *Engine) bring(ctx context.Context, after int64) {
	for l, err := range e.mail.Letters(ctx, "", after) {
		if err != nil {
			return
		}
		e.mu.Lock()
		s := e.live[l.Run]
		e.letters = max(e.letters, l.ID)
		e.mu.Unlock()
		if s != nil {
			s.deliver(l)
		}
	}
}

// renew prolongs the leases. A run somebody else has taken over is let go of;
// one that could not be renewed is tried again at the next heartbeat, and the
// epoch guards the log meanwhile.
func (e *Engine) renew(ctx context.Context) {
	e.mu.Lock()
	all := make([]*session, 0, len(e.live))
	for _, s := range e.live {
		all = append(all, s)
	}
	e.mu.Unlock()
	for _, s := range all {
		_, err := e.journal.Claim(ctx, pawl.Claim{Run: s.lease.Run, Owner: s.lease.Owner, TTL: e.opt.Lease, Epoch: s.lease.Epoch})
		if errors.Is(err, pawl.ErrFenced) {
			s.lose(err)
		}
	}
}
