package testfix

import (
	"context"
	"errors"

	"github.com/pawl-run/pawl"
)

// Recorded returns the agent of a run as its source describes it, to replay the run's log. It
// needs no working copy: its tools and its observer are only declared, and refuse to run. To
// resume a run, see [Open].
func Recorded(s Source, model pawl.Model, l pawl.Limits) pawl.Agent {
	agent := (&Fix{source: s, model: model, limits: l}).Agent()
	for i, t := range agent.Tools {
		agent.Tools[i] = recorded{t}
	}
	agent.Observer = func(context.Context) (pawl.Observation, error) {
		return pawl.Observation{}, errRecorded
	}
	return agent
}

var errRecorded = errors.New("this agent is for replay only: it has no working copy")

// recorded is a tool without its function.
type recorded struct{ pawl.Tool }

func (recorded) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errRecorded
}
