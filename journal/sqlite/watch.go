package sqlite

import (
	"context"
	"iter"
	"time"

	"github.com/pawl-run/pawl/internal/journals"
)

// WatchLogs yields the ids of runs that have new entries, soon after they are durable, until ctx
// ends or the journal is closed. The empty id means that any run may have new entries: it comes
// first, and whenever another process has written, since the runs are then unknown. Ids that change
// several times while the caller is busy come once. Writes of other processes are found by
// looking at the log next to the file every now and then. No error is ever yielded.
func (j *Journal) WatchLogs(ctx context.Context) iter.Seq2[string, error] { return j.logs.Listen(ctx) }

// newNotifier makes the notifier of a journal. While there is a listener, a goroutine
// watches for writes of other processes.
func newNotifier(path string, w *writer) *journals.Bell {
	b := new(journals.Bell)
	b.First = func() func() {
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		o := outside{path: path, writer: w, ring: func() { b.Ring("") }}
		o.seen, _ = o.index() // before the first listener relies on it
		go func() {
			defer close(done)
			o.watch(ctx)
		}()
		return func() { stop(); <-done }
	}
	return b
}

// outside watches for writes of other processes. This process's writer detects them
// whenever it begins a transaction, so a change is looked at once the writer is idle.
type outside struct {
	path   string
	writer *writer // nil: the journal is for reading only
	ring   func()
	seen   index  // the latest state that was announced
	own    uint64 // the writer's transactions at the latest look
}

func (o *outside) watch(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if o.writes() {
			continue
		}
		if now, ok := o.index(); !ok || now != o.seen {
			o.seen = now
			o.ring()
		}
	}
}

// writes reports whether this process's writer is active, or was since the last call.
func (o *outside) writes() bool {
	if o.writer == nil {
		return false
	}
	was := o.own
	o.own = o.writer.own.Load()
	return o.own != was || o.own%2 == 1
}

// index is the header of the index of the write-ahead log, which every commit changes; see
// https://sqlite.org/walformat.html#the_wal_index_header
type index [48]byte
