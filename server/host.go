package server

import (
	"context"
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/client"
	"github.com/pawl-run/pawl/engine"
)

// A Host makes the agents whose runs a server drives. Its methods are called
// from many goroutines. A *client.Problem as error is told as it stands; any
// other says that the world broke.
type Host interface {
	// Agents lists what may be started.
	Agents(ctx context.Context) ([]client.Agent, error)
	// Start makes the agent of that name, or, when spec is not nil, of a spec
	// that a client brought.
	Start(ctx context.Context, name string, spec json.RawMessage) (Work, error)
	// Again makes the agent of a run again, to go on with it or to fork it.
	Again(ctx context.Context, s pawl.State) (Work, error)
}

// Work is an agent ready to be run.
type Work struct {
	Agent pawl.Agent
	// Engine is to drive it, on the server's journal. Many runs may share one.
	Engine *engine.Engine
	Input  string // for a run that is given none
	Thread string // the conversation a run belongs to that names none
	// Done is called when the run is let go of; nil: nothing is to be done.
	Done func()
}
