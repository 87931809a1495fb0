package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// remoteMail is a [runs.Sender] that sends signals to a server, and keeps the latest result.
type remoteMail struct {
	*remote
	last pawl.Result
}

func (m *remoteMail) said(r pawl.Result, err error) error {
	if err == nil {
		m.last = r
	}
	return err
}

// Approve implements runs.Sender.
func (m *remoteMail) Approve(ctx context.Context, run, call, by string, o *engine.ApproveOptions) error {
	scope := "call"
	if o.ForRun {
		scope = "run"
	}
	return m.said(m.Client.Approve(ctx, run, call, client.Approve{Token: o.Token, Args: o.Args, Scope: scope, Free: o.Free, Times: o.Times, By: by}))
}

// Deny implements runs.Sender.
func (m *remoteMail) Deny(ctx context.Context, run, call, by, reason string, o *engine.DenyOptions) error {
	return m.said(m.Client.Deny(ctx, run, call, client.Deny{Token: o.Token, Reason: reason, By: by}))
}

// Answer implements runs.Sender.
func (m *remoteMail) Answer(ctx context.Context, run, call, by, text string) error {
	return m.said(m.Client.Answer(ctx, run, call, client.Answer{Text: text, By: by}))
}

// Submit implements runs.Sender.
func (m *remoteMail) Submit(ctx context.Context, run, call, by string, result json.RawMessage) error {
	return m.said(m.Client.Submit(ctx, run, call, client.Submit{Result: result, By: by}))
}

// Resolve implements runs.Sender.
func (m *remoteMail) Resolve(ctx context.Context, run, call, by string, r engine.Resolution) error {
	return m.said(m.Client.Settle(ctx, run, call, client.Settle{Happened: r.Happened, DidNotHappen: r.DidNotHappen, By: by}))
}

// signalRemote sends a signal to a run at a server, which then resumes the run, and
// watches the run.
func signalRemote(ctx context.Context, a *app, r *remote, p *post, h pawl.Head, say func(to *runs.Addressee) error) (int, error) {
	root, err := runs.Root(ctx, r, h)
	if err != nil {
		return 0, err
	}
	mail := &remoteMail{remote: r}
	to, err := runs.Address(ctx, r, h.Run, func(*pawl.State) runs.Sender { return mail })
	if err != nil {
		return 0, err
	}
	before := root.Seq
	sent := false
	code, err := driveRemote(ctx, a, r, &p.driving, before, func(ctx context.Context) (pawl.Result, error) {
		err := say(to)
		sent = err == nil
		if err == nil && !driven(mail.last.Status) {
			if root, err = runs.Head(ctx, r, root.Run); err == nil && root.Seq == before {
				err = errStays
			}
		}
		return mail.last, err
	})
	if !errors.Is(err, errStays) {
		if sent && err != nil {
			err = fmt.Errorf("recorded for run %s, which the server resumes; watching it failed: %w", root.Run, err)
		}
		return code, err
	}
	report, err := runs.Report(ctx, r, root, a.place())
	if err != nil {
		return 0, err
	}
	if a.recorded(report, to.Fresh); !a.json {
		return 0, nil
	}
	return 0, printJSON(a.out, mail.last)
}

// errStays says that a server has not resumed a run that got a signal.
var errStays = errors.New("the server did not resume the run")

// askHere decides what a run at a server waits for, as --approvals says: nil if
// nothing was decided.
func askHere(ctx context.Context, a *app, r *remote, mode approvalsMode, result pawl.Result) (*pawl.Result, error) {
	waiting := runs.Waiting(result.Pending, "approval")
	if len(waiting) == 0 || result.Status != pawl.StatusWaitingApproval {
		return nil, nil
	}
	approver := a.approver(mode, pawl.Agent{})
	if approver == nil {
		return nil, nil
	}
	s, err := engine.Load(ctx, r, result.Run)
	if err != nil {
		return nil, err
	}
	if asker, ok := approver.(*asker); ok {
		for _, t := range s.Declaration().Tools {
			asker.tools[t.Name] = t
		}
	}
	thought := ""
	if n := len(result.Steps); n > 0 {
		thought = result.Steps[n-1].Thought
	}
	mail := &remoteMail{remote: r}
	for _, p := range waiting {
		request := engine.Request{Run: p.Run, Agent: result.Agent, Call: p.Call, Tool: p.Tool, Args: p.Args, Reason: p.Reason, Iteration: result.Iterations, Thought: thought}
		if p.ExpiresAt != nil {
			request.Expires = *p.ExpiresAt
		}
		if request.Witnesses, err = relied(ctx, r, p); err != nil {
			return nil, err
		}
		d, err := approver.Approve(ctx, request)
		switch {
		case errors.Is(err, engine.ErrLater):
			continue
		case err != nil:
			return nil, err
		}
		if d.Approve {
			err = mail.Approve(ctx, p.Run, p.Call, d.By, &engine.ApproveOptions{ForRun: d.ForRun, Free: d.Free, Times: d.Times, Args: d.Args})
		} else {
			err = mail.Deny(ctx, p.Run, p.Call, d.By, d.Reason, &engine.DenyOptions{})
		}
		if err != nil {
			return nil, err
		}
	}
	if mail.last.Run == "" {
		return nil, nil
	}
	return &mail.last, nil
}

// relied is what a request for approval relies on, by its run's log.
func relied(ctx context.Context, r *remote, p pawl.Pending) (map[string]string, error) {
	s, err := engine.Load(ctx, r, p.Run)
	if err != nil {
		return nil, err
	}
	c, _ := s.Call(p.Call)
	return c.Preconditions, nil
}
