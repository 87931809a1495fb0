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
)

// hubs are the runs that somebody watches. What a run's watchers are shown is
// read, redacted and written once for all of them. One listener asks the journal
// for news of all runs, as long as there is a hub.
type hubs struct {
	journal pawl.Journal
	live    func(run string) *engine.Handle // a run that is driven here; nil: it is not

	mu     sync.Mutex
	byRun  map[string]*hub
	listen context.CancelFunc // ends the listener
	closed bool
	work   sync.WaitGroup
}

// teller is a journal that tells of new entries. Of one that does not, news is
// looked for.
type teller interface {
	// WatchLogs yields the ids of runs that have new entries, soon after they can
	// be read, until ctx ends; the empty id: any may have.
	WatchLogs(ctx context.Context) iter.Seq2[string, error]
}

// lookAnyway is how often all hubs look, whatever they are told: word may be lost
// with the process that would have given it.
const lookAnyway = time.Second

func newHubs(j pawl.Journal, live func(run string) *engine.Handle) *hubs {
	return &hubs{journal: j, live: live, byRun: map[string]*hub{}}
}

// A hub is one run that is watched. It goes on through the run's pauses and
// whoever takes it up, and is over with the run.
type hub struct {
	run  string
	of   *hubs
	poke chan struct{} // holds one token when there may be news
	stop context.CancelFunc

	now   atomic.Pointer[view] // what readers see; the hub's lock is held to change it
	crowd atomic.Int64         // how many they are

	mu      sync.Mutex
	bytes   int  // in the ring
	full    int  // so many bytes that it is worth looking what may go
	stopped bool // the run was over at some time
	readers map[*reader]bool
	past    past
}

// A view is what a hub has to show at some moment. Nothing in it changes: a
// thousand readers that wait for one lock hold up each other and the run.
type view struct {
	ring    []frame       // the latest
	first   uint64        // the number of the first of them
	low     uint64        // the seq of the first entry that is in the ring, or will be
	next    uint64        // the seq of the entry that comes next
	ended   bool          // the run has, with the entry before next
	err     error         // the journal cannot be read
	changed chan struct{} // closed when there is another view
}

// How much a hub keeps: what not all have taken, as far as it is no more than
// most and a little for each reader, and a little anyway. Who is further behind
// reads the journal, which costs each the more the further they are apart.
const (
	mostRing    = 256 << 10
	eachRing    = 8 << 10
	crowdedRing = 8 << 20
	leastRing   = 16 << 10
)

// room is how much may be kept.
func (b *hub) room() int { return min(mostRing+int(b.crowd.Load())*eachRing, crowdedRing) }

// A reader is one who watches a run, from one goroutine.
type reader struct {
	hub *hub
	at  atomic.Uint64 // the number of the frame that it takes next, once it has joined
	in  atomic.Bool   // it has joined: what it has not taken is in the ring
	seq uint64        // of the entry that it takes next
}

var errClosed = errors.New("the server is closed")

// enter begins to watch a run behind an entry, and says where the run stands.
func (h *hubs) enter(ctx context.Context, run string, after uint64) (*reader, pawl.Head, error) {
	head, err := headOf(ctx, h.journal, run)
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
		b = &hub{run: run, of: h, poke: make(chan struct{}, 1), full: leastRing, readers: map[*reader]bool{}}
		b.now.Store(&view{low: head.Seq + 1, next: head.Seq + 1, ended: head.Status.Ended(), changed: make(chan struct{})})
		b.begin()
	}
	r := &reader{hub: b, seq: min(after, head.Seq) + 1}
	b.mu.Lock()
	b.readers[r] = true
	b.mu.Unlock()
	b.crowd.Add(1)
	return r, head, nil
}

// outdated reports whether the run was taken up again after it had ended for
// those whom the hub is for.
func (b *hub) outdated(head pawl.Head) bool {
	v := b.now.Load()
	return v.ended && (!head.Status.Ended() || head.Seq >= v.next)
}

// begin has the hub driven, unless its run has ended; the hubs are locked.
func (b *hub) begin() {
	h := b.of
	h.byRun[b.run] = b
	b.stop = func() {}
	if b.now.Load().ended {
		return
	}
	if h.listen == nil {
		ctx, stop := context.WithCancel(context.Background())
		h.listen = stop
		h.work.Go(func() { h.hear(ctx) })
		h.work.Go(func() { h.lookAround(ctx) })
	}
	var ctx context.Context
	ctx, b.stop = context.WithCancel(context.Background())
	h.work.Go(func() { b.drive(ctx) })
}

