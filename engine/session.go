package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sabotage"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/window"
)

// session is one ownership of a run: from claiming it to letting go. Its state
// belongs to the goroutine that drives it; other goroutines reach it through
// its inbox and its feed only.
type session struct {
	engine *Engine
	m      *pawl.Machine
	lease  pawl.Lease
	clean  cleaner
	found  uint64 // the last entry when the run was claimed

	state     *pawl.State
	talk      *window.Transcript
	runs      int          // that this one continues
	pending   []pawl.Entry // appended, not yet durable
	copied    int          // how many of them, in front, another run wrote
	after     uint64       // the last durable entry
	spareCall *modelCall   // memory for the next one
	spareJob  *job
	hooked    []pawl.Entry   // appended, not yet shown to the hooks
	deaf      map[int]bool   // the hooks that are not asked any more
	retried   map[string]int // what each hook has had made again in this run
	timer     *time.Timer
	failed    error             // an append that could not be encoded
	ctx       context.Context   // the run's life
	base      context.Context   // its values, without its end
	steps     int               // how many more to take; negative: any number
	done      func(error)       // called once, when nobody drives the session any more
	tokens    map[string]string // of the requests made here, by call
	asked     map[string]int    // the attempts whose tools were asked what came of them, by call
	later     map[string]uint64 // the requests the approver left to others, by call
	anew      bool              // pending requests are to be asked anew
	children  children
	driven    bool   // by the run whose child this one is
	kept      bool   // what is streamed, for the handle's first watcher
	above     []Hook // of the agent and of the runs above; see hooks
	watching  []Hook // those and the engine's; nil: not looked up yet
	over      uint64 // the epoch in which the run ended last; cancels from before are void

	life *life // what handles on the run hold
	feed feed
	gone chan struct{} // closed when nobody drives the session any more

	holding  sync.Mutex // held while the lease is changed
	released bool       // the lease was given up
	shaky    bool       // it could not be prolonged; the attendant's own

	mu      sync.Mutex
	inbox   []pawl.Letter
	heard   int64         // the last letter that was put into the inbox
	wake    chan struct{} // holds one token when there is mail, or parking is asked for
	parking bool
	fenced  error // the lease is lost
	flight  *flight
	drivers int         // goroutines that took the run over from another
	watch   *time.Timer // the flights' clock
	rings   time.Time   // when it does; zero: it is not set
}

//go:noinline
func (e *Engine) session(m *pawl.Machine, lease pawl.Lease) *session {
	return &session{
		engine: e, m: m, lease: lease, clean: e.cleaner(m), state: new(pawl.State), talk: window.NewTranscript(m.Agent().Strategy),
		wake: make(chan struct{}, 1), gone: make(chan struct{}),
	}
}

// live gives the session its run's life.
func (s *session) live(ctx context.Context) {
	s.ctx, s.base = ctx, context.WithoutCancel(ctx)
}

// append adds facts to the run. They are folded at once, and durable after the
// next flush; no effect may happen in between. What is folded is what the log can
// say, so that a live run and a resumed one cannot differ.
func (s *session) append(at uint64, iteration int, events ...pawl.Event) {
	for _, event := range events {
		if s.failed != nil {
			return
		}
		now := time.Now()
		if now.Before(s.state.Time()) {
			now = s.state.Time()
		}
		entry := pawl.Entry{Run: s.lease.Run, Seq: s.state.Seq() + 1, At: at, Time: now, Iteration: iteration, Event: event}
		err := entry.Normalise()
		if err == nil && s.engine.verify {
			err = entry.Verify()
		}
		if err != nil {
			s.failed = fmt.Errorf("run %s: %w", s.lease.Run, err)
			return
		}
		s.take(entry)
		s.pending = append(s.pending, entry)
		if len(s.hooks()) > 0 {
			s.hooked = append(s.hooked, entry)
		}
	}
}

// take folds an entry into the state and the conversation.
func (s *session) take(e pawl.Entry) {
	s.state.Fold(e)
	s.talk.Add(e, s.state)
}

// flush makes everything appended durable. Until it returns nil, nothing that
// was appended may be acted on.
func (s *session) flush() error {
	if s.failed != nil {
		return s.failed
	}
	if err := s.lost(); err != nil {
		return err
	}
	if len(s.pending) == 0 {
		return nil
	}
	if err := s.write(); err != nil {
		s.failed = fmt.Errorf("append to run %s: %w", s.lease.Run, err)
		return s.failed
	}
	s.after += uint64(len(s.pending))
	s.feed.news(s.after)
	s.tell()
	clear(s.pending)
	s.pending, s.copied = s.pending[:0], 0
	return nil
}

// write hands the pending entries to the journal. The run's own end must still be
// written when its context is over. A memory journal keeps entries as they are;
// one that wraps it gets bytes, like every other.
func (s *session) write() error {
	b := pawl.Batch{Run: s.lease.Run, Epoch: s.lease.Epoch, After: s.after, Head: s.state.Head()}
	if m, ok := s.engine.journal.(*memory.Journal); ok {
		return m.AppendEntries(s.base, b, s.pending)
	}
	lines := linesOf.Get().(*[]byte)
	defer linesOf.Put(lines)
	var err error
	b.Records, err = encode(lines, s.pending)
	if err != nil {
		return err
	}
	return s.engine.journal.Append(s.base, b)
}

