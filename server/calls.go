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
func (x *exchange) by(said string) string { return cmp.Or(x.key.Name, said, "somebody over HTTP") }

// signalOf is the signal in a request.
func signalOf(x *exchange) (signal runs.Signal, err error) {
	switch in := x.body.(type) {
	case *client.Approve:
		if in.Scope != "" && in.Scope != "call" && in.Scope != "run" {
			err = invalid(fmt.Sprintf("scope is %q; write call, or run for all calls of the run with equal arguments", in.Scope))
		}
		return runs.Approval(x.by(in.By), &engine.ApproveOptions{ForRun: in.Scope == "run", Free: in.Free, Times: in.Times, Args: in.Args, Token: in.Token}), err
	case *client.Deny:
		return runs.Denial(x.by(in.By), in.Reason, &engine.DenyOptions{Token: in.Token}), nil
	case *client.Answer:
		if in.Text == "" {
			err = invalid("text is missing; send the answer")
		}
		return runs.Answer(x.by(in.By), in.Text), err
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
	return runs.Resolution(x.by(in.By), engine.Resolution{Happened: in.Happened, DidNotHappen: in.DidNotHappen}), err
}

// signal sends a signal to the waiting call of a run or of its child, and resumes the
// root run if it is parked.
func (s *Server) signal(x *exchange) (any, error) {
	signal, err := signalOf(x)
	if err != nil {
		return nil, err
	}
	ctx := x.Context()
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	at, err := s.desk(ctx, h.Run)
	if err != nil {
		return nil, err
	}
	to, err := runs.Address(ctx, s.journal, h.Run, func(*pawl.State) runs.Sender { return at })
	if err != nil {
		return nil, err
	}
	if err := to.Signal(ctx, x.PathValue("call"), signal); err != nil {
		return nil, err
	}
	root, driven, err := s.forward(ctx, h.Run, to.Fresh)
	if err != nil {
		return nil, err
	}
	return s.after(x, root, driven)
}

// forward resumes the root of a run that got a signal; see [runs.Forward].
func (s *Server) forward(ctx context.Context, run string, fresh bool) (root string, driven *engine.Handle, err error) {
	h, _, err := runs.Forward(ctx, s.journal, run, fresh, func(ctx context.Context, root pawl.Head) error {
		driven, err = s.worker.Resume(ctx, root, runs.Limits{}, 0)
		return err
	})
	if problem, ok := errors.AsType[*client.Problem](problemOf(err)); ok {
		err = refusal(problem.Status, fmt.Sprintf("recorded for run %s, which cannot resume: %s", run, problem.Detail))
	}
	return h.Run, driven, err
}
