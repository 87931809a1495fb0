package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/usercode"
)

// observe performs an observation, which also measures the goal.
func (s *effects) observe(at uint64) error {
	r := s.rec
	if err := r.flush(); err != nil {
		return err
	}
	now := time.Now()
	left := timeLeft(r.state, now)
	if left <= 0 { // the log does not show that yet
		r.append(at, pawl.Observed{Text: "the observation failed: the run's time was over before it began", Failed: true})
		return nil
	}
	o := &observation{agent: r.machine.Agent(), at: at}
	o.effect = effect{work: o, limit: left, grace: process.DefaultGrace + process.Settling, began: now}
	o.fit(left)
	return s.perform(&o.effect)
}

// observation is an observation in progress.
type observation struct {
	effect
	agent   pawl.Agent
	at      uint64
	seen    pawl.Observation
	measure *pawl.Measured
}

func (o *observation) perform(ctx context.Context) (err error) {
	if o.agent.Observer != nil {
		if o.seen, err = o.observe(ctx); err != nil {
			return err
		}
	}
	if o.agent.Goal != nil {
		m, err := o.metric(ctx)
		if err != nil {
			return fmt.Errorf("measure the goal: %w", err)
		}
		o.measure = &m
	}
	return nil
}

func (o *observation) observe(ctx context.Context) (pawl.Observation, error) {
	defer usercode.Blame("observer of", o.agent.Name)
	return o.agent.Observer(ctx)
}

func (o *observation) metric(ctx context.Context) (pawl.Measured, error) {
	defer usercode.Blame("metric of", o.agent.Name)
	return o.agent.Goal.Metric(ctx, o.seen)
}

// record appends the observation. If the world cannot be observed, the model reads the
// error instead, and the goal stays unmeasured. An observation that was stopped from
// outside is not recorded: a resumed run observes again.
func (o *observation) record(r *recorder, cut error, abandoned bool) {
	var seen pawl.Observation
	var measure *pawl.Measured
	if !abandoned && o.panic != nil {
		panic(o.panic) // on the goroutine that drives the run; see driver.run
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
			value = 0 // a metric that counts failures as -n returns -0 for none
		}
		r.append(o.at, pawl.Measured{Value: value, Open: open})
	}
}
