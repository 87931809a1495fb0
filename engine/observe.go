package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
)

// observe looks at the world and measures the goal. What cannot be seen is
// told to the model in the observation's place; the goal then stays unmeasured.
func (s *session) observe(ctx context.Context, at uint64) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	agent := s.m.Agent()
	type sight struct {
		seen    pawl.Observation
		measure *pawl.Measure
	}
	var got sight
	err := s.effect(ctx, s.left(), func(ctx context.Context) error {
		var now sight
		if agent.Observer != nil {
			seen, err := agent.Observer.Observe(ctx)
			if err != nil {
				return err
			}
			now.seen = seen
		}
		if agent.Goal != nil {
			m, err := agent.Goal.Metric.Measure(ctx, now.seen)
			if err != nil {
				return fmt.Errorf("measure the goal: %w", err)
			}
			now.measure = &m
		}
		got = now
		return nil
	})
	if err == errCut {
		return nil // parked or cancelled: the world is looked at again on resuming
	}
	if err != nil {
		got = sight{seen: pawl.Observation{Text: "the observation failed: " + err.Error()}}
	}
	text, data := s.filter(got.seen.Text), s.filterJSON(got.seen.Data)
	s.append(at, s.state.Iteration(), pawl.Observed{Text: text, Data: data})
	if got.measure != nil {
		s.append(at, s.state.Iteration(), pawl.Measured{Value: got.measure.Value, Open: got.measure.Open})
	}
	return nil
}

// errCut says that an effect was cut short because the outside wants something.
var errCut = fmt.Errorf("cut short")

// effect runs f in a goroutine of its own until it returns, its time is over,
// or the run is cancelled or parked. f is abandoned if it does not notice.
func (s *session) effect(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v", p)
			}
		}()
		done <- f(inner)
	}()
	const grace = 7 * time.Second // longer than a command's own time from TERM to KILL
	deadline := s.alarm(limit)
	var cut error
	for {
		select {
		case err := <-done:
			if cut != nil {
				return cut
			}
			return err
		case <-deadline:
			if cut != nil {
				return cut
			}
			cut = fmt.Errorf("no result within %v: %w", limit, context.DeadlineExceeded)
		case <-ctx.Done():
			cut = errCut
			ctx = context.WithoutCancel(ctx)
		case <-s.wake:
			stop, park := s.called(ctx)
			if !stop && !park || cut != nil {
				continue
			}
			cut = errCut
			defer s.poke()
		}
		cancel(cut)
		deadline = s.alarm(grace)
	}
}
