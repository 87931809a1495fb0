package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/blame"
)

// observe looks at the world and measures the goal.
func (s *session) observe(at uint64) error {
	if err := s.flush(); err != nil {
		return err
	}
	now := time.Now()
	left := s.left(now)
	if left <= 0 { // which the log does not say yet
		s.append(at, s.state.Iteration(), pawl.Observed{Text: "the observation failed: the run's time was over before it began", Failed: true})
		return nil
	}
	o := &observation{agent: s.m.Agent(), at: at}
	o.flight = flight{effect: o, limit: left, grace: commandGrace}
	return s.fly(&o.flight, now)
}

// commandGrace is longer than a command's own time from TERM to KILL.
const commandGrace = 7 * time.Second

// observation is a look at the world in flight.
type observation struct {
	flight  flight
	agent   pawl.Agent
	at      uint64
	seen    pawl.Observation
	measure *pawl.Measure
	err     error
	panic   *blame.Panic
}

func (o *observation) perform(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			o.panic = blame.Of(p)
		}
	}()
	o.err = errExited // until all of it has returned
	if o.agent.Observer != nil {
		if o.seen, o.err = o.observe(ctx); o.err != nil {
			return
		}
	}
	if o.agent.Goal != nil {
		m, err := o.metric(ctx)
		if err != nil {
			o.err = fmt.Errorf("measure the goal: %w", err)
			return
		}
		o.measure = &m
	}
	o.err = nil
}

func (o *observation) observe(ctx context.Context) (pawl.Observation, error) {
	defer blame.On("observer", o.agent.Observer)
	return o.agent.Observer.Observe(ctx)
}

func (o *observation) metric(ctx context.Context) (pawl.Measure, error) {
	defer blame.On("metric", o.agent.Goal.Metric)
	return o.agent.Goal.Metric.Measure(ctx, o.seen)
}

// record appends what was seen. If the world cannot be observed, the
// model gets the error in place of an observation; the goal then stays unmeasured. A look cut short
// from outside leaves no trace: resuming looks again.
func (o *observation) record(s *session, cut error, left bool) {
	var seen pawl.Observation
	var measure *pawl.Measure
	if !left && o.panic != nil {
		panic(o.panic) // on the goroutine that drives the run; see guard
	}
	switch {
	case !left && o.err == nil:
		seen, measure = o.seen, o.measure
	case cut == errTimeout:
		seen.Text = fmt.Sprintf("the observation failed: nothing was seen within %v", o.flight.limit)
	case cut != nil:
		return
	default:
		seen.Text = "the observation failed: " + o.err.Error()
	}
	failed := left || o.err != nil
	it := s.state.Iteration()
	s.append(o.at, it, pawl.Observed{Text: s.filter(seen.Text), Data: s.filterJSON(seen.Data), Failed: failed})
	if measure != nil {
		open := slices.Clone(measure.Open)
		for i := range open {
			open[i] = s.filter(open[i])
		}
		value := measure.Value
		if value == 0 {
			value = 0 // a metric that counts failures as -n says -0 of none
		}
		s.append(o.at, it, pawl.Measured{Value: value, Open: open})
	}
}
