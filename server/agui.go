package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
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
// waits for a run that a shutdown paused. Events up to the entry after are left out. The
// run that it hands over to follows as the next run of the stream.
func (s *Server) agui(x *exchange, a *aguiRun, run string, after uint64) error {
	if _, err := s.watchable(x.Request.Context(), run); err != nil {
		return err
	}
	out := newStream(x.ResponseWriter)
	defer out.close()
	say := func(events []aguiEvent) error {
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
	}
	err := s.aguiEvents(x.Request.Context(), a, run, after, out, say)
	for err == nil && a.next != "" {
		run, a = a.next, &aguiRun{}
		err = s.aguiEvents(x.Request.Context(), a, run, 0, out, say)
	}
	return nil // the client is told what it has not lost
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

// suspended reports whether a run waits for somebody, or for a time.
func suspended(s *pawl.State) bool {
	return s.Status().Waiting() || s.Status() == pawl.StatusPaused && !s.WakeAt().IsZero()
}

// rests ends the stream of a run that has ended or waits.
func (s *Server) rests(ctx context.Context, a *aguiRun, ended, hidden bool, say func([]aguiEvent) error) (bool, error) {
	if !ended && !suspended(&a.state) {
		return false, nil
	}
	pending, _ := engine.Pending(ctx, s.journal, &a.state) // the log of a child may be gone
	var events []aguiEvent
	if hidden {
		events = a.reopened()
	}
	return true, say(append(events, a.end(runs.Redacted(pending))...))
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
