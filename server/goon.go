package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/workflow"
)

// asks reports whether an agent needs an input.
func asks(a pawl.Agent) bool {
	flow, ok := a.Loop.(*workflow.Loop)
	return !ok || flow.Asked()
}

// asked runs begin as part of the trace that the client names, if any.
func asked(x *exchange, begin func(context.Context) (*engine.Handle, error)) func(context.Context) (*engine.Handle, error) {
	from := web.ParseParent(x.Request.Header.Get(web.ParentHeader), x.Request.Header.Get(web.StateHeader))
	return func(ctx context.Context) (*engine.Handle, error) { return begin(web.WithParent(ctx, from)) }
}

// after returns the result of a run: at once or, if the request asks to wait, when the
// run has ended or waits. h is a hold on the run; nil: this request does not drive it.
// Only a client that waited gets the tokens of what the run then waits for.
func (s *Server) after(x *exchange, run string, h *engine.Handle) (any, error) {
	if h == nil && x.wait {
		h = s.worker.Live(run)
	}
	if h == nil || !x.wait {
		return s.result(x.Context(), run)
	}
	waited, err := h.Wait(x.Context())
	if err != nil {
		return nil, err
	}
	run = waited.Run // the last leg
	r, err := s.result(x.Context(), run)
	if err == nil && r.Status == pawl.StatusRunning { // another process has resumed it
		var rested explain.Report
		rested, err = runs.LastReport(x.Context(), s.journal, run, s.options.Place)
		r = rested.Result
	}
	if err != nil {
		return nil, err
	}
	for i := range r.Pending {
		for _, p := range waited.Pending {
			if p.Run == r.Pending[i].Run && p.Call == r.Pending[i].Call {
				r.Pending[i].Token = p.Token
			}
		}
	}
	return r, nil
}

func (s *Server) resume(x *exchange) (any, error) {
	in := x.body.(*client.ResumeRun)
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	limits, err := limitsOf(in.Limits, true)
	if err != nil {
		return nil, err
	}
	root, err := runs.Root(x.Context(), s.journal, h)
	if err != nil {
		return nil, err
	}
	if root.Run != h.Run && len(in.Limits) > 0 {
		return nil, refusal(http.StatusConflict, fmt.Sprintf("run %s is a child of run %s and resumes with it, unchanged; set the limits on run %[2]s", h.Run, root.Run))
	}
	driven, err := s.worker.Resume(x.Context(), root, limits, 0)
	if err != nil {
		return nil, err
	}
	return s.after(x, driven.ID(), driven) // which may be a fork
}

// say sends a message. It resumes nothing.
func (s *Server) say(x *exchange) (any, error) {
	in := x.body.(*client.SayRun)
	h, err := s.find(x)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(in.Text) == "":
		return nil, refusal(http.StatusUnprocessableEntity, "text is empty; give the message")
	}
	h, err = runs.Tell(x.Context(), s.journal, h, func(ctx context.Context, run string) error {
		at, err := s.desk(ctx, run)
		if err != nil {
			return err
		}
		return at.Say(ctx, run, x.by(in.By), in.Text, &engine.SayOptions{After: in.After})
	})
	if err != nil {
		return nil, err
	}
	return s.after(x, h.Run, nil)
}

func (s *Server) cancel(x *exchange) (any, error) {
	in := x.body.(*client.CancelRun)
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	h, err = runs.Tell(x.Context(), s.journal, h, func(ctx context.Context, run string) error {
		at, err := s.desk(ctx, run)
		if err != nil {
			return err
		}
		return at.Cancel(ctx, run, x.by(in.By), in.Reason)
	})
	if err != nil {
		return nil, err
	}
	if s.options.Rests != nil && s.worker.Live(h.Run) == nil { // otherwise the owner reports it
		state, err := engine.Load(x.Context(), s.journal, h.Run)
		if err != nil {
			return nil, err
		}
		if state.Status().Ended() && engine.ParentOf(state) == "" {
			s.options.Rests(state.Result())
		}
	}
	return s.after(x, h.Run, nil)
}

func (s *Server) fork(x *exchange) (any, error) {
	in := x.body.(*client.ForkRun)
	if in.At == 0 {
		return nil, invalid("at is missing: it is the seq of the last entry to share, from 1")
	}
	change := Change{Prompt: in.Prompt, Model: in.Model}
	if change != (Change{}) && !x.key.allows(Decide) { // a person takes the place of the agent's author
		return nil, x.lacks(Decide, "a fork that changes the agent")
	}
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	limits, err := limitsOf(in.Limits, true)
	if err != nil {
		return nil, err
	}
	if err := x.key.grants(in.Labels); err != nil {
		return nil, err
	}
	state, err := runs.Until(x.Context(), s.journal, h.Run, in.At)
	switch {
	case errors.Is(err, runs.ErrNoEntry):
		return nil, invalid(err.Error())
	case err != nil:
		return nil, err
	}
	if visible, err := s.visible(x.Context(), x.key, pawl.Head{Run: h.Run, Labels: state.Head().Labels}); err != nil || !visible {
		// A fork has no parent: it would get its own labels, and its creator could not see it.
		return nil, errors.Join(err, refusal(http.StatusConflict, fmt.Sprintf("run %s is a child of run %s, and lacks the labels of the token; fork run %[2]s", h.Run, h.Parent)))
	}
	w, err := s.host.Again(x.Context(), state, &change)
	if err != nil {
		return nil, err
	}
	o := &engine.ForkOptions{Input: in.Input, Labels: runs.Relabelled(state, in.Labels), AllowSpent: limits == (runs.Limits{}),
		AllowChange: change != (Change{}), By: x.by(in.By)}
	if o.Limits, err = w.Raise(state.Limits(), limits); err != nil {
		w.Drop()
		return nil, err
	}
	fork, err := s.worker.Drive(w, func(ctx context.Context) (*engine.Handle, error) {
		return w.Engine.Fork(ctx, w.Agent, h.Run, in.At, o)
	})
	if err != nil && state.InFlight() && ProblemOf(err) == err && !retry.Temporary(err) {
		return nil, invalid(err.Error()) // the error says where the run can be forked
	}
	if err != nil {
		return nil, err
	}
	return s.after(x, fork.ID(), fork)
}

// GoOn resumes a run without an owner. The error says why it cannot resume.
func (s *Server) GoOn(ctx context.Context, run string) error {
	h, err := runs.RootOf(ctx, s.journal, run)
	if err == nil {
		_, err = s.worker.Resume(ctx, h, runs.Limits{}, 0)
	}
	return ProblemOf(err)
}
