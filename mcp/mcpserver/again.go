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

// callLabel is the label of a run with the key of its call, by which a restarted server
// finds the runs of its predecessor.
const callLabel = "mcp.call"

// shown is the length of a call's key in a label.
const shown = 16

// earlier finds the run of the same call from an earlier server: one that waits, is still
// running, or whose client was told to call again. A run that began with another agent does
// not count.
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
		// The engine compares policies, since it adds some of its own.
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

// owed reports whether the client of an ended run was told to call again and has not
// received the result.
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

// collect records that the client receives the result of a run, and reports whether this is
// the first time. The record is a signal, which can be sent only once, of a kind that means
// nothing to a run without that child. With a journal without an inbox, the record ends
// with the server.
func (s *Server) collect(ctx context.Context, run string) (first bool, err error) {
	mail, ok := s.journal.(pawl.Inbox)
	if !ok {
		return false, nil
	}
	body, err := json.Marshal(map[string]string{"collected": rand.Text()}) // unique, so that a second signal is a conflict
	if err != nil {
		return false, err
	}
	_, err = mail.Send(ctx, pawl.Signal{Run: run, Kind: pawl.SignalChild, Request: "mcp.collected", By: "mcp client", Body: body})
	if taken := (*pawl.SignalConflictError)(nil); errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

// An elsewhereError says that a run has another owner.
type elsewhereError struct{ run string }

func (e *elsewhereError) Error() string {
	return "run " + e.run + " goes on elsewhere; make the same call again in a while to get its result"
}
