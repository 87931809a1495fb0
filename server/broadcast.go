package server

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// broadcasters are the runs being watched. Each entry is read, redacted and encoded once for all
// watchers of a run. While there are broadcasters, one listener subscribes to changes of all
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

	now   atomic.Pointer[view] // what readers see; changed under the broadcaster's lock
	count atomic.Int64         // the number of readers

	mu      sync.Mutex
	bytes   int  // size of the ring
	full    int  // size at which trimming is worthwhile
	stopped bool // the run has ended at least once
	readers map[*reader]bool
	past    past
}

// A view is an immutable snapshot of a broadcaster: a thousand readers that contend for one lock
// would slow down each other and the run.
type view struct {
	ring    []frame       // the latest frames
	first   uint64        // the number of the first frame
	low     uint64        // the seq of the first entry in the ring, or of the next
	next    uint64        // the seq of the next entry
	ended   bool          // the run ended with the entry before next
	err     error         // the journal cannot be read
	changed chan struct{} // closed when there is another view
}

// The size of a ring: frames that some reader has not taken, at most mostRing and
// eachRing per reader, and always leastRing. Readers that are further behind read the
// journal, which is slower the more they are spread out.
const (
	mostRing    = 256 << 10
	eachRing    = 8 << 10
	largestRing = 8 << 20
	leastRing   = 16 << 10
)

// room is how many bytes the ring may have.
func (b *broadcaster) room() int { return min(mostRing+int(b.count.Load())*eachRing, largestRing) }

// A reader watches a run from one goroutine.
type reader struct {
	broadcaster *broadcaster
	at          atomic.Uint64 // the number of its next frame, once it has joined
	in          atomic.Bool   // it has joined: all frames it has not taken are in the ring
	seq         uint64        // of its next entry
	children    bool          // it wants pieces of replies of child runs
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
		b = &broadcaster{run: run, of: h, notify: make(chan struct{}, 1), full: leastRing, readers: map[*reader]bool{}}
		b.now.Store(&view{low: head.Seq + 1, next: head.Seq + 1, ended: head.Status.Ended(), changed: make(chan struct{})})
		b.begin()
	}
	r := &reader{broadcaster: b, seq: min(after, head.Seq) + 1}
	b.mu.Lock()
	b.readers[r] = true
	b.mu.Unlock()
	b.count.Add(1)
	return r, head, nil
}

// outdated reports whether the run was resumed after the broadcaster's readers saw its end.
func (b *broadcaster) outdated(head pawl.Head) bool {
	v := b.now.Load()
	return v.ended && (!head.Status.Ended() || head.Seq >= v.next)
}

