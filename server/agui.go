package server

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// followed streams a run as AG-UI events.
func (s *Server) followed(x *exchange) (any, error) {
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	return nil, s.agui(x, h.Run)
}

// agui sends a run as AG-UI events from its beginning until it has ended or waits; it
// waits for a run that a shutdown paused. With a cursor, which is a snapshot's seq plus
// one, events up to there are left out.
func (s *Server) agui(x *exchange, run string) error {
	after, err := position(x.Request)
	if err != nil {
		return err
	}
	r, _, err := s.broadcasters.enter(x.Request.Context(), run, 0)
	if errors.Is(err, errClosed) {
		return refusal(http.StatusServiceUnavailable, err.Error())
	}
	if err != nil {
		return err
	}
	defer r.leave()
	out := newStream(x.ResponseWriter)
	defer out.close()
	a := aguiRun{}
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
	hidden := after > 0
	ctx := x.Request.Context()
	_ = r.pass(ctx, out, func(out *stream, frames []frame) error {
		for _, f := range frames {
			unseen := f.before > after
			if f.seq == 0 && !unseen {
				continue
			}
			e, err := pawl.DecodeEntry(f.line)
			if err != nil { // the log of another build
				return errors.Join(err, say([]aguiEvent{{Type: "RUN_ERROR", Message: err.Error(), Code: "unreadable"}}), out.flush())
			}
			events := a.add(e, f.line)
			if !unseen {
				continue
			}
			if hidden {
				hidden = false
				events = append(a.reopened(), events...)
			}
			if err := say(events); err != nil {
				return err
			}
		}
		return nil
	}, func(ended bool) (bool, error) {
		status := a.state.Status()
		if !ended && !status.Waiting() {
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
	})
	return nil
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
