package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// callLabel is where a run says which call it is, so that a server that is started
// again knows the runs that the one before it left.
const callLabel = "mcp.call"

// shown is how much of a call's key a label has.
const shown = 16

// earlier finds the run of the same call that a server before this one left
// waiting, or in the middle, or whose client was told to come again. One that
// began with another agent is not it.
func (s *Server) earlier(ctx context.Context, agent pawl.Agent, same string, d *driven) (found bool, err error) {
	m, err := pawl.NewMachine(agent)
	if err != nil {
		return false, err
	}
	for head, err := range s.journal.List(ctx, pawl.Query{Agent: agent.Name, Labels: map[string]string{callLabel: same[:shown]}, Max: 1}) {
		if err != nil {
			return false, err
		}
		state, err := engine.Load(ctx, s.journal, head.Run)
		if err != nil {
			return false, err
		}
		// Policies are for the engine to compare, which adds some of its own.
		changed := state.Declaration().Differences(m.Declaration())
		if slices.ContainsFunc(changed, func(part string) bool { return part != "policies" }) {
			return false, nil
		}
		if state.Status().Ended() {
			if owed, err := s.owed(ctx, head.Run); err != nil || !owed {
				return false, err
			}
		}
		*d = driven{ID: head.Run, state: state, again: true}
		return true, nil
	}
	return false, nil
}

// owed reports whether the client of a run that has ended was told to come again,
// and nobody has been given its result.
func (s *Server) owed(ctx context.Context, run string) (bool, error) {
	for entry, err := range engine.Entries(ctx, s.journal, run, 1) {
		if err != nil {
			return false, err
		}
		if _, ok := entry.Event.(pawl.RunPaused); ok {
			return s.collect(ctx, run)
		}
	}
	return false, nil
}

// collect notes that the result of a run is given to its client, and reports
// whether this is the first time. The note is a signal, which can be posted once,
// of a kind that means nothing to a run without that child; a journal that takes
// none forgets with the server.
func (s *Server) collect(ctx context.Context, run string) (first bool, err error) {
	mail, ok := s.journal.(pawl.Inbox)
	if !ok {
		return false, nil
	}
	body, err := json.Marshal(map[string]string{"collected": rand.Text()}) // another each time, for the second to be a conflict
	if err != nil {
		return false, err
	}
	_, err = mail.Send(ctx, pawl.Signal{Run: run, Kind: pawl.SignalChild, Request: "mcp.collected", By: "mcp client", Body: body})
	if taken := (*pawl.SignalConflictError)(nil); errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

// elsewhereError says that a run has an owner.
type elsewhereError struct{ run string }

func (e *elsewhereError) Error() string {
	return "run " + e.run + " goes on elsewhere; make the same call again in a while to get its result"
}