// begin starts driving the broadcaster, unless its run has ended. Callers hold the lock of broadcasters.
func (b *broadcaster) begin() {
	h := b.of
	h.byRun[b.run] = b
	b.stop = func() {}
	if b.now.Load().ended {
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
	b := r.broadcaster
	h := b.of
	b.count.Add(-1)
	h.mu.Lock()
	defer h.mu.Unlock()
	b.mu.Lock()
	delete(b.readers, r)
	alone := len(b.readers) == 0
	b.mu.Unlock()
	if alone {
		h.drop(b)
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
		select { // if the subscription ended by itself, polling is enough
		case <-time.After(pollEvery):
		case <-ctx.Done():
		}
	}
}

func (h *broadcasters) lookAround(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			h.tell("")
		case <-ctx.Done():
			return
		}
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
		if err == nil {
			err = b.read(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			b.fail(err)
		}
		if v := b.now.Load(); v.ended || v.err != nil {
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
	next := b.now.Load().next           // only this goroutine changes it
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

// read reads new entries from the journal.
func (b *broadcaster) read(ctx context.Context) error {
	for row, err := range b.of.journal.Read(ctx, b.run, b.now.Load().next) {
		if err != nil {
			return err
		}
		b.publish(b.frame(ctx, row))
	}
	b.mu.Lock()
	stopped := b.stopped
	b.mu.Unlock()
	if !stopped {
		return nil
	}
	head, err := runs.Head(ctx, b.of.journal, b.run) // it may have been resumed at once
	if err != nil {
		return err
	}
	if head.Seq >= b.now.Load().next {
		b.look()
		return nil
	}
	if head.Status.Ended() {
		b.change(func(v *view) { v.ended = true })
	}
	return nil
}

// change publishes another view.
func (b *broadcaster) change(f func(v *view)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.now.Load()
	v := *was
	v.changed = make(chan struct{})
	f(&v)
	b.now.Store(&v)
	close(was.changed)
}

// publish appends a frame to the ring.
func (b *broadcaster) publish(f frame) {
	b.change(func(v *view) {
		v.ring = append(v.ring, f) // beyond what older views see
		b.bytes += len(f.text)
		if f.seq != 0 {
			v.next = f.seq + 1
			b.stopped = b.stopped || f.kind == stopped
		}
		b.trim(v)
	})
}

const stopped = "run.stopped"

// trim discards frames that every reader has taken, and more if the ring is too large.
// Callers hold the broadcaster's lock.
func (b *broadcaster) trim(v *view) {
	if b.bytes <= b.full {
		return
	}
	taken := v.first + uint64(len(v.ring))
	for r := range b.readers {
		if r.in.Load() {
			taken = min(taken, r.at.Load())
		}
	}
	room := b.room()
	most := room
	if b.bytes > most { // much at once, since the rest is copied
		most -= most / 4
	}
	n := 0
	for ; n < len(v.ring)-1 && (v.first+uint64(n) < taken || b.bytes > most); n++ {
		b.bytes -= len(v.ring[n].text)
	}
	if n > 0 {
		v.first += uint64(n)
		v.ring = slices.Clone(v.ring[n:]) // older views keep theirs
		v.low = v.ring[0].before
	}
	b.full = min(b.bytes+max(leastRing, room/16), room)
}

// fail ends the watching of the run.
func (b *broadcaster) fail(err error) {
	b.change(func(v *view) {
		if v.err == nil {
			v.err = err
		}
	})
}

// take returns the next frames, at least one and about as many bytes as one write
// sends; none: ended is true, or wait is closed when to ask again.
func (r *reader) take(ctx context.Context, into []frame) (frames []frame, wait <-chan struct{}, ended bool, err error) {
	b := r.broadcaster
	v := b.now.Load()
	frames = into[:0]
	r.join(v)
	if !r.in.Load() && r.seq < v.next {
		page, err := b.past.page(ctx, b, r.seq)
		frames = append(frames, page...) // the caller clears what it has sent, and a page is shared
		if n := len(frames); n > 0 {
			r.seq = frames[n-1].seq + 1
		}
		return frames, nil, false, err
	}
	at := r.at.Load()
	for size := 0; r.in.Load() && at < v.first+uint64(len(v.ring)) && size < outBytes; at++ {
		f := v.ring[at-v.first]
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
	r.at.Store(at)
	if len(frames) > 0 {
		return frames, nil, false, nil
	}
	if v.err != nil {
		return nil, nil, false, v.err
	}
	return nil, v.changed, v.ended && r.seq >= v.next, nil
}

// join finds a reader's place in the ring if all frames that it has not taken are
// there, and removes a reader that was too slow.
func (r *reader) join(v *view) {
	in, at := r.in.Load(), r.at.Load()
	switch {
	case in && at < v.first && r.seq < v.low:
		r.in.Store(false)
	case in && at < v.first: // what it missed were pieces
		r.at.Store(v.first)
	case !in && r.seq >= v.low:
		r.at.Store(v.first + uint64(sort.Search(len(v.ring), func(i int) bool { return v.ring[i].before >= r.seq })))
		r.in.Store(true)
	}
}
