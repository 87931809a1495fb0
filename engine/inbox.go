package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
)

// An inbox holds the signals that have reached a run and that its driver has not
// read, and wakes the driver. Any goroutine may put signals in.
type inbox struct {
	wake    chan struct{}   // holds one token if there is something to read
	life    context.Context // the run's context: when it ends, the run is suspended
	effects *effects        // the effects that signals may stop
	timer   *time.Timer     // the driver's own
	wants   atomic.Uint32   // what the signals ask for: want bits, read without the lock

	mu      sync.Mutex
	signals []pawl.Signal
	last    int64 // the ID of the last signal received
}

// What the inbox asks of the driver.
const (
	wantRead    = 1 << iota // there are signals to read
	wantCancel              // one of them cancels the run
	wantSuspend             // the driver must release the run
	wantNote                // there are notes to record, which can wait for the next step
)

// deliver adds signals, which must come in the order of their IDs: a signal whose ID is not
// above the last received one counts as read. A delivery receipt means nothing to a run and
// does not wake the driver.
func (b *inbox) deliver(signals ...pawl.Signal) {
	b.mu.Lock()
	want := uint32(0)
	idle := len(signals) > 0
	for _, l := range signals {
		receipt := l.Kind == pawl.SignalDelivery
		idle = idle && receipt
		if l.ID <= b.last {
			continue
		}
		if b.last = l.ID; !receipt {
			b.signals = append(b.signals, l)
		}
		switch {
		case receipt:
		case l.Kind == pawl.SignalNote || isSaid(&l):
			want |= wantNote
		case l.Kind == pawl.SignalCancel:
			want |= wantRead | wantCancel
		default:
			want |= wantRead
		}
	}
	b.wants.Or(want)
	b.mu.Unlock()
	if !idle {
		b.notify()
	}
}

// received is the ID of the last signal received.
func (b *inbox) received() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// take empties the inbox and returns what was in it, by ID.
func (b *inbox) take() []pawl.Signal {
	if b.wants.Load()&(wantRead|wantNote) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	signals := b.signals
	b.signals = nil
	b.wants.And(^uint32(wantRead | wantCancel | wantNote))
	slices.SortFunc(signals, func(x, y pawl.Signal) int { return cmp.Compare(x.ID, y.ID) })
	return signals
}

// waiting returns the unread signals without removing them.
func (b *inbox) waiting() []pawl.Signal {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.signals)
}

// suspend asks the driver to release the run at the next opportunity.
func (b *inbox) suspend() {
	b.wants.Or(wantSuspend)
	b.notify()
}

// notify wakes the driver, and stops the effects that yield to what is wanted.
func (b *inbox) notify() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
	b.effects.interrupt()
}

// wanted returns what the inbox asks for: to cancel the run, to suspend it, or to read signals.
func (b *inbox) wanted() (cancel, suspend, read bool) {
	w := b.wants.Load()
	return w&wantCancel != 0, w&wantSuspend != 0 || b.life.Err() != nil, w&wantRead != 0
}

// alarm arms the driver's timer.
func (b *inbox) alarm(after time.Duration) <-chan time.Time {
	after = max(after, 0)
	if b.timer == nil {
		b.timer = time.NewTimer(after)
	} else {
		b.timer.Reset(after)
	}
	return b.timer.C
}

// wait waits for a time, or until the inbox asks for something.
func (b *inbox) wait(d time.Duration) {
	select {
	case <-b.alarm(d):
	case <-b.wake:
	case <-b.life.Done():
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
