package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/desk"
	"github.com/pawl-run/pawl/internal/outage"
	"github.com/pawl-run/pawl/server/client"
)

// by is who says something: whose key it is or, where that is nobody in
// particular, who the request says it is.
func (x *exchange) by(said string) string { return cmp.Or(x.key.Name, said, "somebody over HTTP") }

func (s *Server) approve(x *exchange) (any, error) {
	in := x.body.(*client.Approve)
	if in.Scope != "" && in.Scope != pawl.ScopeCall && in.Scope != pawl.ScopeRun {
		return nil, invalid(fmt.Sprintf("scope is %q; write %s, or %s for all calls of the run with equal arguments", in.Scope, pawl.ScopeCall, pawl.ScopeRun))
	}
	return s.say(x, "approval", func(ctx context.Context, at *engine.Engine, run, call string) error {
		return at.Decide(ctx, run, call, engine.Decision{
			Approve: true, ForRun: in.Scope == pawl.ScopeRun, Args: in.Args, By: x.by(in.By), Token: in.Token,
		})
	})
}

func (s *Server) deny(x *exchange) (any, error) {
	in := x.body.(*client.Deny)
	return s.say(x, "approval", func(ctx context.Context, at *engine.Engine, run, call string) error {
		return at.Decide(ctx, run, call, engine.Decision{Reason: in.Reason, By: x.by(in.By), Token: in.Token})
	})
}

func (s *Server) answered(x *exchange) (any, error) {
	in := x.body.(*client.Answer)
	if in.Text == "" {
		return nil, invalid("there is no text; an answer is one")
	}
	return s.say(x, "input", func(ctx context.Context, at *engine.Engine, run, call string) error {
		return at.Answer(ctx, run, call, x.by(in.By), in.Text)
	})
}

func (s *Server) submit(x *exchange) (any, error) {
	in := x.body.(*client.Submit)
	if in.Result == nil {
		return nil, invalid("there is no result; it is any JSON value")
	}
	return s.say(x, "client_tool", func(ctx context.Context, at *engine.Engine, run, call string) error {
		return at.Submit(ctx, run, call, x.by(in.By), in.Result)
	})
}

func (s *Server) settle(x *exchange) (any, error) {
	in := x.body.(*client.Settle)
	if (in.Happened != nil) == in.DidNotHappen {
		return nil, invalid("say either happened, with the call's result, or did_not_happen: true")
	}
	return s.say(x, "doubt", func(ctx context.Context, at *engine.Engine, run, call string) error {
		if in.DidNotHappen {
			return at.DidNotHappen(ctx, run, call, x.by(in.By))
		}
		return at.Happened(ctx, run, call, x.by(in.By), in.Happened)
	})
}

// say says something to the call of a run, or of a child of it, that waits for
// it, and goes on with the run it descends from where nobody drives that.
func (s *Server) say(x *exchange, kind string, post func(ctx context.Context, at *engine.Engine, run, call string) error) (any, error) {
	ctx := x.Context()
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	state, err := engine.Load(ctx, s.journal, h.Run)
	if err != nil {
		return nil, err
	}
	pending, err := engine.Pending(ctx, s.journal, state)
	if err != nil {
		return nil, err
	}
	run, call := h.Run, x.PathValue("call")
	meant := desk.Meant(pending, run, kind, call)
	switch {
	case len(meant) > 1:
		return nil, refusal(http.StatusConflict, fmt.Sprintf("several runs that descend from %s have a call %s that waits; say it to one of them, which pending names", run, call))
	case len(meant) == 1 && meant[0].ExpiresAt != nil && time.Now().After(*meant[0].ExpiresAt):
		return nil, refusal(http.StatusConflict, fmt.Sprintf("the request for %s of run %s expired at %s; resuming the run asks again", call, meant[0].Run, meant[0].ExpiresAt.UTC().Format(time.RFC3339)))
	case len(meant) == 1:
		run = meant[0].Run
	}
	at, err := s.desk(ctx, run)
	if err != nil {
		return nil, err
	}
	if err := post(ctx, at, run, call); err != nil {
		if _, broken := engine.Load(ctx, s.journal, run); broken != nil || problemOf(err) != err || outage.Is(err) {
			return nil, err
		}
		return nil, invalid(err.Error())
	}
	return s.said(x, h, len(meant) == 0)
}

// said goes on with a run that has got a letter and answers what it has come to.
// Had it got the letter before, and acted on it, the run waits for something else:
// to go on with it would ask for that again, and make its tokens worthless.
func (s *Server) said(x *exchange, h pawl.Head, before bool) (any, error) {
	if before {
		root, err := desk.Root(x.Context(), s.journal, h)
		if err != nil {
			return nil, err
		}
		if root.Status.Waiting() {
			return s.after(x, root.Run, nil)
		}
	}
	root, driven, err := s.onward(x.Context(), h)
	if err != nil {
		return nil, err
	}
	return s.after(x, root, driven)
}

// forward goes on with a run that has got a letter, for somebody who is not to
// know of it.
func (s *Server) forward(ctx context.Context, h pawl.Head) error {
	_, _, err := s.onward(ctx, h)
	return err
}

// onward goes on with the run that one with a letter descends from, where nobody
// drives that.
func (s *Server) onward(ctx context.Context, h pawl.Head) (run string, driven *engine.Handle, err error) {
	root, err := desk.Root(ctx, s.journal, h)
	if err != nil {
		return "", nil, err
	}
	if root, err = desk.Head(ctx, s.journal, root.Run); err != nil {
		return "", nil, err
	}
	if !desk.Owned(root.Lease) && (root.Status.Waiting() || root.Status == pawl.Paused) {
		driven, err = s.goOn(ctx, root, desk.Limits{}, 0)
		if now, looking := desk.Head(ctx, s.journal, root.Run); err != nil && looking == nil &&
			(errors.As(err, new(*pawl.HeldError)) || now.Status == pawl.Success || now.Lease.Epoch > root.Lease.Epoch && desk.Owned(now.Lease)) {
			err = nil // somebody was quicker: the letter is with him
		}
		if errors.Is(err, ErrElsewhere) { // which finds it when it resumes the run
			return root.Run, nil, nil
		}
		if problem, ok := errors.AsType[*client.Problem](problemOf(err)); ok && err != nil {
			return "", nil, refusal(problem.Status, fmt.Sprintf("run %s has it, it is recorded; but it does not go on: %s", h.Run, problem.Detail))
		}
	}
	return root.Run, driven, err
}
