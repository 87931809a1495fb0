package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/stop"
)

// Agent makes an agent that works in a copy of a project until its observer finds nothing open. A model
// that gives up ends the run. The limits override those of the model.
func Agent(a pawl.Agent, limits pawl.Limits) pawl.Agent {
	if m, ok := a.Model.(interface{ Limits() pawl.Limits }); ok {
		a.Limits = m.Limits() // a model that sets its own limits
	}
	a.Limits = a.Limits.Merge(limits)
	a.Goal = &pawl.Goal{Metric: measure, Success: stop.Metric(">=", 0)}
	a.Policies = []pawl.Policy{givesUp{}}
	return a
}

// Missing is what is open, the data of an observation, and what there is to say of each.
type Missing struct {
	Open []string `json:"open,omitempty"` // empty: nothing
	Why  []string `json:"why,omitempty"`
}

// Miss adds to what is open.
func (m *Missing) Miss(id, why string) {
	m.Open = append(m.Open, id)
	m.Why = append(m.Why, why)
}

// Text lists what is open; instead is the text if nothing is.
func (m *Missing) Text(instead string) string {
	if len(m.Open) == 0 {
		return "\n" + instead + "\n"
	}
	return "\nOpen:\n- " + strings.Join(m.Why, "\n- ") + "\n"
}

// measure counts what is open, one for each test and each package that ended early; less is better.
func measure(_ context.Context, o pawl.Observation) (pawl.Measured, error) {
	var v struct{ Open, Cut []string }
	if err := json.Unmarshal(o.Data, &v); err != nil {
		return pawl.Measured{}, fmt.Errorf("read the test results: %w", err)
	}
	open := slices.Concat(v.Open, v.Cut)
	return pawl.Measured{Value: float64(-len(open)), Open: open}, nil
}

// Observation is what the tests say of a state of the files, unless that was said last, and what is open. The
// caller holds Running.
func (w *Work[M]) Observation(state, said, open string, data any) (pawl.Observation, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return pawl.Observation{}, fmt.Errorf("write the test results: %w", err)
	}
	if state == w.told {
		said = "Unchanged since the last run of the tests."
	}
	w.told = state
	return pawl.Observation{Text: said + open, Data: raw}, nil
}

// Recorded makes an agent one for the replay of its runs, which needs no working copy: its tools and
// its observer are only declared, and refuse to run.
func Recorded(agent pawl.Agent) pawl.Agent {
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
