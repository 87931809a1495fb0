package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
)

// think performs a model call: its intent is durable before the request is sent, and one
// entry records the result. If the call may not be made yet, think waits, and the machine decides
// again afterwards; if it can only be made much later, think returns how to suspend the run until then.
func (s *effects) think(at uint64, t *pawl.Think) (later *pawl.RunPaused, err error) {
	if again, err := s.instruct(at, t); again || err != nil {
		return nil, err
	}
	r := s.rec
	c := &s.intent
	*c = intent{at: at, think: *t, called: r.machine.Called(*t)}
	c.model, c.info = r.machine.Asked(*t)
	now := time.Now()
	wait := time.Duration(0)
	if !t.NotBefore.IsZero() {
		wait = t.NotBefore.Sub(now)
	}
	for _, f := range r.features {
		if g, ok := f.(gate); ok && wait <= 0 && err == nil {
			wait, err = g.admit(c, now)
		}
	}
	switch {
	case err != nil || c.later != nil:
		return c.later, err
	case wait > 0:
		if err = r.flush(); err == nil { // others may wait for what that settles
			s.inbox.wait(wait)
		}
		return nil, err
	case c.booked:
	case r.state.Seq() == at:
		r.appendIn(t.Iteration, at, c.called)
	default:
		return nil, nil
	}
	m, err := newModelCall(s)
	if m == nil {
		return nil, err
	}
	return nil, s.perform(&m.effect)
}

// newModelCall returns a model call ready to start, whose intent was appended; nil: it has
// failed already.
func newModelCall(s *effects) (*modelCall, error) {
	r, t := s.rec, &s.intent.think
	c := &modelCall{rec: r, at: s.intent.at, t: t, model: s.intent.model, endpoint: s.intent.info.Endpoint, request: r.machine.Request(r.state, *t, r.transcript)}
	c.live.Run, c.live.At, c.live.Time, c.live.Iteration = r.lease.Run, r.state.Seq(), r.state.Time(), t.Iteration
	c.work, c.what, c.limit, c.grace, c.mercy, c.intent = c, "the model", r.host.opt.Call, time.Second, r.host.opt.Grace, c.live.At
	if _, whole := c.model.(pawl.ModelFunc); !whole { // a ModelFunc streams nothing
		c.quiet = quiet{first: r.host.opt.First, next: r.host.opt.Idle}
	}
	err := r.announce(&c.effect)
	if err != nil {
		return nil, err
	}
	for _, f := range r.features {
		if to, ok := f.(filler); ok && err == nil {
			c.request.Messages, err = to.fill(c.request.Messages)
		}
	}
	if err != nil {
		if _, ok := errors.AsType[*pawl.ModelError](err); !ok {
			return nil, err
		}
		c.failed(err, nil)
		return nil, nil
	}
	now := time.Now()
	left := timeLeft(r.state, now)
	if left <= 0 { // the log does not show that yet
		c.failed(&pawl.ModelError{Class: pawl.ClassNetwork, Message: "not sent: the run's time was over"}, nil)
		return nil, nil
	}
	c.outOfTime = c.fit(left)
	c.began = now
	return c, nil
}

// modelCall is a model call in progress.
type modelCall struct {
	effect
	rec       *recorder
	at        uint64
	t         *pawl.Think // of the intent, which stays until the call is recorded
	model     pawl.Model
	endpoint  string // of the model; empty: in this process
	request   pawl.Request
	live      pawl.Entry // the template of streamed entries
	outOfTime bool       // the deadline is the run's, not the call's
	shown     liveReply
	said      int // bytes of text that were shown
	reply     *pawl.Reply
	whole     pawl.Reply
}

var errNoReply = &pawl.ModelError{Class: pawl.ClassTruncated, Message: "the stream ended without a reply"}

// perform ranges over the model's sequence.
func (c *modelCall) perform(ctx context.Context) (err error) {
	if f, whole := c.model.(pawl.ModelFunc); whole { // a sequence of one chunk, without the sequence
		c.whole, err = f(ctx, c.request)
		c.reply = &c.whole
		return err
	}
	return c.stream(ctx)
}

// stream reads a reply chunk by chunk.
func (c *modelCall) stream(ctx context.Context) error {
	for chunk, err := range c.model.Stream(ctx, c.request) {
		switch {
		case err != nil:
			return err
		case chunk.Reply != nil:
			c.show(&pawl.Chunk{}, true)
			c.reply = chunk.Reply
			return nil
		case ctx.Err() != nil:
			return errNoReply
		}
		if c.quiet.sign() == 1 {
			c.rec.host.replying(c.rec.base, c.live)
		}
		c.show(&chunk, false)
	}
	return errNoReply
}

