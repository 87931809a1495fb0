package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// A writer is the one connection of this process that writes. A caller that finds no leader
// becomes the leader: it begins a transaction, includes the requests that arrived
// meanwhile, commits, answers them, and appoints the next leader. So a lone caller commits
// by itself, without waking a goroutine, and many callers share commits, which determines
// the throughput of a slow disk.
type writer struct {
	mu    sync.Mutex
	busy  bool // there is a leader
	queue []*request

	// The following fields belong to the leader.
	*conn
	closed  bool
	version int // SQLite's count of changes by other connections

	logs *journals.Bell
	box  shared.Box
	own  atomic.Uint64 // transactions begun and ended here: odd while there is one
}

// A request is one call's part of a transaction. It checks before it writes, so that a request
// that is refused leaves nothing behind. An error of do is one of the database.
type request struct {
	ctx  context.Context
	do   func(w *writer) error
	err  error
	turn chan bool // true: lead, false: done; nil for the first leader
}

// most bounds the requests of a transaction, so that the first one does not wait for too
// many others.
const most = 256

// write runs do in a transaction and returns when the transaction is durable. Once the
// transaction has begun, the context no longer counts; the rest takes as long as the disk does.
func (w *writer) write(ctx context.Context, do func(w *writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{ctx: ctx, do: do}
	w.mu.Lock()
	if w.busy {
		r.turn = make(chan bool, 1)
		w.queue = append(w.queue, r)
		w.mu.Unlock()
		if done, err := w.wait(r); done {
			return err
		}
	} else {
		w.busy = true
		w.mu.Unlock()
	}
	w.lead(r)
	return r.err
}

// wait waits for an answer to r. It reports done when r was answered or its context ended
// in the queue, and not done when r must lead.
func (w *writer) wait(r *request) (done bool, err error) {
	select {
	case lead := <-r.turn:
		return !lead, r.err
	case <-r.ctx.Done():
	}
	w.mu.Lock()
	i := slices.Index(w.queue, r)
	if i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
	}
	w.mu.Unlock()
	if i >= 0 {
		return true, r.ctx.Err()
	}
	// r is being written or was just appointed, so the answer comes soon.
	lead := <-r.turn
	return !lead, r.err
}

func (w *writer) lead(r *request) {
	group := []*request{r}
	if r.err = w.begin(r.ctx); r.err == nil {
		w.mu.Lock()
		n := min(len(w.queue), most-1)
		group = append(group, w.queue[:n]...)
		w.queue = slices.Delete(w.queue, 0, n)
		w.mu.Unlock()
		w.transact(group)
	}
	w.pass()
	for _, other := range group[1:] {
		other.turn <- false
	}
}

// pass appoints the next leader.
func (w *writer) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		w.busy = false
		return
	}
	next := w.queue[0]
	w.queue = slices.Delete(w.queue, 0, 1)
	next.turn <- true
}

// begin acquires the lock that all processes share.
func (w *writer) begin(ctx context.Context) (began error) {
	if w.closed {
		return errClosed
	}
	w.conn.ctx = ctx
	w.own.Add(1)
	defer func() {
		if began != nil {
			w.own.Add(1)
		}
	}()
	if err := w.exec(`BEGIN IMMEDIATE`); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("another process is writing to the database: %w", ctx.Err())
		}
		return err
	}
	version, err := w.number(`PRAGMA data_version`)
	if err != nil {
		return errors.Join(err, w.rollback())
	}
	if version != w.version {
		w.version = version
		w.logs.Ring("")
	}
	return nil
}

// transact runs a group in the current transaction. If the database fails, each request
// gets its own transaction, so that an error caused by one of them (a batch too large for
// the disk) is only its own.
func (w *writer) transact(group []*request) {
	err := w.try(group)
	if err == nil {
		return
	}
	if len(group) == 1 {
		group[0].err = err
		return
	}
	for _, r := range group {
		if r.err = w.begin(r.ctx); r.err == nil {
			r.err = w.try([]*request{r})
		}
	}
}

func (w *writer) try(group []*request) (err error) {
	defer w.own.Add(1)
	for _, r := range group {
		if err = r.do(w); err != nil {
			break
		}
	}
	if err == nil {
		err = w.exec(`COMMIT`)
	}
	if err != nil {
		return errors.Join(err, w.rollback())
	}
	return nil
}

// close waits for its turn and then closes the connection. Later requests fail.
func (w *writer) close() error {
	err := w.write(context.Background(), func(w *writer) error {
		w.closed = true
		return nil
	})
	if errors.Is(err, errClosed) {
		return nil
	}
	// No transaction begins once closed is set, so the connection is not in use.
	return errors.Join(err, w.conn.close())
}
