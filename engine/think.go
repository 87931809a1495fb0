package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sabotage"
)

// think performs a model call: its intent is durable before the request
// leaves, and one entry says what came of it.
func (s *session) think(at uint64, t *pawl.Think) error {
	c, now, err := s.calling(at, t)
	if c == nil {
		return err
	}
	if err = s.fly(&c.flight, now); err == nil {
		s.spareCall = c // not of a call left behind: its goroutine still has it
	}
	return err
}

// calling makes a model call ready to fly from now on; nil: there is none yet. It
// is kept out of line: what it needs would stand on the stack while the model thinks.
//
//go:noinline
func (s *session) calling(at uint64, t *pawl.Think) (*modelCall, time.Time, error) {
	now := time.Now()
	if wait := t.NotBefore.Sub(now); !t.NotBefore.IsZero() && wait > 0 {
		return nil, now, s.sleep(wait)
	}
	model, info := s.m.Asked(*t)
	if wait := s.held(info.Endpoint, now); wait > 0 {
		return nil, now, s.sleep(wait)
	}
	s.append(at, t.Iteration, s.m.Called(*t))
	if !sabotage.On(sabotage.Request) {
		if err := s.flush(); err != nil {
			return nil, now, err
		}
	}
	c := s.spareCall
	if s.spareCall = nil; c == nil {
		c = new(modelCall)
	}
	*c = modelCall{
		session: s, at: at, t: *t, model: model, endpoint: info.Endpoint, request: s.m.Request(s.state, *t, s.talk),
		live: pawl.Entry{Run: s.lease.Run, At: s.state.Seq(), Time: s.state.Time(), Iteration: t.Iteration},
	}
	c.flight = flight{effect: c, limit: s.engine.opt.Call, grace: time.Second, intent: c.live.At}
	if _, whole := c.model.(pawl.ModelFunc); !whole { // which shows nothing before it is done
		c.flight.quiet = quiet{first: s.engine.opt.First, next: s.engine.opt.Idle}
	}
	now = time.Now()
	left := s.left(now)
	if left <= 0 { // which the log does not say yet
		c.failed(s, &pawl.ModelError{Class: pawl.ClassNetwork, Message: "not sent: the run's time was over"}, nil)
		return nil, now, nil
	}
	if left < c.flight.limit {
		c.flight.limit, c.outOfTime = left, true
	}
	return c, now, nil
}

// sleep makes durable what there is and waits for a while, or until the outside
// wants something. Decide is asked again afterwards.
func (s *session) sleep(wait time.Duration) error {
	if err := s.flush(); err != nil {
		return err
	}
	select {
	case <-s.alarm(wait):
	case <-s.wake:
	case <-s.ctx.Done():
	}
	return nil
}

// modelCall is a model call in flight.
type modelCall struct {
	flight    flight
	session   *session
	at        uint64
	t         pawl.Think
	model     pawl.Model
	endpoint  string // of the model; empty: it is within this process
	request   pawl.Request
	live      pawl.Entry // the template of what is streamed
	outOfTime bool       // the deadline is the run's, not the call's
	shown     liveReply
	reply     *pawl.Reply
	whole     pawl.Reply
	err       error
}

var errNoReply = &pawl.ModelError{Class: pawl.ClassTruncated, Message: "the stream ended without a reply"}

// perform ranges over the model's sequence.
func (c *modelCall) perform(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			c.err = &pawl.ModelError{Class: pawl.ClassPanic, Message: fmt.Sprintf("the model panicked: %v", p)}
		}
	}()
	c.err = errNoReply                               // also when the model ends this goroutine
	if f, whole := c.model.(pawl.ModelFunc); whole { // a sequence of one chunk, without the sequence
		c.whole, c.err = f(ctx, c.request)
		c.reply = &c.whole
		return
	}
	c.stream(ctx)
}

