// Package journals has what journals do in the same way: they notify listeners of changes, keep the buckets
// of a rate limit, order the runs of a queue by the labels tenant and priority, and split texts into words
// for a search.
package journals

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

// A Bell passes notifications of changes to listeners. Ringing never blocks,
// and costs almost nothing without listeners. The zero value is ready; a Bell
// must not be copied.
type Bell struct {
	// First is called when the first listener begins, and the function it
	// returns when the last one ends. It may start the source of notifications,
	// which must not ring before First returns. Nil: nothing is called.
	First func() (last func())
	// Ready reports whether changes are noticed now. A listener that begins
	// before that is notified when somebody rings, not at once. Nil: they are.
	Ready func() bool

	heard  atomic.Int32
	mu     sync.Mutex
	ears   map[*ear]bool
	last   func()
	closed bool
}

// ear holds a listener's pending notifications.
type ear struct {
	changed map[string]bool
	wake    chan struct{}
}

// mostChanged is the most names held for a listener; with more, it is notified
// that anything may have changed.
const mostChanged = 1000

// Ring notifies the listeners that a thing has changed; the empty name:
// anything may have.
func (b *Bell) Ring(name string) {
	if b.heard.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := range b.ears {
		e.tell(name)
	}
}

// Listen yields the names of things that have changed, until ctx ends or the
// bell is closed. The empty name comes first, for earlier changes: at once, or
// when the bell becomes ready. Names that arrive while the caller is busy are
// held, each once.
func (b *Bell) Listen(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		e := &ear{wake: make(chan struct{}, 1)}
		b.enter(e)
		defer b.leave(e)
		for {
			select {
			case <-ctx.Done():
				return
			case <-e.wake:
			}
			b.mu.Lock()
			changed, closed := e.changed, b.closed
			e.changed = nil
			b.mu.Unlock()
			if closed {
				return
			}
			if changed[""] {
				changed = map[string]bool{"": true}
			}
			for name := range changed {
				if ctx.Err() != nil || !yield(name, nil) {
					return
				}
			}
		}
	}
}

// Close ends all present and future listening.
func (b *Bell) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for e := range b.ears {
		e.tell("")
	}
}

func (b *Bell) enter(e *ear) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ears == nil {
		b.ears = make(map[*ear]bool)
	}
	b.ears[e] = true
	if b.heard.Add(1) == 1 && b.First != nil && !b.closed {
		b.last = b.First()
	}
	if b.closed || b.Ready == nil || b.Ready() {
		e.tell("")
	}
}

func (b *Bell) leave(e *ear) {
	b.mu.Lock()
	delete(b.ears, e)
	var last func()
	if b.heard.Add(-1) == 0 {
		last, b.last = b.last, nil
	}
	b.mu.Unlock()
	if last != nil {
		last()
	}
}

// tell holds a name for e; the bell is locked.
func (e *ear) tell(name string) {
	if e.changed == nil {
		e.changed = make(map[string]bool)
	}
	if len(e.changed) >= mostChanged {
		name = ""
	}
	e.changed[name] = true
	select {
	case e.wake <- struct{}{}:
	default:
	}
}
