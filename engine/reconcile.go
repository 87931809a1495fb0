package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
)

// reconciliation asks a tool what came of a call.
type reconciliation struct {
	flight   flight
	tool     pawl.Reconciler
	info     pawl.ToolInfo
	inv      pawl.Invocation
	out      pawl.Output
	happened bool
	err      error
}

// reconcile asks the tools that can tell about their lost calls and doubts, once
// for each attempt, before anybody else is asked and anything is driven again. It
// reports whether one was asked.
func (s *session) reconcile() (asked bool, err error) {
	for c := range s.state.Open() {
		if c.Phase != pawl.Doubted && c.Phase != pawl.Lost || s.asked[c.ID] == c.Attempt {
			continue
		}
		if s.asked == nil {
			s.asked = map[string]int{}
		}
		s.asked[c.ID] = c.Attempt
		tool, info, _ := s.m.Tool(c.Tool)
		r, ok := tool.(pawl.Reconciler)
		if !ok {
			continue
		}
		if err := s.flush(); err != nil {
			return false, err
		}
		args := c.Args
		if c.Edited != nil {
			args = c.Edited
		}
		now := time.Now()
		ask := &reconciliation{tool: r, info: info, inv: pawl.Invocation{
			Run: s.lease.Run, Call: c.ID, Tool: c.Tool, Args: args, Key: c.Key, Attempt: c.Attempt, Supervised: c.Supervised,
		}}
		ask.flight = flight{effect: ask, limit: min(info.Timeout, s.left(now)), grace: grace(tool)}
		return true, s.fly(&ask.flight, now)
	}
	return false, nil
}

func (r *reconciliation) perform(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("panic: %v", p)
		}
	}()
	r.err = errExited // until it returns
	r.out, r.happened, r.err = r.tool.Reconcile(ctx, r.inv)
}

// record settles the doubt if the tool could tell. If not, the doubt stands.
// An answer that came after its time is one all the same.
func (r *reconciliation) record(s *session, _ error, left bool) {
	if left || r.err != nil && !r.happened {
		return
	}
	e := pawl.ToolSettled{Call: r.inv.Call, Happened: r.happened, By: "reconcile"}
	switch {
	case r.err != nil:
		e.Error = s.told(r.err.Error(), &r.info)
		if errors.Is(r.err, context.DeadlineExceeded) {
			e.Status = pawl.ToolTimeout
		}
	case r.happened:
		var result pawl.ToolFinished
		s.result(&result, &r.info, r.out)
		e.Result = result.Result
	}
	s.append(s.state.Seq(), s.state.Iteration(), e)
}