// leave stops watching.
func (r *reader) leave() {
	b := r.hub
	h := b.of
	b.crowd.Add(-1)
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

// drop forgets a hub; the hubs are locked.
func (h *hubs) drop(b *hub) {
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
func (h *hubs) close() {
	h.mu.Lock()
	h.closed = true
	for _, b := range h.byRun {
		b.fail(errClosed)
		h.drop(b)
	}
	h.mu.Unlock()
	h.work.Wait()
}

// hear has hubs look when there is word of their runs.
func (h *hubs) hear(ctx context.Context) {
	t, ok := h.journal.(teller)
	for ok && ctx.Err() == nil {
		for run, err := range t.WatchLogs(ctx) {
			if err != nil {
				break
			}
			h.tell(run)
		}
		select { // it has ended by itself: looking anyway is enough meanwhile
		case <-time.After(lookAnyway):
		case <-ctx.Done():
		}
	}
}

func (h *hubs) lookAround(ctx context.Context) {
	tick := time.NewTicker(lookAnyway)
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

func (h *hubs) tell(run string) {
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

func (b *hub) look() {
	select {
	case b.poke <- struct{}{}:
	default:
	}
}

// drive follows the run: by what the engine shows of it while it is driven here,
// by the journal while it is not.
func (b *hub) drive(ctx context.Context) {
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
		case <-b.poke:
		case <-ctx.Done():
			return
		}
	}
}

// follow takes what comes while the run is driven here.
func (b *hub) follow(ctx context.Context) error {
	live := b.of.live(b.run)
	if live == nil {
		return nil
	}
	var v veil
	next := b.now.Load().next // which nobody else changes
	for e, err := range live.Follow(ctx, next) {
		if err != nil {
			return err
		}
		if e.Seq == 0 {
			if shown, ok := v.piece(e); ok {
				if f, ok := pieceFrame(shown, next); ok {
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
		b.publish(entryFrame(pawl.Row{Seq: e.Seq, Data: line}))
	}
	return nil
}

// read takes what is new in the journal.
func (b *hub) read(ctx context.Context) error {
	for row, err := range b.of.journal.Read(ctx, b.run, b.now.Load().next) {
		if err != nil {
			return err
		}
		b.publish(entryFrame(row))
	}
	b.mu.Lock()
	stopped := b.stopped
	b.mu.Unlock()
	if !stopped {
		return nil
	}
	head, err := headOf(ctx, b.of.journal, b.run) // it may have been taken up again at once
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

// change shows the readers another view.
func (b *hub) change(f func(v *view)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.now.Load()
	v := *was
	v.changed = make(chan struct{})
	f(&v)
	b.now.Store(&v)
	close(was.changed)
}

// publish puts a frame into the ring.
func (b *hub) publish(f frame) {
	b.change(func(v *view) {
		v.ring = append(v.ring, f) // behind what other views see
		b.bytes += len(f.text)
		if f.seq != 0 {
			v.next = f.seq + 1
			b.stopped = b.stopped || f.kind == stopped
		}
		b.trim(v)
	})
}

const stopped = "run.stopped"

// trim lets go of what all have taken, and of more if it is too much; the hub is
// locked.
func (b *hub) trim(v *view) {
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
	if b.bytes > most { // a good deal at once, since what stays is copied
		most -= most / 4
	}
	n := 0
	for ; n < len(v.ring)-1 && (v.first+uint64(n) < taken || b.bytes > most); n++ {
		b.bytes -= len(v.ring[n].text)
	}
	if n > 0 {
		v.first += uint64(n)
		v.ring = slices.Clone(v.ring[n:]) // what others see stays
		v.low = v.ring[0].before
	}
	b.full = min(b.bytes+max(leastRing, room/16), room)
}

// fail ends the watching of the run.
func (b *hub) fail(err error) {
	b.change(func(v *view) {
		if v.err == nil {
			v.err = err
		}
	})
}

// take returns the frames that come next, at least one and about as many
// bytes as go out at once; none: ended is true, or wait tells when to ask again.
func (r *reader) take(ctx context.Context, into []frame) (frames []frame, wait <-chan struct{}, ended bool, err error) {
	b := r.hub
	v := b.now.Load()
	frames = into[:0]
	r.join(v)
	if !r.in.Load() && r.seq < v.next {
		chapter, err := b.past.chapter(ctx, b, r.seq)
		frames = append(frames, chapter...) // the caller clears what it has sent, and a chapter is everybody's
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
			continue // a chapter brought it, or what makes it void
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

// join finds the place of a reader in the ring, if all that it has not taken is
// in there, and leaves one that was too slow.
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

// headOf is where a run stands.
func headOf(ctx context.Context, j pawl.Journal, run string) (pawl.Head, error) {
	for h, err := range j.List(ctx, pawl.Query{Run: run}) {
		if err != nil {
			return pawl.Head{}, err
		}
		if h.Run == run {
			return h, nil
		}
	}
	return pawl.Head{}, pawl.ErrUnknownRun
}
