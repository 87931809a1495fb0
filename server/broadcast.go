package server

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// broadcasters are the runs being watched. Each new entry is read, redacted and encoded once for
// all watchers of a run. While there are broadcasters, one listener subscribes to changes of all
// runs.
type broadcasters struct {
	journal pawl.Journal
	live    func(run string) *engine.Handle // a run that is driven here; nil: it is not

	mu     sync.Mutex
	byRun  map[string]*broadcaster
	listen context.CancelFunc // ends the listener
	closed bool
	work   sync.WaitGroup
}

// notifier is a journal that notifies of new entries. Other journals are polled.
type notifier interface {
	// WatchLogs yields the ids of runs that have new entries, soon after they can
	// be read, until ctx ends; the empty id: any run may have new entries.
	WatchLogs(ctx context.Context) iter.Seq2[string, error]
}

// pollEvery is how often all broadcasters poll: a notification is lost if its sender dies.
const pollEvery = time.Second

func newHubs(j pawl.Journal, live func(run string) *engine.Handle) *broadcasters {
	return &broadcasters{journal: j, live: live, byRun: map[string]*broadcaster{}}
}

// A broadcaster is one watched run. It lasts through the run's pauses and changes of owner, and
// ends with the run.
type broadcaster struct {
	run    string
	of     *broadcasters
	notify chan struct{} // holds one token when the run may have changed
	stop   context.CancelFunc
	count  atomic.Int64 // the number of readers

	stopped bool // the run has ended at least once; only for the goroutine that drives

	mu      sync.Mutex
	ring    []frame       // the latest frames
	bytes   int           // the size of their texts
	first   uint64        // the number of the first frame, from 1
	low     uint64        // the seq of the first entry in the ring, or of the next
	next    uint64        // the seq of the next entry
	ended   bool          // the run ended with the entry before next
	err     error         // the journal cannot be read
	changed chan struct{} // closed when one of these changes
}

// The size of a ring in bytes. A reader that is further behind reads the journal in pages.
const (
	leastRing = 64 << 10
	eachRing  = 8 << 10 // more for each reader
	mostRing  = 8 << 20

	pageFrames = 256 // the most of a page of the journal
	pageSize   = 64 << 10
)

// room is how many bytes the ring may have.
func (b *broadcaster) room() int { return min(leastRing+int(b.count.Load())*eachRing, mostRing) }

// A reader watches a run from one goroutine.
type reader struct {
	broadcaster *broadcaster
	at          uint64 // the number of its next frame in the ring
	seq         uint64 // of its next entry
	children    bool   // it wants pieces of replies of child runs
}

var errClosed = errors.New("the server is closed")

// enter begins to watch a run after an entry, and returns the run's head.
func (h *broadcasters) enter(ctx context.Context, run string, after uint64) (*reader, pawl.Head, error) {
	head, err := runs.Head(ctx, h.journal, run)
	if err != nil {
		return nil, head, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, head, errClosed
	}
	b := h.byRun[run]
	if b == nil || b.outdated(head) {
		b = &broadcaster{run: run, of: h, notify: make(chan struct{}, 1), first: 1, low: head.Seq + 1, next: head.Seq + 1, ended: head.Status.Ended(), changed: make(chan struct{})}
		b.begin()
	}
	b.count.Add(1)
	return &reader{broadcaster: b, seq: min(after, head.Seq) + 1}, head, nil
}

// outdated reports whether the run was resumed after the broadcaster's readers saw its end, or
// could not be read: they are about to leave.
func (b *broadcaster) outdated(head pawl.Head) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err != nil || b.ended && (!head.Status.Ended() || head.Seq >= b.next)
}

// begin starts driving the broadcaster, unless its run has ended. Callers hold the lock of broadcasters.
func (b *broadcaster) begin() {
	h := b.of
	h.byRun[b.run] = b
	b.stop = func() {}
	if b.ended {
		return
	}
	if h.listen == nil {
		ctx, stop := context.WithCancel(context.Background())
		h.listen = stop
		h.work.Go(func() { h.subscribe(ctx) })
		h.work.Go(func() { h.lookAround(ctx) })
	}
	var ctx context.Context
	ctx, b.stop = context.WithCancel(context.Background())
	h.work.Go(func() { b.drive(ctx) })
}

// leave stops watching.
func (r *reader) leave() {
	h := r.broadcaster.of
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.broadcaster.count.Add(-1) == 0 {
		h.drop(r.broadcaster)
	}
}

// drop forgets a broadcaster. Callers hold the lock of broadcasters.
func (h *broadcasters) drop(b *broadcaster) {
	b.stop()
	if h.byRun[b.run] == b {
		delete(h.byRun, b.run)
	}
	if len(h.byRun) == 0 && h.listen != nil {
		h.listen()
		h.listen = nil
	}
}

// close ends all watching.
func (h *broadcasters) close() {
	h.mu.Lock()
	h.closed = true
	for _, b := range h.byRun {
		b.fail(errClosed)
		h.drop(b)
	}
	h.mu.Unlock()
	h.work.Wait()
}

// subscribe wakes broadcasters when their runs may have changed.
func (h *broadcasters) subscribe(ctx context.Context) {
	t, ok := h.journal.(notifier)
	for ok && ctx.Err() == nil {
		for run, err := range t.WatchLogs(ctx) {
			if err != nil {
				break
			}
			h.tell(run)
		}
		sleep(ctx, pollEvery) // if the subscription ended by itself, polling is enough
	}
}

