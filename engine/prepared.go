package engine

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
)

// Prepared is an agent that was checked and declared once, for any number of
// runs: each of them begins without that work. It is immutable and safe for
// concurrent use, as far as the agent's model and tools are.
type Prepared struct {
	agent   pawl.Agent
	machine *pawl.Machine // nil: each run prepares its own
	foreign bool          // a tool is an untrusted server's
}

// Prepare checks an agent. The error joins every contradiction found, one a line.
// What the agent refers to must not be changed afterwards.
func Prepare(agent pawl.Agent) (*Prepared, error) {
	m, err := pawl.NewMachine(guarded(&agent, true))
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
