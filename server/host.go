package server

import (
	"context"
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/server/client"
)

// A Host makes the agents whose runs a server drives. Its methods must be safe for
// concurrent use. Clients see an error that is a *client.Problem unchanged; any other
// error is an internal error.
type Host interface {
	// Agents lists the agents that clients may start.
	Agents(ctx context.Context) ([]client.Agent, error)
	// Start makes the agent with that name or, if spec is not nil, of a spec that a
	// client sent.
	Start(ctx context.Context, name string, spec json.RawMessage) (worker.Work, error)
	// Again rebuilds the agent of a run: to resume the run, as the agent is now, or, unless
	// fork is nil, to fork it, as the run recorded the agent but for those changes. An error that wraps [runs.ErrElsewhere]
	// says that another program resumes the run: signals are recorded for that one.
	Again(ctx context.Context, s *pawl.State, fork *Change) (worker.Work, error)
	// Desk is an engine that sends signals to a run that this server does not drive. It
	// scrubs the same secret values as the engine that drives the run.
	Desk(s *pawl.State) *engine.Engine
}

// A Change is what the agent of a fork has instead of what the run recorded. Empty fields
// change nothing.
type Change struct {
	Prompt string
	Model  string // of an agent of the host, or PROVIDER/NAME
}
