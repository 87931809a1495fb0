package sqlite

import (
	"context"
	"iter"
	"os"
	"time"

	"github.com/pawl-run/pawl/internal/bell"
)

// WatchLogs yields the ids of runs that have new entries, soon after they are durable, until ctx
// ends or the journal is closed. The empty id means that any run may have new entries: it comes
// first, and whenever another process has written, since the runs are then unknown. Ids that change
// several times while the caller is busy come once. Writes of other processes are detected by
// changes of the log next to the file, and at least once a second. No error is ever yielded.
func (j *Journal) WatchLogs(ctx context.Context) iter.Seq2[string, error] { return j.logs.Listen(ctx) }

const (
	pollEvery = time.Second           // finds changes that were not announced
	quiet     = 50 * time.Millisecond // after this time without own writes, a change is another process's
	longest   = 250 * time.Millisecond
)

// newNotifier makes the notifier of a journal. While there is a listener, a goroutine
// watches for writes of other processes.
func newNotifier(path string, w *writer) *bell.Bell {
	b := new(bell.Bell)
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
// whenever it begins a transaction. A change that comes while the writer is active is
// its own. One that comes while the writer is idle is another process's.
type outside struct {
	path   string
	writer *writer // nil: the journal is for reading only
	ring   func()
	seen   index  // the latest state that was announced
	own    uint64 // the writer's transactions at the latest look
}

func (o *outside) watch(ctx context.Context) {
	touched := make(chan struct{}, 1)
	touched <- struct{}{} // for writes before the log was watched
	every := o.touches(ctx, touched)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for anyway := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-touched:
			o.settle(ctx)
		case <-tick.C:
			now, ok := o.index()
			if ok && now == o.seen && time.Since(anyway) < pollEvery {
				continue
			}
			if now != o.seen || !ok {
				o.ring()
			}
			o.seen, anyway = now, time.Now()
		}
	}
}

// settle notifies listeners once a write to the log is visible. A commit is written,
// flushed, and then shown to readers in the index, so there may be nothing new to read yet
// when the log changes.
func (o *outside) settle(ctx context.Context) {
	for wait, waited := time.Millisecond/2, time.Duration(0); waited < longest; wait, waited = 2*wait, waited+wait {
		if now, ok := o.index(); !ok || now != o.seen {
			break
		}
		if !sleep(ctx, wait) {
			return
		}
	}
	for o.writes() {
		if !sleep(ctx, quiet) {
			return
		}
	}
	if now, ok := o.index(); !ok || now != o.seen {
		o.seen = now
		o.ring()
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

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// index is the header of the index of the write-ahead log, which every commit changes; see
// https://sqlite.org/walformat.html#the_wal_index_header
type index [48]byte

// headerOf reads the header from the file, which all processes map.
func headerOf(path string) (now index, ok bool) {
	f, err := os.Open(path + "-shm")
	if err != nil {
		return now, os.IsNotExist(err) // no process has written since the log was emptied
	}
	n, err := f.ReadAt(now[:], 0)
	return now, f.Close() == nil && (err == nil || n == 0)
}
