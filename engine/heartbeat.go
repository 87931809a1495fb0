package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
)

// A heartbeat keeps the leases of an engine's live runs and delivers their signals. One
// timer for the whole engine starts it, however many runs there are. The timer is stopped
// when there are none: a goroutine that waits for the next beat would keep an engine that
// was made for one short run in memory until then.
type heartbeat struct {
	clock      *time.Timer
	on         bool        // the timer is set, or a beat is in progress
	renewed    time.Time   // when leases were last renewed
	delivered  int64       // the ID of the last signal that was delivered
	unread     []*driver   // drivers whose signals could not be read
	unreadable atomic.Bool // the inbox could not be read, which was logged
	beating    sync.Mutex  // held during a beat

	subscription   *subscription  // to the journal's notifications; nil: none
	subscribeAfter time.Time      // not before then, since the last subscription failed
	subscriptions  sync.WaitGroup // all that have not ended
}

// How often the inbox is read. At least once a second is promised; that is enough if the
// journal notifies as well.
const (
	readEvery         = 400 * time.Millisecond
	readEveryNotified = 900 * time.Millisecond
)

// interval is the time between two beats. The caller holds the engine's lock.
func (e *Engine) interval() time.Duration {
	every := readEvery
	if s := e.beat.subscription; s != nil && s.notified {
		every = readEveryNotified
	}
	return min(every, e.opt.Lease/3)
}

// add adds a driver to the heartbeat, and fetches the signals that were sent since they
// were last read.
func (e *Engine) add(ctx context.Context, d *driver) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return errClosed
	}
	if d.rec.caller == nil && !d.leg {
		if err := e.full(); err != nil {
			e.mu.Unlock()
			return err
		}
	}
	d.life = life{id: d.rec.lease.Run, engine: e, driver: d, done: make(chan struct{})}
	e.live[d.rec.lease.Run] = d
	if b := &e.beat; !b.on {
		b.on, b.renewed = true, time.Now()
		if b.clock == nil {
			b.clock = time.AfterFunc(e.interval(), e.heartbeat)
		} else {
			b.clock.Reset(e.interval())
		}
	}
	e.mu.Unlock()
	_ = e.fetch(ctx, d) // signals that cannot be read now are fetched at the next beat
	return nil
}

// drop removes a driver from the heartbeat.
func (e *Engine) drop(d *driver) {
	e.mu.Lock()
	b := &e.beat
	if e.live[d.rec.lease.Run] == d {
		delete(e.live, d.rec.lease.Run)
	}
	if len(e.live) == 0 {
		if b.on && b.clock.Stop() {
			b.on = false // else a beat is in progress and will notice
		}
		if b.subscription != nil { // Close waits for it, not drop
			b.subscription.stop()
			b.subscription = nil
		}
	}
	e.mu.Unlock()
}

