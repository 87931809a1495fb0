package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/server/client"
)

// ErrElsewhere is what a [Host] says of a run whose agent only another program has.
var ErrElsewhere = errors.New("the run goes on in another program")

// A Host makes the agents whose runs a server drives. Its methods are called
// from many goroutines. A *client.Problem as error is told as it stands; any
// other says that the world broke.
type Host interface {
	// Agents lists what may be started.
	Agents(ctx context.Context) ([]client.Agent, error)
	// Start makes the agent of that name, or, when spec is not nil, of a spec
	// that a client brought.
	Start(ctx context.Context, name string, spec json.RawMessage) (Work, error)
	// Again makes the agent of a run again: to go on with the run, as it is now,
	// or to fork it, as it was when the run recorded it. An error that wraps
	// ErrElsewhere says that the run goes on in another program: what people say to
	// it is recorded for that one.
	Again(ctx context.Context, s *pawl.State, fork bool) (Work, error)
	// Desk is an engine to say something to a run with that this server does not
	// drive. It keeps the same values out of what is said as the one that drives.
	Desk(s *pawl.State) *engine.Engine
}

// Work is an agent ready to be run.
type Work struct {
	Agent pawl.Agent
	// Engine is to drive it, on the server's journal. Many runs may share one.
	Engine *engine.Engine
	Input  string // for a run that is given none
	Thread string // the conversation a run belongs to that names none
	// Lower brings ceilings that a client asks for down to those that the agent
	// may have. Nil: it may have any.
	Lower func(pawl.Limits) pawl.Limits
	// Done is called once: with the run's id when it is let go of, or with none
	// when no run was begun. Nil: nothing is to be done.
	Done func(run string)
}
