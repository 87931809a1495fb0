package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"
)

// relay runs work in a goroutine, in order, through a queue that never blocks the sender.
type relay struct {
	queue   chan func()
	done    chan struct{}
	dropped func()

	mu     sync.RWMutex
	closed bool
}

func (r *relay) begin(size int, dropped func()) {
	r.queue, r.done, r.dropped = make(chan func(), size), make(chan struct{}), dropped
	go func() {
		defer close(r.done)
		for do := range r.queue {
			do()
		}
	}()
}

// do queues work, unless the queue is full. A fourth of the queue is reserved for must.
func (r *relay) do(f func()) { r.offer(f, cap(r.queue)-cap(r.queue)/4) }

// must is do for the ends of runs, without which other records are useless.
func (r *relay) must(f func()) { r.offer(f, cap(r.queue)) }

func (r *relay) offer(f func(), most int) {
	if !r.put(f, most) {
		r.dropped()
	}
}

func (r *relay) put(f func(), most int) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed || len(r.queue) >= most {
		return false
	}
	select {
	case r.queue <- f:
		return true
	default:
		return false
	}
}

var errShut = errors.New("telemetry is shut down")

// flush waits until earlier work is done. It holds no lock meanwhile, since runs would wait
// for the lock.
func (r *relay) flush(ctx context.Context) error {
	reached := make(chan struct{})
	mark := func() { close(reached) }
	for !r.put(mark, cap(r.queue)) {
		r.mu.RLock()
		closed := r.closed
		r.mu.RUnlock()
		if closed {
			return errShut
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end refuses new work and waits until the rest is done.
func (r *relay) end(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.mu.Unlock()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
