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
	"github.com/pawl-run/pawl/internal/outage"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// by is the user to record: the name of the key or, if it has none, the name in the
// request.
func (x *exchange) by(said string) string { return cmp.Or(x.key.Name, said, "somebody over HTTP") }

func (s *Server) approve(x *exchange) (any, error) {
	in := x.body.(*client.Approve)
	if in.Scope != "" && in.Scope != pawl.ScopeCall && in.Scope != pawl.ScopeRun {
		return nil, invalid(fmt.Sprintf("scope is %q; write %s, or %s for all calls of the run with equal arguments", in.Scope, pawl.ScopeCall, pawl.ScopeRun))
	}
	return s.say(x, "approval", func(ctx context.Context, at *engine.Engine, run, call string) error {
		return at.Approve(ctx, run, call, x.by(in.By), &engine.ApproveOptions{ForRun: in.Scope == pawl.ScopeRun, Args: in.Args, Token: in.Token})
	})
}

func (s *Server) deny(x *exchange) (any, error) {
	in := x.body.(*client.Deny)
	return s.say(x, "approval", func(ctx context.Context, at *engine.Engine, run, call string) error {
		return at.Deny(ctx, run, call, x.by(in.By), in.Reason, &engine.DenyOptions{Token: in.Token})
	})
}

func (s *Server) answered(x *exchange) (any, error) {
	in := x.body.(*client.Answer)
	if in.Text == "" {
		return nil, invalid("text is missing; send the answer")
	}
	return s.say(x, "input", func(ctx context.Context, at *engine.Engine, run, call string) error {
		return at.Answer(ctx, run, call, x.by(in.By), in.Text)
	})
}

func (s *Server) submit(x *exchange) (any, error) {
	in := x.body.(*client.Submit)
	if in.Result == nil {
		return nil, invalid("result is missing; send any JSON value")
	}
	return s.say(x, "client_tool", func(ctx context.Context, at *engine.Engine, run, call string) error {
		return at.Submit(ctx, run, call, x.by(in.By), in.Result)
	})
}

func (s *Server) settle(x *exchange) (any, error) {
	in := x.body.(*client.Settle)
	if (in.Happened != nil) == in.DidNotHappen {
		return nil, invalid("send either happened, with the call's result, or did_not_happen: true")
	}
	return s.say(x, "doubt", func(ctx context.Context, at *engine.Engine, run, call string) error {
		return at.Resolve(ctx, run, call, x.by(in.By), engine.Resolution{Happened: in.Happened, DidNotHappen: in.DidNotHappen})
	})
}

// say sends a signal to the waiting call of a run or of its child, and resumes the root
// run if it has no owner.
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
	meant := runs.Meant(pending, run, kind, call)
	switch {
	case len(meant) > 1:
		return nil, refusal(http.StatusConflict, fmt.Sprintf("several runs under %s have a waiting call %s; address one of them, as listed in pending", run, call))
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

// said resumes a run that got a signal and returns its result. If the run had the signal
// before and has acted on it, it now waits for something else: resuming would request
// that again and invalidate its tokens.
func (s *Server) said(x *exchange, h pawl.Head, before bool) (any, error) {
	if before {
		root, err := runs.Root(x.Context(), s.journal, h)
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

// forward resumes a run that got a signal, for a caller that may not see the run.
func (s *Server) forward(ctx context.Context, h pawl.Head) error {
	_, _, err := s.onward(ctx, h)
	return err
}

// onward resumes the root of a run that got a signal, if it has no owner.
func (s *Server) onward(ctx context.Context, h pawl.Head) (run string, driven *engine.Handle, err error) {
	root, err := runs.Root(ctx, s.journal, h)
	if err != nil {
		return "", nil, err
	}
	if root, err = runs.Head(ctx, s.journal, root.Run); err != nil {
		return "", nil, err
	}
	if !runs.Owned(root.Lease) && (root.Status.Waiting() || root.Status == pawl.StatusPaused) {
		driven, err = s.goOn(ctx, root, runs.Limits{}, 0)
		if now, looking := runs.Head(ctx, s.journal, root.Run); err != nil && looking == nil &&
			(errors.As(err, new(*pawl.HeldError)) || now.Status == pawl.StatusSuccess || now.Lease.Epoch > root.Lease.Epoch && runs.Owned(now.Lease)) {
			err = nil // another process resumed it first and reads the signal
		}
		if errors.Is(err, ErrElsewhere) { // the other program finds the signal when it resumes the run
			return root.Run, nil, nil
		}
		if problem, ok := errors.AsType[*client.Problem](problemOf(err)); ok && err != nil {
			return "", nil, refusal(problem.Status, fmt.Sprintf("recorded for run %s, which cannot resume: %s", h.Run, problem.Detail))
		}
	}
	return root.Run, driven, err
}
