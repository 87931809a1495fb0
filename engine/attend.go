package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/pawl-run/pawl"
)

// lookEvery is how often the mailbox is looked into; the rule is once a second,
// which is enough for who hears of letters.
const (
	lookEvery        = 400 * time.Millisecond
	lookEveryHearing = 900 * time.Millisecond
)

// lookEvery is for who holds the engine's lock.
func (e *Engine) lookEvery() time.Duration {
	every := lookEvery
	if e.ear != nil && e.ear.hears {
		every = lookEveryHearing
	}
	return min(every, e.opt.Lease/3)
}

// attend keeps the leases of all live runs and brings them their mail. A clock
// calls it, one for the whole engine however many runs it has, which is stopped
// when there are none: a goroutine that waits for the next look would keep an
// engine that was made for one short run in memory until then.
func (e *Engine) attend() {
	e.tending.Lock()
	defer e.tending.Unlock()
	e.mu.Lock()
	after, behind := e.letters, e.behind
	e.behind = nil
	if len(e.live) == 0 {
		e.watching = false
		e.mu.Unlock()
		return
	}
	e.mu.Unlock()
	ctx := context.Background()
	if e.mail != nil {
		e.bring(ctx, after)
	}
	for _, s := range behind {
		_ = s.fetch(ctx) // it stays behind if it cannot be read now either
	}
	if now := time.Now(); now.Sub(e.renewed) >= e.opt.Lease/3 {
		e.renewed = now
		e.renew(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watching = len(e.live) > 0; e.watching {
		e.prick(time.Now())
		e.clock.Reset(e.lookEvery())
	}
}

// bring hands new letters to the runs they are for. A mailbox that cannot be
// read now is read again at the next tick.
func (e *Engine) bring(ctx context.Context, after int64) {
	for l, err := range e.mail.Letters(ctx, "", after) {
		if err != nil {
			e.unread(err)
			return
		}
		e.mu.Lock()
		s := e.live[l.Run]
		e.letters = max(e.letters, l.ID)
		e.mu.Unlock()
		if s != nil {
			_ = s.fetch(ctx) // not l alone, which may come behind one that found the run not yet live
		}
	}
	e.mute.Store(false)
}

// late has the attendant fetch the mail of a run at his next look. That its
// letters are brought anyway cannot be relied on: they may be counted as brought.
func (e *Engine) late(s *session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live[s.lease.Run] != s {
		return // it reads its mail when it is resumed
	}
	if e.behind == nil {
		e.behind = map[string]*session{}
	}
	e.behind[s.lease.Run] = s
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
		err := s.prolong(ctx)
		switch {
		case errors.Is(err, pawl.ErrFenced):
			s.log(slog.LevelWarn, "another owner has taken the run over", e.because(err))
			s.lose(err)
		case err != nil && !s.shaky:
			s.log(slog.LevelWarn, "the lease of the run cannot be prolonged; it is tried again at each heartbeat", e.because(err))
		}
		s.shaky = err != nil
	}
}
