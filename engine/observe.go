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
	look := func(ctx context.Context) (now sight, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		if agent.Observer != nil {
			if now.seen, err = agent.Observer.Observe(ctx); err != nil {
				return now, err
			}
		}
		if agent.Goal != nil {
			m, err := agent.Goal.Metric.Measure(ctx, now.seen)
			if err != nil {
				return now, fmt.Errorf("measure the goal: %w", err)
			}
			now.measure = &m
		}
		return now, nil
	}
	record := func(cut, err error) {
		if cut != nil && err != nil {
			if cut == errCancelled || cut == errParked {
				return // the world is looked at again on resuming
			}
			err = cut
		}
		if err != nil {
			got = sight{seen: pawl.Observation{Text: "the observation failed: " + err.Error()}}
		}
		s.append(at, s.state.Iteration(), pawl.Observed{Text: s.filter(got.seen.Text), Data: s.filterJSON(got.seen.Data)})
		if got.measure != nil {
			s.append(at, s.state.Iteration(), pawl.Measured{Value: got.measure.Value, Open: got.measure.Open})
		}
	}
	var seen sight // apart from got: an observer left behind may still write it
	var seeing error
	limit := s.left()
	cut, err := s.fly(ctx, func(ctx context.Context) { seen, seeing = look(ctx) }, &flight{
		late: fmt.Errorf("nothing seen within %v: %w", limit, context.DeadlineExceeded), grace: commandGrace,
		instead: func(cut error) error {
			record(cut, cut)
			return nil
		},
	}, limit)
	if err != nil {
		return err
	}
	got = seen
	record(cut, seeing)
	return nil
}

// commandGrace is longer than a command's own time from TERM to KILL.
const commandGrace = 7 * time.Second
