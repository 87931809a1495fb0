package engine

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
)

// Prepared is an agent that was checked and declared once, for any number of runs, which
// then begin faster. It is immutable, and safe for concurrent use if the agent's model and
// tools are.
type Prepared struct {
	agent   pawl.Agent
	machine *pawl.Machine // nil: each run prepares its own
	foreign bool          // the agent has a tool of an untrusted server
}

// Prepare checks an agent. The error joins all contradictions, one a line. The caller must
// not change what the agent refers to afterwards.
func Prepare(agent pawl.Agent) (*Prepared, error) {
	m, err := pawl.NewMachine(guarded(&agent))
	if err != nil {
		return nil, err
	}
	return &Prepared{agent, m, hasForeign(&agent)}, nil
}

// Run is [Run] of the agent.
func (p *Prepared) Run(ctx context.Context, input string) (pawl.Result, error) {
	run, err := New(memory.New(), nil).start(ctx, p, input, nil)
	if err != nil {
		return pawl.Result{}, err
	}
	result, err := run.Wait(context.WithoutCancel(ctx))
	if err == nil && result.Status == pawl.StatusPaused {
		err = ctx.Err()
	}
	return result, err
}

// Start is [Engine.Start] of the agent on e.
func (p *Prepared) Start(ctx context.Context, e *Engine, input string, o *StartOptions) (*Handle, error) {
	return e.start(ctx, p, input, o)
}