func (h *broadcasters) lookAround(ctx context.Context) {
	for sleep(ctx, pollEvery) {
		h.tell("")
	}
}

func (h *broadcasters) tell(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.byRun[run]; b != nil {
		b.look()
	}
	if run == "" {
		for _, b := range h.byRun {
			b.look()
		}
	}
}

func (b *broadcaster) look() {
	select {
	case b.notify <- struct{}{}:
	default:
	}
}

// drive follows the run: through the engine while it is driven here, else through the
// journal.
func (b *broadcaster) drive(ctx context.Context) {
	for {
		err := b.follow(ctx)
		ended := false
		if err == nil {
			ended, err = b.read(ctx)
		}
		if err != nil && ctx.Err() == nil {
			b.fail(err)
		}
		if err != nil || ended {
			return
		}
		select {
		case <-b.notify:
		case <-ctx.Done():
			return
		}
	}
}

// follow handles events while the run is driven here.
func (b *broadcaster) follow(ctx context.Context) error {
	live := b.of.live(b.run)
	if live == nil {
		return nil
	}
	redactors := map[string]*redactor{} // by run
	next := b.next                      // only this goroutine changes it
	for e, err := range live.Follow(ctx, next) {
		if err != nil {
			return err
		}
		if e.Seq == 0 {
			v := redactors[e.Run]
			if v == nil {
				v = new(redactor)
				redactors[e.Run] = v
			}
			if shown, ok := v.piece(e); ok {
				if f, ok := pieceFrame(b.run, shown, next); ok {
					b.publish(f)
				}
			}
			continue
		}
		line, err := e.AppendJSON(nil)
		if err != nil {
			return err
		}
		next = e.Seq + 1
		b.publish(b.frame(ctx, pawl.Row{Seq: e.Seq, Data: line}))
	}
	return nil
}

// read reads new entries from the journal, and reports whether the run has ended.
func (b *broadcaster) read(ctx context.Context) (ended bool, err error) {
	for row, err := range b.of.journal.Read(ctx, b.run, b.next) {
		if err != nil {
			return false, err
		}
		b.publish(b.frame(ctx, row))
	}
	if !b.stopped {
		return false, nil
	}
	head, err := runs.Head(ctx, b.of.journal, b.run) // it may have been resumed at once
	if err != nil {
		return false, err
	}
	if head.Seq >= b.next {
		b.look()
		return false, nil
	}
	if ended = head.Status.Ended(); ended {
		b.change(func() { b.ended = true })
	}
	return ended, nil
}

// change changes what readers see.
func (b *broadcaster) change(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	close(b.changed)
	b.changed = make(chan struct{})
}

// publish appends a frame to the ring. Of a ring that is too large, the first quarter goes.
func (b *broadcaster) publish(f frame) {
	b.change(func() {
		b.ring = append(b.ring, f)
		b.bytes += len(f.text)
		if f.seq != 0 {
			b.next = f.seq + 1
			b.stopped = b.stopped || f.kind == stopped
		}
		room, n := b.room(), 0
		if b.bytes <= room {
			return
		}
		for ; n < len(b.ring)-1 && b.bytes > room-room/4; n++ {
			b.bytes -= len(b.ring[n].text)
		}
		b.ring = slices.Clone(b.ring[n:])
		b.first += uint64(n)
		b.low = b.ring[0].before
	})
}

const stopped = "run.stopped"

// fail ends the watching of the run.
func (b *broadcaster) fail(err error) {
	b.change(func() {
		if b.err == nil {
			b.err = err
		}
	})
}

// take returns the next frames, at least one and about as many bytes as one write
// sends; none: ended is true, or wait is closed when to ask again.
func (r *reader) take(ctx context.Context) (frames []frame, wait <-chan struct{}, ended bool, err error) {
	b := r.broadcaster
	b.mu.Lock()
	if r.at < b.first && r.seq < b.low { // it missed entries
		b.mu.Unlock()
		frames, err = r.page(ctx)
		return frames, nil, false, err
	}
	defer b.mu.Unlock()
	r.at = max(r.at, b.first) // what it missed were pieces
	for size := 0; r.at < b.first+uint64(len(b.ring)) && size < outBytes; r.at++ {
		f := b.ring[r.at-b.first]
		switch {
		case f.seq == 0 && f.before < r.seq, f.seq != 0 && f.seq < r.seq:
			continue // a page had it, or made it void
		case f.child && !r.children:
			continue
		case f.seq != 0:
			r.seq = f.seq + 1
		}
		frames = append(frames, f)
		size += len(f.text)
	}
	if len(frames) > 0 {
		return frames, nil, false, nil
	}
	if b.err != nil {
		return nil, nil, false, b.err
	}
	return nil, b.changed, b.ended && r.seq >= b.next, nil
}

// page reads the next entries of the reader in the journal.
func (r *reader) page(ctx context.Context) (frames []frame, err error) {
	size := 0
	for row, err := range r.broadcaster.of.journal.Read(ctx, r.broadcaster.run, r.seq) {
		if err != nil {
			return nil, err
		}
		f := r.broadcaster.frame(ctx, row)
		frames = append(frames, f)
		r.seq = f.seq + 1
		if size += len(f.text); size >= pageSize || len(frames) == pageFrames {
			break
		}
	}
	if frames == nil {
		return nil, pawl.ErrUnknownRun // the run was removed
	}
	return frames, nil
}
