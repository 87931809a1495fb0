package server

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sort"
	"sync"
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

	mu      sync.Mutex
	ring    []frame // the latest
	first   uint64  // the number of the first of them
	bytes   int
	full    int    // so many bytes that it is worth looking what may go
	low     uint64 // the seq of the first entry that is in the ring, or will be
	next    uint64 // the seq of the entry that comes next
	ended   bool   // the run has, with the entry before next
	stopped bool   // it had at some time
	err     error  // the journal cannot be read
	changed chan struct{}
	readers map[*reader]bool
	past    past
}

// How much a hub keeps: what not all have taken, as far as it is no more than
// most, and a little anyway. Who is further behind reads the journal.
const (
	mostRing  = 256 << 10
	leastRing = 16 << 10
)

// A reader is one who watches a run, from one goroutine.
type reader struct {
	hub *hub
	at  uint64 // the number of the frame that it takes next, once it has joined
	in  bool   // it has joined: what it has not taken is in the ring
	seq uint64 // of the entry that it takes next
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
		b = &hub{run: run, of: h, poke: make(chan struct{}, 1), low: head.Seq + 1, next: head.Seq + 1, full: leastRing,
			ended: head.Status.Ended(), changed: make(chan struct{}), readers: map[*reader]bool{}}
		b.begin()
	}
	r := &reader{hub: b, seq: min(after, head.Seq) + 1}
	b.mu.Lock()
	b.readers[r] = true
	b.mu.Unlock()
	return r, head, nil
}

// outdated reports whether the run was taken up again after it had ended for
// those whom the hub is for.
func (b *hub) outdated(head pawl.Head) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended && (!head.Status.Ended() || head.Seq >= b.next)
}

// begin has the hub driven, unless its run has ended; the hubs are locked.
func (b *hub) begin() {
	h := b.of
	h.byRun[b.run] = b
	b.stop = func() {}
	if b.ended {
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
		b.mu.Lock()
		over := b.ended || b.err != nil
		b.mu.Unlock()
		if over {
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
	next := b.next
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
	for row, err := range b.of.journal.Read(ctx, b.run, b.next) { // nobody else changes it
		if err != nil {
			return err
		}
		b.publish(entryFrame(row))
	}
	b.mu.Lock()
	next, stopped := b.next, b.stopped
	b.mu.Unlock()
	if !stopped {
		return nil
	}
	head, err := headOf(ctx, b.of.journal, b.run) // it may have been taken up again at once
	if err != nil {
		return err
	}
	if head.Seq >= next {
		b.look()
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended = head.Status.Ended(); b.ended {
		b.shout()
	}
	return nil
}

// publish puts a frame into the ring.
func (b *hub) publish(f frame) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ring = append(b.ring, f)
	b.bytes += len(f.text)
	if f.seq != 0 {
		b.next = f.seq + 1
		b.stopped = b.stopped || f.kind == stopped
	}
	b.trim()
	b.shout()
}

var stopped = pawl.RunStopped{}.Type()

// shout wakes the readers; the hub is locked.
func (b *hub) shout() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// trim lets go of what all have taken, and of more if it is too much; the hub is
// locked.
func (b *hub) trim() {
	if b.bytes <= b.full {
		return
	}
	taken := b.first + uint64(len(b.ring))
	for r := range b.readers {
		if r.in {
			taken = min(taken, r.at)
		}
	}
	n := 0
	for ; n < len(b.ring)-1 && (b.first+uint64(n) < taken || b.bytes > mostRing); n++ {
		b.bytes -= len(b.ring[n].text)
	}
	if n > 0 {
		b.first += uint64(n)
		b.ring = slices.Delete(b.ring, 0, n)
		b.low = b.ring[0].before
	}
	b.full = min(b.bytes+leastRing, mostRing)
}

// fail ends the watching of the run.
func (b *hub) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
		b.shout()
	}
}

// take returns the frames that come next, at least one and about as many
// bytes as go out at once; none: ended is true, or wait tells when to ask again.
func (r *reader) take(ctx context.Context, into []frame) (frames []frame, wait <-chan struct{}, ended bool, err error) {
	b := r.hub
	frames = into[:0]
	b.mu.Lock()
	r.join()
	if !r.in && r.seq < b.next {
		b.mu.Unlock()
		frames, err = b.past.chapter(ctx, b, r.seq)
		if n := len(frames); n > 0 {
			r.seq = frames[n-1].seq + 1
		}
		return frames, nil, false, err
	}
	defer b.mu.Unlock()
	for size := 0; r.in && r.at < b.first+uint64(len(b.ring)) && size < outBytes; r.at++ {
		f := b.ring[r.at-b.first]
		switch {
		case f.seq == 0 && f.before < r.seq, f.seq != 0 && f.seq < r.seq:
			continue // a chapter brought it, or what makes it void
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

// join finds the place of a reader in the ring, if all that it has not taken is
// in there, and leaves one that was too slow; the hub is locked.
func (r *reader) join() {
	b := r.hub
	switch {
	case r.in && r.at < b.first && r.seq < b.low:
		r.in = false
	case r.in && r.at < b.first: // what it missed were pieces
		r.at = b.first
	case !r.in && r.seq >= b.low:
		r.in = true
		r.at = b.first + uint64(sort.Search(len(b.ring), func(i int) bool { return b.ring[i].before >= r.seq }))
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
