package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// followed streams a run as AG-UI events.
func (s *Server) followed(x *exchange) (any, error) {
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	after, err := position(x.Request)
	if err != nil {
		return nil, err
	}
	return nil, s.agui(x, &aguiRun{}, h.Run, after)
}

// agui sends a run as AG-UI events from its beginning until it has ended or waits; it
// waits for a run that a shutdown paused. Events up to the entry after are left out.
func (s *Server) agui(x *exchange, a *aguiRun, run string, after uint64) error {
	if _, err := s.watchable(x.Request.Context(), run); err != nil {
		return err
	}
	out := newStream(x.ResponseWriter)
	defer out.close()
	_ = s.aguiEvents(x.Request.Context(), a, run, after, out, func(events []aguiEvent) error {
		for _, e := range events {
			line, err := json.Marshal(e)
			if err == nil {
				err = out.add(append(append([]byte("data: "), line...), "\n\n"...))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return nil
}

// aguiEvents gives say the events of a run after an entry, until the run has ended or waits, and
// keeps the stream of the client alive meanwhile.
func (s *Server) aguiEvents(ctx context.Context, a *aguiRun, run string, after uint64, out *stream, say func([]aguiEvent) error) error {
	hidden := after > 0
	return s.pass(ctx, run, 0, out, func(f frame) (bool, error) {
		if f.text == nil {
			return s.rests(ctx, a, f.ended, hidden, say)
		}
		unseen := f.before > after
		if f.child || f.seq == 0 && !unseen {
			return false, nil
		}
		e, err := pawl.DecodeEntry(f.line)
		if err != nil { // the log of another build
			return false, errors.Join(err, say([]aguiEvent{{Type: "RUN_ERROR", Message: err.Error(), Code: "unreadable"}}))
		}
		events := a.add(e, f.line)
		if !unseen {
			return false, nil
		}
		if hidden {
			hidden = false
			events = append(a.reopened(), events...)
		}
		return false, say(events)
	})
}

// rests ends the stream of a run that has ended or waits.
func (s *Server) rests(ctx context.Context, a *aguiRun, ended, hidden bool, say func([]aguiEvent) error) (bool, error) {
	if !ended && !a.state.Status().Waiting() {
		return false, nil
	}
	pending, err := engine.Pending(ctx, s.journal, &a.state)
	if err != nil {
		pending = nil // the log of a child does not exist
	}
	var events []aguiEvent
	if hidden {
		events = a.reopened()
	}
	return true, say(append(events, a.end(redactedPending(pending))...))
}

// reopened begins the stream for a client that already has its beginning.
func (a *aguiRun) reopened() []aguiEvent {
	step := a.step
	a.events = nil
	start, _ := a.state.Start()
	a.opened(start)
	if step != "" {
		a.put(aguiEvent{Type: "STEP_STARTED", StepName: step})
	}
	if a.earlier != nil {
		a.put(aguiEvent{Type: "MESSAGES_SNAPSHOT", Messages: a.earlier})
	}
	a.put(aguiEvent{Type: "STATE_SNAPSHOT", Snapshot: snapshot(&a.state)})
	return a.events
}

// redactedPending is pending without secrets.
func redactedPending(pending []pawl.Pending) []pawl.Pending {
	for i := range pending {
		pending[i].Args, pending[i].Token = redacted(pending[i].Args), ""
	}
	return pending
}
