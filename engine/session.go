package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
)

// session is one ownership of a run: from claiming it to letting go. Its state
// belongs to the goroutine that drives it; other goroutines reach it through
// its inbox and its feed only.
type session struct {
	engine *Engine
	m      *pawl.Machine
	lease  pawl.Lease
	found  uint64 // the last entry when the run was claimed

	state   pawl.State
	talk    *pawl.Transcript
	pending [][]byte // appended, not yet durable
	after   uint64   // the last durable entry
	scratch []byte
	chunk   []byte       // where encoded entries are kept
	hooked  []pawl.Entry // appended, not yet shown to the hooks
	timer   *time.Timer
	failed  error           // an append that could not be encoded
	ctx     context.Context // the run's life
	steps   int             // how many more to take; negative: any number
	done    func(error)     // called once, when nobody drives the session any more

	feed feed
	gone chan struct{} // closed when nobody drives the session any more

	mu      sync.Mutex
	inbox   []pawl.Letter
	wake    chan struct{} // holds one token when there is mail, or parking is asked for
	parking bool
	fenced  error // the lease is lost
	flight  *flight
	watch   *time.Timer // the flight's clock
}

func (e *Engine) session(m *pawl.Machine, lease pawl.Lease) *session {
	return &session{
		engine: e, m: m, lease: lease, talk: pawl.NewTranscript(m.Agent().Strategy),
		wake: make(chan struct{}, 1), gone: make(chan struct{}),
	}
}

// append adds facts to the run. They are encoded and folded at once, and
// durable after the next flush; no effect may happen in between. What is folded
// is what was encoded, so that a live run and a resumed one cannot differ.
func (s *session) append(at uint64, iteration int, events ...pawl.Event) {
	for _, event := range events {
		if s.failed != nil {
			return
		}
		now := time.Now().UTC()
		if now.Before(s.state.Time()) {
			now = s.state.Time()
		}
		var err error
		s.scratch, err = pawl.Entry{
			Run: s.lease.Run, Seq: s.state.Seq() + 1, At: at, Time: now, Iteration: iteration, Event: event,
		}.AppendJSON(s.scratch[:0])
		if err != nil {
			s.failed = fmt.Errorf("run %s: %s cannot be written: %w", s.lease.Run, event.Type(), err)
			return
		}
		data := s.store(s.scratch)
		entry, err := pawl.DecodeEntry(data)
		if err != nil {
			s.failed = fmt.Errorf("run %s: %s cannot be read back: %w", s.lease.Run, event.Type(), err)
			return
		}
		s.take(entry)
		s.pending = append(s.pending, data)
		if len(s.engine.opt.Hooks) > 0 {
			s.hooked = append(s.hooked, entry)
		}
	}
}

// store copies an encoded entry for good. Entries are small and kept as long as
// their run's state, so they share allocations.
func (s *session) store(b []byte) []byte {
	const chunk = 2048
	if len(b) > chunk/4 {
		return append([]byte(nil), b...)
	}
	if len(b) > cap(s.chunk)-len(s.chunk) {
		s.chunk = make([]byte, 0, chunk)
	}
	n := len(s.chunk)
	s.chunk = append(s.chunk, b...)
	return s.chunk[n:len(s.chunk):len(s.chunk)]
}

// take folds an entry into the state and the conversation.
func (s *session) take(e pawl.Entry) {
	s.state = pawl.Apply(s.state, e)
	s.talk.Add(e, s.state)
}

// flush makes everything appended durable. Until it returns nil, nothing that
// was appended may be acted on.
func (s *session) flush(ctx context.Context) error {
	if s.failed != nil {
		return s.failed
	}
	if err := s.lost(); err != nil {
		return err
	}
	if len(s.pending) == 0 {
		return nil
	}
	// The run's own end must still be written when its context is over.
	err := s.engine.journal.Append(context.WithoutCancel(ctx), pawl.Batch{
		Run: s.lease.Run, Epoch: s.lease.Epoch, After: s.after, Records: s.pending, Head: s.state.Head(),
	})
	if err != nil {
		s.failed = fmt.Errorf("append to run %s: %w", s.lease.Run, err)
		return s.failed
	}
	s.after += uint64(len(s.pending))
	clear(s.pending)
	s.pending = s.pending[:0]
	s.feed.news()
	return nil
}

// release gives the run up, so that others need not wait for the lease to lapse.
func (s *session) release() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	// A lease that cannot be given up lapses by itself; there is nobody to tell.
	_, _ = s.engine.journal.Claim(ctx, pawl.Claim{Run: s.lease.Run, Owner: s.lease.Owner, Epoch: s.lease.Epoch})
}

// deliver puts letters into the inbox.
func (s *session) deliver(letters ...pawl.Letter) {
	s.mu.Lock()
	s.inbox = append(s.inbox, letters...)
	s.mu.Unlock()
	s.poke()
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
	s.interrupt(s.ctx)
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

// called says what the outside wants while an effect is in progress: that the
// run be cancelled, or that it be parked.
func (s *session) called(ctx context.Context) (cancel, park bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.inbox {
		cancel = cancel || l.Kind == pawl.LetterCancel
	}
	return cancel, s.parking || s.fenced != nil || ctx.Err() != nil
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

// left is what remains of the run's clock.
func (s *session) left() time.Duration {
	return s.state.Limits().Time - s.state.Elapsed() - max(0, time.Since(s.state.Time()))
}
