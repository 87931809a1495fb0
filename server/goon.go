package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/desk"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/outage"
	"github.com/pawl-run/pawl/internal/traceparent"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/workflow"
)

// asks reports whether an agent must be told what to do.
func asks(a pawl.Agent) bool {
	flow, ok := a.Loop.(*workflow.Loop)
	return !ok || flow.Asked()
}

// starting begins a run of a work.
func starting(w Work, labels map[string]string, thread, key string) func(context.Context) (*engine.Handle, error) {
	return func(ctx context.Context) (*engine.Handle, error) {
		return w.Engine.Start(ctx, w.Agent, w.Input, &engine.StartOptions{Labels: labels, Thread: thread, Key: key})
	}
}

// asked is begin for a run that is part of the trace of who asks for it, if he
// says that he has one.
func asked(x *exchange, begin func(context.Context) (*engine.Handle, error)) func(context.Context) (*engine.Handle, error) {
	from := traceparent.Parse(x.Request.Header.Get(traceparent.Header), x.Request.Header.Get(traceparent.State))
	return func(ctx context.Context) (*engine.Handle, error) { return begin(traceparent.With(ctx, from)) }
}

// after answers what a run has come to: at once or, where the request says so,
// when it has ended or waits. h is a hold on the run; nil: it is not driven by
// this request. Only who waited is given the tokens of what the run then waits for.
func (s *Server) after(x *exchange, run string, h *engine.Handle) (any, error) {
	if h == nil && x.wait {
		h = s.live(run)
	}
	if h == nil || !x.wait {
		return s.result(x.Context(), run)
	}
	waited, err := h.Wait(x.Context())
	if err != nil {
		return nil, err
	}
	r, err := s.result(x.Context(), run)
	if err == nil && r.Status == pawl.Running { // somebody was quick to go on with it
		var rested explain.Report
		rested, err = desk.Rested(x.Context(), s.journal, run, s.options.Place)
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
	root, err := desk.Root(x.Context(), s.journal, h)
	if err != nil {
		return nil, err
	}
	if root.Run != h.Run && len(in.Limits) > 0 {
		return nil, refusal(http.StatusConflict, fmt.Sprintf("run %s is a child of run %s, and goes on with it as it is; resume that one with other limits", h.Run, root.Run))
	}
	driven, err := s.goOn(x.Context(), root, limits, 0)
	if err != nil {
		return nil, err
	}
	return s.after(x, root.Run, driven)
}

// goOn goes on with a run that nobody drives; if after is not zero, only if that is
// still its last entry.
func (s *Server) goOn(ctx context.Context, h pawl.Head, limits desk.Limits, after uint64) (*engine.Handle, error) {
	if after == 0 && h.Status == pawl.Running && desk.Owned(h.Lease) { // else the journal, by its own clock, says so
		return nil, &pawl.HeldError{Lease: h.Lease}
	}
	state, err := engine.Load(ctx, s.journal, h.Run)
	if err != nil {
		return nil, err
	}
	switch {
	case after != 0 && state.Seq() != after:
		return nil, pawl.ErrConflict
	case state.Status() == pawl.Success:
		return nil, refusal(http.StatusConflict, fmt.Sprintf("run %s is done; fork it to go another way", h.Run))
	case state.Redacted():
		return nil, fmt.Errorf("run %s: %w", h.Run, engine.ErrRedacted)
	}
	w, err := s.host.Again(ctx, state, false)
	if err != nil {
		return nil, err
	}
	o := &engine.ResumeOptions{After: after, AllowSpent: limits == (desk.Limits{})} // the host may lower limits without anybody asking for it
	if o.Limits, err = raise(w, state, limits); err != nil {
		drop(w)
		return nil, err
	}
	return s.drive(w, func(ctx context.Context) (*engine.Handle, error) { return w.Engine.Resume(ctx, w.Agent, h.Run, o) })
}

func drop(w Work) {
	if w.Done != nil {
		w.Done("")
	}
}

// raise are the ceilings that a run gets which goes on; zero where they stay.
func raise(w Work, s *pawl.State, limits desk.Limits) (pawl.Limits, error) {
	next, err := limits.Over(s.Limits(), desk.PriceOf(w.Agent.Model))
	if err != nil {
		return next, invalid("limits: " + err.Error())
	}
	wanted := s.Limits().Merge(next)
	if w.Lower != nil {
		next = desk.Held(next, wanted, w.Lower(wanted))
	}
	bounded := w.Agent
	bounded.Limits = s.Limits().Merge(next)
	if _, err := pawl.NewMachine(bounded); err != nil {
		return next, invalid(err.Error())
	}
	return next, nil
}

func (s *Server) cancel(x *exchange) (any, error) {
	in := x.body.(*client.CancelRun)
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	if h.Status.Ended() {
		return nil, refusal(http.StatusConflict, fmt.Sprintf("run %s is over: %s", h.Run, h.Status.Words()))
	}
	at, err := s.desk(x.Context(), h.Run)
	if err != nil {
		return nil, err
	}
	if err := at.Cancel(x.Context(), h.Run, x.by(""), in.Reason); err != nil {
		if now, looking := desk.Head(x.Context(), s.journal, h.Run); looking == nil && now.Status.Ended() {
			return nil, refusal(http.StatusConflict, fmt.Sprintf("run %s is over: %s", h.Run, now.Status.Words()))
		}
		return nil, err
	}
	if s.options.Rests != nil && s.live(h.Run) == nil { // who drives it says so
		state, err := engine.Load(x.Context(), s.journal, h.Run)
		if err != nil {
			return nil, err
		}
		if state.Status().Ended() && engine.ParentOf(state) == "" {
			s.options.Rests(pawl.ResultOf(state))
		}
	}
	return s.after(x, h.Run, nil)
}

func (s *Server) fork(x *exchange) (any, error) {
	in := x.body.(*client.ForkRun)
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	limits, err := limitsOf(in.Limits, true)
	if err != nil {
		return nil, err
	}
	if err := askable(in.Labels); err != nil {
		return nil, err
	}
	state, err := desk.Until(x.Context(), s.journal, h.Run, in.At)
	switch {
	case errors.Is(err, desk.ErrNoEntry):
		return nil, invalid(err.Error())
	case err != nil:
		return nil, err
	}
	if visible, err := s.visible(x.Context(), x.key, pawl.Head{Run: h.Run, Labels: state.Head().Labels}); err != nil || !visible {
		// A fork is nobody's child: it would have its own labels, and be lost to who made it.
		return nil, errors.Join(err, refusal(http.StatusConflict, fmt.Sprintf("run %s is a child of run %s, and has none of the labels that the token is for; fork that one", h.Run, h.Parent)))
	}
	w, err := s.host.Again(x.Context(), state, true)
	if err != nil {
		return nil, err
	}
	labels := maps.Clone(in.Labels)
	for name := range x.key.Labels {
		delete(labels, name) // the run has what the token is for
	}
	o := &engine.ForkOptions{Input: in.Input, Labels: desk.Relabelled(state, labels), AllowSpent: limits == (desk.Limits{})}
	if o.Limits, err = raise(w, state, limits); err != nil {
		drop(w)
		return nil, err
	}
	fork, err := s.drive(w, func(ctx context.Context) (*engine.Handle, error) {
		return w.Engine.Fork(ctx, w.Agent, h.Run, in.At, o)
	})
	if err != nil && state.InFlight() && problemOf(err) == err && !outage.Is(err) {
		return nil, invalid(err.Error()) // it says where the run can be forked instead
	}
	if err != nil {
		return nil, err
	}
	return s.after(x, fork.ID(), fork)
}

// GoOn goes on with a run that nobody drives, for whoever serves. The error says
// why it does not.
func (s *Server) GoOn(ctx context.Context, run string) error {
	h, err := desk.Head(ctx, s.journal, run)
	if err == nil {
		h, err = desk.Root(ctx, s.journal, h)
	}
	if err == nil {
		_, err = s.goOn(ctx, h, desk.Limits{}, 0)
	}
	return problemOf(err)
}
