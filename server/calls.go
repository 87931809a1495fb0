package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// by is the user to record: the name of the key or, if it has none, the name in the
// request.
func (x *exchange) by(said string) string {
	return cmp.Or(x.key.Name, said, "the holder of an unnamed token")
}

// signalOf is the signal in a request.
func signalOf(x *exchange) (signal runs.Signal, err error) {
	switch in := x.body.(type) {
	case *client.Approve:
		return runs.Approval(x.by(in.By), &engine.ApproveOptions{Reach: in.Reach, Args: in.Args, Token: in.Token}), nil
	case *client.Deny:
		return runs.Denial(x.by(in.By), in.Reason, &engine.DenyOptions{Token: in.Token}), nil
	case *client.Answer:
		if in.Text == "" {
			err = invalid("text is missing; send the answer")
		}
		return runs.Answer(x.by(in.By), in.Text), err
	case *client.CancelCall:
		return runs.Cancellation(x.by(in.By), in.Reason), nil
	case *client.Submit:
		if in.Result == nil {
			err = invalid("result is missing; send any JSON value")
		}
		return runs.Result(x.by(in.By), in.Result), err
	}
	in := x.body.(*client.Settle)
	if (in.Happened != nil) == in.DidNotHappen {
		err = invalid("send either happened, with the call's result, or did_not_happen: true")
	}
	resolution := engine.DidNotHappen()
	if !in.DidNotHappen {
		resolution = engine.Happened(in.Happened)
	}
	return runs.Resolution(x.by(in.By), resolution), err
}

// signal sends a signal to the waiting call of a run or of its child, and resumes the
// root run if it is parked.
func (s *Server) signal(x *exchange) (any, error) {
	signal, err := signalOf(x)
	if err != nil {
		return nil, err
	}
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	root, driven, err := s.send(x.Context(), h.Run, x.PathValue("call"), signal)
	if err != nil {
		return nil, err
	}
	return s.after(x, root, driven)
}

// send sends a signal to a call, and resumes the root run if it is parked.
func (s *Server) send(ctx context.Context, run, call string, signal runs.Signal) (root string, driven *engine.Handle, err error) {
	at, err := s.desk(ctx, run)
	if err != nil {
		return "", nil, err
	}
	to, err := runs.Address(ctx, s.journal, run, func(*pawl.State) runs.Sender { return at })
	if err != nil {
		return "", nil, err
	}
	if err := to.Signal(ctx, call, signal); err != nil {
		return "", nil, err
	}
	return s.forward(ctx, run, to.Fresh)
}

// forward resumes the root of a run that got a signal; see [runs.Forward].
func (s *Server) forward(ctx context.Context, run string, fresh bool) (root string, driven *engine.Handle, err error) {
	h, _, err := runs.Forward(ctx, s.journal, run, fresh, func(ctx context.Context, root pawl.Head) error {
		driven, err = s.worker.Resume(ctx, root, runs.Limits{}, 0)
		return err
	})
	if problem, ok := errors.AsType[*client.Problem](ProblemOf(err)); ok {
		err = refusal(problem.Status, fmt.Sprintf("recorded for run %s, which cannot resume: %s", run, problem.Detail))
	}
	return h.Run, driven, err
}
