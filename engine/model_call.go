package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
)

// think performs a model call: its intent is durable before the request is sent, and one
// entry records the result. It reports whether the run was released instead.
func (d *driver) think(at uint64, t *pawl.Think) (released bool, err error) {
	due, released, err := d.due(at, t)
	if !due {
		return released, err
	}
	c, err := newModelCall(d, at, t)
	if c == nil {
		return false, err
	}
	return false, d.effects.perform(&c.effect)
}

// due reports whether a model call may be made now, and appends its intent. If it may not yet,
// due waits, and the machine decides again afterwards, or it releases the run.
func (d *driver) due(at uint64, t *pawl.Think) (due, released bool, err error) {
	r := &d.rec
	_, info := r.machine.Asked(*t)
	now := time.Now()
	wait := time.Duration(0)
	if !t.NotBefore.IsZero() {
		wait = t.NotBefore.Sub(now)
	}
	if wait <= 0 {
		wait = held(r, info.Endpoint, now)
	}
	if wait <= 0 {
		if wait, err = d.await(t, &info, now); err == nil && wait > maxHeld {
			released, err = d.sleep(&info, wait)
			return false, released, err
		}
	}
	if err == nil && wait > 0 {
		if err = r.flush(); err == nil {
			d.inbox.wait(wait)
		}
	}
	if err != nil || wait > 0 {
		return false, false, err
	}
	waited := max(d.turn.waited(r.state.Time(), now), d.tight.waited(r.state.Time(), now))
	wait, due, err = d.book(now, t, at, waited)
	if wait > 0 {
		if err = r.flush(); err == nil { // others may wait for what that settles
			d.inbox.wait(wait)
		}
	}
	return due, false, err
}

// newModelCall returns a model call ready to start, whose intent was appended; nil: it has
// failed already.
func newModelCall(d *driver, at uint64, t *pawl.Think) (*modelCall, error) {
	r := &d.rec
	model, info := r.machine.Asked(*t)
	c := &modelCall{rec: r, at: at, t: *t, model: model, endpoint: info.Endpoint, turn: d.turn, request: r.machine.Request(r.state, *t, r.transcript)}
	d.turn = turn{}
	c.live.Run, c.live.At, c.live.Time, c.live.Iteration = r.lease.Run, r.state.Seq(), r.state.Time(), t.Iteration
	c.work, c.limit, c.grace, c.mercy, c.intent = c, r.engine.opt.Call, time.Second, r.engine.opt.Grace, c.live.At
	if _, whole := c.model.(pawl.ModelFunc); !whole { // a ModelFunc streams nothing
		c.quiet = quiet{first: r.engine.opt.First, next: r.engine.opt.Idle}
	}
	err := r.announce(&c.effect)
	if err != nil {
		return nil, err
	}
	if c.request.Messages, err = r.filled(c.request.Messages); err != nil {
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
	t         pawl.Think
	model     pawl.Model
	endpoint  string // of the model; empty: in this process
	request   pawl.Request
	live      pawl.Entry // the template of streamed entries
	turn      turn       // of the provider's rate
	outOfTime bool       // the deadline is the run's, not the call's
	shown     liveReply
	said      int // bytes of text that were shown
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
	c.err = errNoReply                               // also if the model ends this goroutine
	if f, whole := c.model.(pawl.ModelFunc); whole { // a sequence of one chunk, without the sequence
		c.whole, c.err = f(ctx, c.request)
		c.reply = &c.whole
	} else {
		c.stream(ctx)
	}
	read(c.err)
}

// stream reads a reply chunk by chunk.
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
		if c.quiet.sign() == 1 {
			c.rec.engine.replying(c.rec.base, c.live)
		}
		c.show(&chunk, false)
	}
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
		err = c.err
	}
	if err == nil {
		var reply pawl.ModelReplied
		said := r.clean.reply(*c.reply)
		if reply, err = r.machine.Replied(r.state, c.t, said); err == nil {
			r.append(c.at, reply)
			noteChanges(r, said.Notes)
			c.turn.settle(r, reply.Reply.Usage.Total())
			r.engine.limits.replied(c.endpoint)
			return
		}
	}
	c.failed(err, cut)
}

// failed appends the failure of the call.
func (c *modelCall) failed(err, cut error) {
	r := c.rec
	begun := cut == errQuiet || cut == errTimeout || atomic.LoadUint32(&c.quiet.signs) > 0
	f := r.machine.Failed(r.state, c.t, err, begun, time.Time{})
	f.Message = r.clean.text(f.Message)
	f.RetryAt = retryAt(r, &f, err)
	if !f.RetryAt.IsZero() && r.engine.opt.Log != nil {
		r.log(slog.LevelInfo, "a model call failed and is tried again", slog.String("class", f.Class.String()),
			slog.Int("attempt", f.Attempt), slog.Time("retry_at", f.RetryAt))
	}
	r.append(c.at, f)
	c.turn.settle(r, f.Usage.Total())
	if f.Class == pawl.ClassRateLimit {
		r.engine.limits.refused(c.endpoint, f.RetryAt, time.Now())
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
	wait := r.engine.opt.Backoff(tries + 1)
	if f.Class == pawl.ClassNetwork && tries == 0 {
		wait = 0
	}
	if me, ok := errors.AsType[*pawl.ModelError](err); ok && me.RetryAfter > 0 {
		wait = me.RetryAfter + min(wait, me.RetryAfter/4) // randomly later, so that not all retries come at once
	}
	return time.Now().UTC().Add(wait)
}

// fullJitter is "full jitter" of M. Brooker, "Exponential Backoff And Jitter"
// (2015): a random wait up to an exponential bound.
func fullJitter(n int) time.Duration {
	bound := min(30*time.Second, 500*time.Millisecond<<min(n-1, 10))
	return rand.N(bound) + time.Millisecond //nolint:gosec // it spreads load, and is no secret
}