// show passes a chunk to the watchers, cleaned as the reply will be.
func (c *modelCall) show(chunk *pawl.Chunk, last bool) {
	if clean := &c.rec.clean; !clean.idle() {
		*chunk = c.shown.add(clean, *chunk, last)
	}
	if *chunk != (pawl.Chunk{}) {
		c.rec.feed.delta(&c.live, chunk, c.said)
		c.said += len(chunk.Text)
	}
}

// record appends the reply or the failure.
func (c *modelCall) record(r *recorder, cut error, abandoned bool) {
	if abandoned {
		r.log(slog.LevelWarn, "a model call did not stop when told to and was left behind", slog.String("endpoint", c.endpoint))
	}
	err := c.cutShort(cut)
	if !abandoned && (c.err == nil || err == nil) { // an abandoned call must not be read
		switch err = c.err; {
		case c.panic != nil:
			err = &pawl.ModelError{Class: pawl.ClassPanic, Message: err.Error()}
		case err == errExited:
			err = errNoReply
		}
	}
	if err == nil {
		var reply pawl.ModelReplied
		said := r.clean.reply(*c.reply)
		if reply, err = r.machine.Replied(r.state, *c.t, said); err == nil {
			r.append(c.at, reply)
			noteChanges(r, said.Notes)
			c.settle(reply.Reply.Usage.Total(), nil)
			return
		}
	}
	c.failed(err, cut)
}

// failed appends the failure of the call.
func (c *modelCall) failed(err, cut error) {
	r := c.rec
	begun := cut == errQuiet || cut == errTimeout || atomic.LoadUint32(&c.quiet.signs) > 0
	f := r.machine.Failed(r.state, *c.t, err, begun, time.Time{})
	f.Message = r.clean.text(f.Message)
	f.RetryAt = retryAt(r, &f, err)
	if !f.RetryAt.IsZero() && r.host.opt.Log != nil {
		r.log(slog.LevelInfo, "a model call failed and is tried again", slog.String("class", f.Class.String()),
			slog.Int("attempt", f.Attempt), slog.Time("retry_at", f.RetryAt))
	}
	r.append(c.at, f)
	c.settle(f.Usage.Total(), &f)
}

// settle tells the gates what the call has used.
func (c *modelCall) settle(used int, failed *pawl.ModelFailed) {
	for _, f := range c.rec.features {
		if g, ok := f.(gate); ok {
			g.settle(c.endpoint, used, failed)
		}
	}
}

// cutShort returns the error of a call that was stopped; nil if it was not. It says more
// than the model's own error.
func (c *modelCall) cutShort(cut error) error {
	switch {
	case cut == nil:
		return nil
	case cut == errQuiet:
		late := &pawl.ModelError{Class: pawl.ClassNetwork}
		if c.quiet.seen == 0 {
			late.Message = fmt.Sprintf("nothing came within %v", c.quiet.first)
		} else {
			late.Message = fmt.Sprintf("the reply began, then nothing came for %v", c.quiet.next)
		}
		return late
	case cut != errTimeout:
		return &pawl.ModelError{Class: pawl.ClassCancelled, Message: "cut short: " + cut.Error()}
	}
	late := &pawl.ModelError{Class: pawl.ClassNetwork, Message: fmt.Sprintf("no reply within %v", c.limit)}
	if c.outOfTime {
		late.Message = "no reply before the run's time was over"
	}
	return late
}

// retryAt returns when to retry a failed call. The provider's wish is a lower bound. A
// broken connection is retried at once, but only once: it may have been idle for too long.
func retryAt(r *recorder, f *pawl.ModelFailed, err error) time.Time {
	if !f.Class.Transient() || timeLeft(r.state, time.Now()) <= 0 {
		return time.Time{}
	}
	tries := r.state.Internals().Tries()
	if missed, _ := r.state.Missed(f.Purpose); missed.Class != 0 {
		tries = missed.Attempt // a judge's failures are counted separately
	}
	wait := r.host.opt.Backoff(tries + 1)
	if f.Class == pawl.ClassNetwork && tries == 0 {
		wait = 0
	}
	if me, ok := errors.AsType[*pawl.ModelError](err); ok && me.RetryAfter > 0 {
		wait = me.RetryAfter + min(wait, me.RetryAfter/4) // randomly later, so that not all retries come at once
	}
	return time.Now().UTC().Add(wait)
}