// encode writes entries into room, one after the other.
func encode(room *[]byte, entries []pawl.Entry) (records [][]byte, err error) {
	lines, ends := (*room)[:0], make([]int, len(entries))
	for i := range entries {
		if lines, err = entries[i].AppendJSON(lines); err != nil {
			return nil, err
		}
		ends[i] = len(lines)
	}
	*room = lines
	if cap(lines) > mostLines {
		*room = nil
	}
	records = make([][]byte, len(entries))
	begin := 0
	for i, end := range ends {
		records[i], begin = lines[begin:end:end], end
	}
	return records, nil
}

// linesOf is memory for entries that are being written. Journals keep nothing of
// their arguments, see [pawl.Journal].
var linesOf = sync.Pool{New: func() any { return new(make([]byte, 0, 2<<10)) }}

// mostLines is the most of it that is kept for others, in bytes.
const mostLines = 64 << 10

// release gives the run up, so that others need not wait for the lease to lapse.
func (s *session) release() {
	s.holding.Lock()
	defer s.holding.Unlock()
	if s.released {
		return
	}
	s.released = true
	ctx := context.Background()
	if s.engine.lasting() { // else nobody is kept waiting
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		ctx = within
	}
	// A lease that cannot be given up lapses by itself; there is nobody to tell.
	_, _ = s.engine.journal.Claim(ctx, pawl.Claim{Run: s.lease.Run, Owner: s.lease.Owner, Epoch: s.lease.Epoch})
}

// prolong prolongs the lease, unless it was given up: a heartbeat behind the
// release would have the run held by nobody for the time of a lease.
func (s *session) prolong(ctx context.Context) error {
	s.holding.Lock()
	defer s.holding.Unlock()
	if s.released || sabotage.On(sabotage.Heartbeat) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.engine.opt.Lease)
	defer cancel()
	_, err := s.engine.journal.Claim(ctx, pawl.Claim{Run: s.lease.Run, Owner: s.lease.Owner, TTL: s.engine.opt.Lease, Epoch: s.lease.Epoch})
	return err
}

// regain takes the run back after giving it up, if nobody has had it since.
func (s *session) regain() bool {
	s.holding.Lock()
	defer s.holding.Unlock()
	lease, err := s.engine.journal.Claim(s.base, pawl.Claim{Run: s.lease.Run, Owner: s.lease.Owner, TTL: s.engine.opt.Lease})
	if err != nil {
		return false
	}
	again := lease.Epoch == s.lease.Epoch+1 // else the log has gone on without us
	if again {
		s.lease.Epoch, s.lease.Until, s.released = lease.Epoch, lease.Until, false // whose it is others may be reading
	} else {
		_, _ = s.engine.journal.Claim(s.base, pawl.Claim{Run: lease.Run, Owner: lease.Owner, Epoch: lease.Epoch})
	}
	return again
}

// deliver puts letters into the inbox. They must come in the order of their
// IDs, since a letter before the last one taken in counts as read. Those that
// say nothing to a run do not disturb it.
func (s *session) deliver(letters ...pawl.Letter) {
	s.mu.Lock()
	idle := len(letters) > 0
	for _, l := range letters {
		if l.ID > s.heard {
			s.heard = l.ID
			if l.Kind != pawl.LetterDelivery {
				s.inbox = append(s.inbox, l)
			}
		}
		idle = idle && l.Kind == pawl.LetterDelivery
	}
	s.mu.Unlock()
	if !idle {
		s.poke()
	}
}

// fetch delivers all the mail there is for the run, in order. What cannot be
// read now is fetched again at the attendant's next look.
func (s *session) fetch(ctx context.Context) error {
	if s.engine.mail == nil {
		return nil
	}
	s.mu.Lock()
	after := s.heard
	s.mu.Unlock()
	var letters []pawl.Letter
	for l, err := range s.engine.mail.Letters(ctx, s.lease.Run, after) {
		if err != nil {
			s.engine.late(s)
			return fmt.Errorf("read the mail of run %s: %w", s.lease.Run, err)
		}
		letters = append(letters, l)
	}
	s.deliver(letters...)
	return nil
}

// park asks the session to let go of its run at the next opportunity.
func (s *session) park() {
	s.mu.Lock()
	s.parking = true
	s.mu.Unlock()
	s.poke()
}

// poke says that the outside wants something, to whatever is going on.
func (s *session) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
	s.interrupt()
}

// lose says that another owner has taken the run over.
func (s *session) lose(err error) {
	s.mu.Lock()
	s.fenced = err
	s.mu.Unlock()
	s.poke()
}

func (s *session) lost() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fenced
}

// alarm arms the session's timer.
func (s *session) alarm(d time.Duration) <-chan time.Time {
	d = max(d, 0)
	if s.timer == nil {
		s.timer = time.NewTimer(d)
	} else {
		s.timer.Reset(d)
	}
	return s.timer.C
}

// left is what remains of the run's time.
func (s *session) left(now time.Time) time.Duration {
	return s.state.Limits().Time - s.state.Elapsed() - max(0, now.Sub(s.state.Time()))
}
