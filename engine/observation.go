package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/blame"
)

// newObservation makes a look at the world, which measures the goal as well, ready
// to start now; nil: it is not made.
func newObservation(r *recorder, at uint64) (*observation, error) {
	if err := r.flush(); err != nil {
		return nil, err
	}
	now := time.Now()
	left := timeLeft(r.state, now)
	if left <= 0 { // which the log does not say yet
		r.append(at, pawl.Observed{Text: "the observation failed: the run's time was over before it began", Failed: true})
		return nil, nil
	}
	o := &observation{agent: r.machine.Agent(), at: at}
	o.effect = effect{work: o, limit: left, grace: commandGrace, began: now}
	return o, nil
}

// commandGrace is longer than a command's own time from TERM to KILL.
const commandGrace = 7 * time.Second

// observation is a look at the world in progress.
type observation struct {
	effect
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
func (o *observation) record(r *recorder, cut error, abandoned bool) {
	var seen pawl.Observation
	var measure *pawl.Measure
	if !abandoned && o.panic != nil {
		panic(o.panic) // on the goroutine that drives the run; see guard
	}
	switch {
	case !abandoned && o.err == nil:
		seen, measure = o.seen, o.measure
	case cut == errTimeout:
		seen.Text = fmt.Sprintf("the observation failed: nothing was seen within %v", o.limit)
	case cut != nil:
		return
	default:
		seen.Text = "the observation failed: " + o.err.Error()
	}
	failed := abandoned || o.err != nil
	r.append(o.at, pawl.Observed{Text: r.clean.text(seen.Text), Data: r.clean.json(seen.Data), Failed: failed})
	if measure != nil {
		open := slices.Clone(measure.Open)
		for i := range open {
			open[i] = r.clean.text(open[i])
		}
		value := measure.Value
		if value == 0 {
			value = 0 // a metric that counts failures as -n says -0 of none
		}
		r.append(o.at, pawl.Measured{Value: value, Open: open})
	}
}
