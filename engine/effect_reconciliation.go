package engine

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/pawl-run/pawl"
)

// reconciliation asks a tool for the outcome of a call.
type reconciliation struct {
	effect
	tool     pawl.Reconciler
	info     pawl.ToolInfo
	inv      pawl.Invocation
	out      pawl.Output
	happened bool
}

// reconcile asks tools for the outcomes of their lost calls and of calls in doubt, once for
// each attempt, unless the run must end or be released. It runs before signals are read,
// since a tool's answer counts more than a person's. It reports whether a tool was asked.
func (s *effects) reconcile() (asked bool, err error) {
	r := s.rec
	if !r.state.Waits(pawl.PhaseLost) && !r.state.Waits(pawl.PhaseInDoubt) {
		return false, nil
	}
	if asked, err := s.askHooks(); asked || err != nil {
		return asked, err
	}
	_, over := r.state.Cancelled()
	if cancel, suspend, _ := s.inbox.wanted(); over || cancel || suspend {
		return false, nil
	}
	for c := range r.state.Open() {
		if c.Phase != pawl.PhaseInDoubt && c.Phase != pawl.PhaseLost || s.reconciled[c.ID] == c.Attempt {
			continue
		}
		if s.reconciled == nil {
			s.reconciled = map[string]int{}
		}
		s.reconciled[c.ID] = c.Attempt
		tool, info, _ := r.machine.Tool(c.Tool)
		reconciler, ok := tool.(pawl.Reconciler)
		if !ok {
			continue
		}
		if err := r.flush(); err != nil {
			return false, err
		}
		args := c.Args
		if c.Edited != nil {
			args = c.Edited
		}
		now := time.Now()
		ask := &reconciliation{tool: reconciler, info: info, inv: pawl.Invocation{
			Run: r.lease.Run, Call: c.ID, Tool: c.Tool, Args: bytes.Clone(args), Key: c.Key, Attempt: c.Attempt, Supervised: c.Supervised,
		}}
		ask.effect = effect{work: ask, what: "the tool", limit: info.Timeout, grace: grace(tool), began: now}
		ask.fit(timeLeft(r.state, now))
		s.run(&ask.effect)
		return true, nil
	}
	return false, nil
}

func (c *reconciliation) perform(ctx context.Context) (err error) {
	c.out, c.happened, err = c.tool.Reconcile(ctx, c.inv)
	return err
}

// record resolves the call if the tool could tell its outcome; otherwise the call stays as
// it is. An answer that came too late still counts.
func (c *reconciliation) record(r *recorder, _ error, abandoned bool) {
	if abandoned || c.err != nil && !c.happened {
		return
	}
	e := pawl.ToolSettled{Call: c.inv.Call, Happened: c.happened, By: "reconcile"}
	switch {
	case c.err != nil:
		e.Error = errorText(r, c.err.Error(), &c.info)
		if errors.Is(c.err, context.DeadlineExceeded) {
			e.Status = pawl.ToolTimeout
		}
	case c.happened:
		var result pawl.ToolFinished
		takeOutput(r, &result, &c.info, c.out)
		e.Result, e.Files = result.Result, result.Files
	}
	r.appendNow(e)
}