// heartbeat is one beat.
func (e *Engine) heartbeat() {
	b := &e.beat
	b.beating.Lock()
	defer b.beating.Unlock()
	e.mu.Lock()
	delivered, unread := b.delivered, b.unread
	b.unread = nil
	if len(e.live) == 0 {
		b.on = false
		e.mu.Unlock()
		return
	}
	e.mu.Unlock()
	ctx := context.Background()
	if e.inbox != nil {
		e.deliver(ctx, delivered)
	}
	for _, d := range unread {
		_ = e.fetch(ctx, d) // if that fails, d is added to unread again
	}
	if now := time.Now(); now.Sub(b.renewed) >= e.opt.Lease/3 {
		b.renewed = now
		e.renew(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if b.on = len(e.live) > 0; b.on {
		e.subscribe(time.Now())
		b.clock.Reset(e.interval())
	}
}

// deliver delivers the signals of all live runs with an ID above after. If the inbox cannot
// be read now, it is read again at the next beat.
func (e *Engine) deliver(ctx context.Context, after int64) {
	for l, err := range e.inbox.Signals(ctx, "", after) {
		if err != nil {
			if ctx.Err() == nil && e.beat.unreadable.CompareAndSwap(false, true) {
				e.log(slog.LevelWarn, "the inbox cannot be read; it is tried again at each heartbeat", "", e.because(err))
			}
			return
		}
		e.mu.Lock()
		d := e.live[l.Run]
		e.beat.delivered = max(e.beat.delivered, l.ID)
		e.mu.Unlock()
		if d != nil {
			_ = e.fetch(ctx, d) // not only l: an earlier signal may have arrived before the run was live
		}
	}
	e.beat.unreadable.Store(false)
}

// fetchLater makes the next beat fetch the signals of a run, since they may count as delivered.
func (e *Engine) fetchLater(d *driver) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live[d.rec.lease.Run] == d && !slices.Contains(e.beat.unread, d) { // otherwise they are read when the run is resumed
		e.beat.unread = append(e.beat.unread, d)
	}
}

// renew renews the leases. A run that another owner has taken is released. A lease that
// could not be renewed is tried again at the next beat; the epoch guards the log meanwhile.
func (e *Engine) renew(ctx context.Context) {
	e.mu.Lock()
	all := slices.Collect(maps.Values(e.live))
	e.mu.Unlock()
	var renewing sync.WaitGroup
	for some := range slices.Chunk(all, mostRenewing) {
		for _, d := range some {
			renewing.Go(func() { e.renewLease(ctx, d) })
		}
		renewing.Wait()
	}
}

// mostRenewing is how many leases are renewed at once: a journal on disk commits them together.
const mostRenewing = 16

func (e *Engine) renewLease(ctx context.Context, d *driver) {
	l := &d.rec.lease
	err := l.renew(ctx)
	switch {
	case errors.Is(err, pawl.ErrFenced):
		d.rec.log(slog.LevelWarn, "another owner has taken the run over", e.because(err))
		l.taken.Store(&err)
		d.inbox.suspend()
	case err != nil && !l.unrenewed:
		d.rec.log(slog.LevelWarn, "the lease of the run cannot be prolonged; it is tried again at each heartbeat", e.because(err))
	}
	l.unrenewed = err != nil
}

// A notifier is a journal that notifies of new signals. Without one, they are found
// by reading the inbox.
type notifier interface {
	// WatchSignals yields the ids of runs that have signals, soon after they can be
	// read, until ctx ends; the empty id means that any run may have some. It
	// yields that when it begins, and whenever notifications may have been lost. After
	// an error, or when it ends by itself, it is called again later. The engine reads
	// the inbox once a second all the same.
	WatchSignals(ctx context.Context) iter.Seq2[string, error]
}

// A subscription is one call of a notifier.
type subscription struct {
	stop     context.CancelFunc
	notified bool // it works
}

// resubscribe is the wait before a notifier that failed is used again.
const resubscribe = 5 * time.Second

// subscribe subscribes to the notifier unless there is a subscription. The first beat does
// so, not the start of a run, so that a shorter run costs the notifier nothing. The caller
// holds the engine's lock, and there are live runs.
func (e *Engine) subscribe(now time.Time) {
	b := &e.beat
	if e.notifier == nil || e.inbox == nil || b.subscription != nil || e.closed || now.Before(b.subscribeAfter) {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &subscription{stop: stop}
	b.subscription = s
	b.subscriptions.Go(func() { e.listen(ctx, s) })
}

// listen delivers the signals of live runs as notifications come.
func (e *Engine) listen(ctx context.Context, s *subscription) {
	defer s.stop()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if b := &e.beat; b.subscription == s { // the subscription was not stopped
			b.subscription, b.subscribeAfter = nil, time.Now().Add(resubscribe)
		}
	}()
	for run, err := range e.notifier.WatchSignals(ctx) {
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.log(slog.LevelWarn, "signals arrive late: the journal's notifications fail", "", e.because(err))
			return
		}
		e.mu.Lock()
		s.notified = true
		d, delivered := e.live[run], e.beat.delivered
		e.mu.Unlock()
		switch {
		case run == "":
			e.deliver(ctx, delivered)
		case d != nil:
			_ = e.fetch(ctx, d) // signals that cannot be read now are fetched at the next beat
		}
	}
}

// fetch delivers all signals that the journal has for a run. If they cannot be read now,
// they are fetched again at the next heartbeat.
func (e *Engine) fetch(ctx context.Context, d *driver) error {
	if e.inbox == nil {
		return nil
	}
	var failed error
	for l, err := range e.inbox.Signals(ctx, d.rec.lease.Run, d.inbox.received()) {
		if failed = err; err != nil {
			break
		}
		d.inbox.deliver(l)
	}
	if failed != nil {
		e.fetchLater(d)
		return fmt.Errorf("read the signals of run %s: %w", d.rec.lease.Run, failed)
	}
	return nil
}