// stream takes in a reply piece by piece.
//
//go:noinline
func (c *modelCall) stream(ctx context.Context) {
	for chunk, err := range c.model.Stream(ctx, c.request) {
		if c.err = err; err != nil {
			return
		}
		if chunk.Reply != nil {
			c.show(&pawl.Chunk{}, true)
			c.reply = chunk.Reply
			return
		}
		if c.err = errNoReply; ctx.Err() != nil {
			return
		}
		if c.flight.quiet.sign() == 1 {
			c.session.replying(c.live)
		}
		c.show(&chunk, false)
	}
}

// show hands a chunk to whoever watches, cleaned as the reply will be.
func (c *modelCall) show(chunk *pawl.Chunk, last bool) {
	if clean := &c.session.clean; !clean.idle() {
		*chunk = c.shown.add(clean, *chunk, last)
	}
	if *chunk != (pawl.Chunk{}) {
		c.session.feed.delta(&c.live, chunk)
	}
}

// record appends what came of the call.
func (c *modelCall) record(s *session, cut error, left bool) {
	if left {
		s.log(slog.LevelWarn, "a model call did not stop when told to and was left behind", slog.String("endpoint", c.endpoint))
	}
	err := c.cutShort(cut)
	if !left && (c.err == nil || err == nil) { // of one left behind nothing may be read
		err = c.err
	}
	if err == nil {
		var reply pawl.ModelReplied
		if reply, err = s.m.Replied(s.state, c.t, s.filterReply(*c.reply)); err == nil {
			s.append(c.at, c.t.Iteration, reply)
			s.engine.gates.answer(c.endpoint)
			return
		}
	}
	c.failed(s, err, cut)
}

// failed appends that the call brought no reply. It is kept out of line: what it
// needs would stand on the stack while a reply is folded.
//
//go:noinline
func (c *modelCall) failed(s *session, err, cut error) {
	begun := cut == errQuiet || cut == errTimeout || atomic.LoadUint32(&c.flight.quiet.signs) > 0
	f := s.m.Failed(s.state, c.t, err, begun, time.Time{})
	f.Message = s.filter(f.Message)
	f.RetryAt = s.retryAt(f, err)
	s.again(&f)
	s.append(c.at, c.t.Iteration, f)
	if f.Class == pawl.ClassRateLimit {
		s.engine.gates.refuse(c.endpoint, f.RetryAt, time.Now())
	}
}

// cutShort is the error of a call that was told to stop; nil if it was not.
// What the model makes of being told says less.
func (c *modelCall) cutShort(cut error) error {
	switch {
	case cut == nil:
		return nil
	case cut == errQuiet:
		late := &pawl.ModelError{Class: pawl.ClassNetwork}
		if c.flight.quiet.seen == 0 {
			late.Message = fmt.Sprintf("nothing came within %v", c.flight.quiet.first)
		} else {
			late.Message = fmt.Sprintf("the reply began, then nothing came for %v", c.flight.quiet.next)
		}
		return late
	case cut != errTimeout:
		return &pawl.ModelError{Class: pawl.ClassCancelled, Message: "cut short: " + cut.Error()}
	}
	late := &pawl.ModelError{Class: pawl.ClassNetwork, Message: fmt.Sprintf("no reply within %v", c.flight.limit)}
	if c.outOfTime {
		late.Message = "no reply before the run's time was over"
	}
	return late
}

// retryAt chooses when a failed call is worth another try. The provider's wish
// is a lower bound, never an upper one. A connection that broke is tried again
// at once, but only once: it may have been one that had stood idle for too long.
func (s *session) retryAt(f pawl.ModelFailed, err error) time.Time {
	if !f.Class.Transient() {
		return time.Time{}
	}
	tries := s.state.Tries()
	if missed, _ := s.state.Missed(f.Purpose); missed.Class != 0 {
		tries = missed.Attempt // a judge's failures are counted apart
	}
	wait := s.engine.opt.Backoff(tries + 1)
	if f.Class == pawl.ClassNetwork && tries == 0 {
		wait = 0
	}
	if me, ok := errors.AsType[*pawl.ModelError](err); ok && me.RetryAfter > 0 {
		wait = me.RetryAfter + min(wait, me.RetryAfter/4) // later by chance, so that not all come at once
	}
	return time.Now().UTC().Add(wait)
}
