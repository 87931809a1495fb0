package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
)

// approverCall asks an Approver.
type approverCall struct {
	effect
	approver Approver
	requests *requests
	request  Request
	call     pawl.CallState
	says     Decision
}

// askApprover asks the engine's approver about the held calls, after the run was recorded as
// waiting. It reports whether the run continues.
func (s *effects) askApprover() (decided bool, err error) {
	r, approver := s.rec, s.rec.host.opt.Approver
	if approver == nil {
		return false, nil
	}
	for c := range r.state.Open() {
		if c.Phase != pawl.PhaseAwaitingApproval || s.requests.deferred[c.ID] == c.Requested {
			continue
		}
		if err := r.flush(); err != nil {
			return false, err
		}
		now := time.Now()
		labels, err := r.payer()
		if err != nil {
			return false, err
		}
		a := &approverCall{approver: approver, requests: s.requests, call: c, request: Request{
			Run: r.state.Run(), Agent: r.state.Declaration().Agent, Call: c.ID, Tool: c.Tool, Args: slices.Clone(c.Args),
			Reason: c.Reason, Witnesses: maps.Clone(c.Preconditions), Expires: c.Expires, Iteration: c.Iteration,
			Thread: r.state.Head().Thread, Labels: maps.Clone(labels),
		}}
		for t := range r.state.Turns() {
			if t.Iteration == c.Iteration {
				a.request.Thought = t.Thought
			}
		}
		limit := r.host.opt.Patience
		if left := c.Expires.Sub(now); limit < 0 || !c.Expires.IsZero() && left < limit {
			limit = left
		}
		a.effect = effect{work: a, what: "it", limit: limit, grace: time.Second, yields: true, began: now}
		s.run(&a.effect)
		if r.state.Status() == pawl.StatusRunning {
			return true, nil
		}
	}
	return false, nil
}

func (a *approverCall) perform(ctx context.Context) (err error) {
	a.says, err = a.approver.Approve(ctx, a.request)
	return err
}

// record appends the decision. A signal that arrived meanwhile takes precedence.
func (a *approverCall) record(r *recorder, cut error, abandoned bool) {
	var d Decision
	var failed error
	if !abandoned { // the approver has not returned, so d must not be read
		d, failed = a.says, a.err
	}
	switch {
	case cut == errSuspended && !abandoned:
		return
	case cut == errSignal || cut == errCancelled || cut == errSuspended:
		r.resumed()
		return
	case cut == errTimeout:
		d = Decision{Reason: fmt.Sprintf("nobody decided within %v", a.limit.Round(time.Millisecond))}
	case errors.Is(failed, ErrLater):
		if a.requests.deferred == nil {
			a.requests.deferred = map[string]uint64{}
		}
		a.requests.deferred[a.call.ID] = a.call.Requested
		return
	case failed == nil:
		failed = r.host.checkDecision(r.state, a.call.Tool, d)
	}
	if failed != nil && cut == nil {
		d = Decision{Reason: "the approver failed: " + failed.Error()}
	}
	d.By = cmp.Or(d.By, "approver")
	r.resumed()
	e := a.requests.decided(a.call, d, 0)
	a.requests.give(e)
	r.appendNow(e)
	a.requests.reconsider()
}
