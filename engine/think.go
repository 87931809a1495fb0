package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/pawl-run/pawl"
)

// think performs a model call: its intent is durable before the request
// leaves, and one entry says what came of it.
func (s *session) think(ctx context.Context, at uint64, t pawl.Think) error {
	if wait := time.Until(t.NotBefore); !t.NotBefore.IsZero() && wait > 0 {
		if err := s.flush(ctx); err != nil {
			return err
		}
		return s.sleep(ctx, wait)
	}
	s.append(at, t.Iteration, s.m.Called(t))
	if err := s.flush(ctx); err != nil {
		return err
	}
	return s.ask(ctx, at, t)
}

// thought appends what came of a model call.
func (s *session) thought(at uint64, t pawl.Think, reply pawl.Reply, err error) {
	var event pawl.Event
	if err == nil {
		event = s.m.Replied(s.state, t, s.filterReply(reply))
	} else {
		event = s.m.Failed(s.state, t, err, time.Time{})
	}
	if f, ok := event.(pawl.ModelFailed); ok {
		f.Message = s.filter(f.Message)
		f.RetryAt = s.retryAt(f, err)
		event = f
	}
	s.append(at, t.Iteration, event)
}

// retryAt chooses when a failed call is worth another try. The provider's wish
// is a lower bound, never an upper one.
func (s *session) retryAt(f pawl.ModelFailed, err error) time.Time {
	if !f.Class.Transient() {
		return time.Time{}
	}
	tries := 1
	if last, ok := s.state.Failure(); ok {
		tries = last.Attempt + 1
	}
	wait := s.engine.opt.Backoff(tries)
	var me *pawl.ModelError
	if errors.As(err, &me) {
		wait = max(wait, me.RetryAfter)
	}
	return time.Now().UTC().Add(wait)
}

// sleep waits for a while, or until the outside wants something. Decide is
// asked again afterwards.
func (s *session) sleep(ctx context.Context, wait time.Duration) error {
	select {
	case <-s.alarm(wait):
	case <-s.wake:
		s.poke()
		if cancel, park := s.called(ctx); !cancel && !park {
			<-s.wake // other mail is read at the next step
		}
	case <-ctx.Done():
	}
	return nil
}

// answer is what a model call brought.
type answer struct {
	reply pawl.Reply
	err   error
}

// ask calls the model and appends what came of it. A model that ignores the
// end of its context is left behind and its reply, if it ever comes, dropped.
func (s *session) ask(ctx context.Context, at uint64, t pawl.Think) error {
	limit := s.engine.opt.Call
	late := &pawl.ModelError{Class: pawl.ClassNetwork, Usage: pawl.Usage{Input: t.Estimate, Output: t.MaxTokens}}
	if left := s.left(); left < limit {
		limit, late.Message = left, "no reply before the run's time was over"
	} else {
		late.Message = fmt.Sprint("no reply within ", limit)
	}
	request := s.m.Request(s.state, t, s.talk)
	live := pawl.Entry{Run: s.lease.Run, Time: s.state.Time(), Iteration: t.Iteration}
	var a answer
	cut, err := s.fly(ctx, func(ctx context.Context) { a = s.stream(ctx, request, live) }, &flight{
		late: late, grace: time.Second,
		instead: func(cut error) error {
			s.thought(at, t, pawl.Reply{}, cutCall(cut))
			return nil
		},
	}, limit)
	if err != nil {
		return err
	}
	if cut != nil && a.err != nil {
		a.err = cutCall(cut) // what the model makes of being told to stop says less
	}
	s.thought(at, t, a.reply, a.err)
	return nil
}

// cutCall is the error of a model call that was told to stop.
func cutCall(cut error) error {
	if cut == errCancelled || cut == errParked {
		return &pawl.ModelError{Class: pawl.ClassCancelled, Message: "cut short: " + cut.Error()}
	}
	return cut
}

var errNoReply = &pawl.ModelError{Class: pawl.ClassTruncated, Message: "the stream ended without a reply"}

// stream ranges over the model's sequence.
func (s *session) stream(ctx context.Context, r pawl.Request, live pawl.Entry) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answer{err: &pawl.ModelError{Class: pawl.ClassPanic, Message: fmt.Sprintf("the model panicked: %v\n%s", p, debug.Stack())}}
		}
	}()
	a.err = errNoReply
	for chunk, err := range s.m.Agent().Model.Stream(ctx, r) {
		if err != nil {
			return answer{err: err}
		}
		if chunk.Reply != nil {
			return answer{reply: *chunk.Reply}
		}
		if ctx.Err() != nil {
			return answer{err: context.Cause(ctx)}
		}
		s.feed.delta(&live, chunk)
	}
	return a
}
