package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/internal/wire"
)

// kept is where permissions are among the records of a journal. Then comes whom they are for,
// and their id.
const kept = "permission/"

// keptFor is where the permissions of a scope for one run, thread or agent are.
func keptFor(scope, name string) string {
	return kept + wire.Digest([]byte(scope), []byte(name))[:32] + "/"
}

// permissionID names the permission that a decision about a call gives. The same decision that
// is read again, after a crash, has the same.
func permissionID(run string, c *pawl.CallState) string {
	return "p_" + wire.Digest([]byte(run), []byte(requestOf(c.ID, c)))[:12]
}

// stands returns why an approval cannot cover later calls of a run; nil: it can, or is not to.
func (h *host) stands(s *pawl.State, r *approval.Reach) error {
	switch {
	case !r.Stands():
	case h.keeper == nil:
		return fmt.Errorf("the scope is %s, but the journal keeps no permissions; approve this call only, or use a journal that is an approval.Keeper, such as sqlite", r.Scope)
	case r.Scope == approval.ForThread && s.Head().Thread == "":
		return fmt.Errorf("the scope is thread, but run %s is in no thread; choose run or agent", s.Run())
	case !r.Until.IsZero() && !r.Until.After(time.Now()):
		return fmt.Errorf("the permission would have ended at %s; choose a later time", r.Until.UTC().Format(time.RFC3339))
	}
	return nil
}

// give keeps the permission that a decision gives, before the decision is in the log: until it
// is, the decision is read again and gives the same.
func (q *requests) give(event pawl.Event) {
	e, ok := event.(pawl.ApprovalDecided)
	if !ok || e.Permission == "" || q.rec.failed != nil {
		return
	}
	r := q.rec
	c, _ := r.state.Call(e.Call)
	labels, err := q.rec.payer()
	p := approval.Permission{
		ID: e.Permission, Reach: approval.Reach{Scope: e.Scope, Free: e.Free, Times: e.Times, Until: e.Until},
		Run: r.state.Run(), Call: e.Call, Thread: r.state.Head().Thread, Labels: labels, By: e.By, Given: time.Now().UTC().Truncate(time.Second),
		Witnesses: c.Preconditions,
	}
	args := c.Args
	if e.Args != nil {
		args, p.Witnesses = e.Args, e.Preconditions
	}
	d := r.state.Declaration()
	p.Bind(&d, c.Tool, args)
	if err == nil {
		name := map[string]string{approval.ForRun: p.Run, approval.ForThread: p.Thread, approval.ForAgent: p.Agent}[p.Scope]
		err = change(r.base, r.host.keeper, approval.Record{Name: keptFor(p.Scope, name) + p.ID}, &p)
	}
	if err != nil && !errors.Is(err, pawl.ErrConflict) { // else it was kept before
		r.failed = fmt.Errorf("keep the permission %s of run %s: %w", p.ID, p.Run, err)
		return
	}
	q.given = append(q.given, p)
}

// reconsider ends the requests for calls that permissions fit which were just given, so that the
// machine decides about these calls again.
func (q *requests) reconsider() {
	if q.given == nil {
		return
	}
	var fit []string
	for c := range q.rec.state.Open() {
		for i := range q.given {
			if p := &q.given[i]; c.Phase == pawl.PhaseAwaitingApproval && p.Over(time.Now()) == "" && p.Fits(p.Agent, p.Labels, &c.Call) {
				p.Used++ // as far as this goes
				fit = append(fit, c.ID)
				break
			}
		}
	}
	for _, call := range fit {
		q.rec.appendNow(pawl.ApprovalExpired{Call: call})
	}
	q.given = nil
}

// withdraw removes the permission that was given with a call's approval, which is void.
func withdraw(r *recorder, call string) {
	if r.host.keeper == nil {
		return
	}
	c, _ := r.state.Call(call)
	head, id := r.state.Head(), permissionID(r.state.Run(), &c)
	for _, at := range places(&head) {
		for record, err := range r.host.keeper.Kept(r.base, at+id) {
			if err == nil {
				err = r.host.keeper.Keep(r.base, record.Name, record.Data, nil)
			}
			if errors.Is(err, pawl.ErrConflict) {
				withdraw(r, call) // another run has used it
			} else if err != nil {
				r.failed = fmt.Errorf("withdraw the permission %s: %w", id, err)
			}
		}
	}
}

// places are where the permissions are that may cover the calls of a run.
func places(h *pawl.Head) []string {
	return []string{keptFor(approval.ForRun, h.Run), keptFor(approval.ForThread, h.Thread), keptFor(approval.ForAgent, h.Agent)}
}

// cover lets calls run that need approval and that a permission covers: it takes one use of the
// permission, and records the decision. It reports whether there was one. If a permission fits a
// call and does not cover it, the approver is told why.
func (q *requests) cover(calls []pawl.Classified) (covered bool, err error) {
	if q.rec.host.keeper == nil {
		return false, nil
	}
	for i := range calls {
		d := &calls[i]
		if d.Do != pawl.CallAsk || d.Once || q.rec.state.Internals().Peek(d.Call.ID).Changed != nil {
			continue
		}
		p, seen, err := q.use(d)
		if err != nil {
			return covered, fmt.Errorf("run %s: read the permissions: %w", q.rec.state.Run(), err)
		}
		if p == nil {
			continue
		}
		covered = true
		q.rec.appendNow(pawl.ApprovalDecided{Call: d.Call.ID, Approved: true, By: p.By, Scope: p.Scope, Permission: p.ID, Preconditions: seen,
			Reason: "permission " + p.ID + ": " + q.rec.clean.text(p.String())})
	}
	return covered, q.rec.failed
}

// use takes one use of the first permission that covers a call; nil: none does.
func (q *requests) use(d *pawl.Classified) (*approval.Permission, map[string]string, error) {
	r := q.rec
	labels, err := q.rec.payer()
	if err != nil {
		return nil, nil, err
	}
	head, declared := r.state.Head(), r.machine.Declaration()
	var seen map[string]string     // what the call relies on, once a permission fits
	var latest approval.Permission // of those that fit
	why := ""                      // it does not cover the call
	for _, at := range places(&head) {
		for record, err := range r.host.keeper.Kept(r.base, at) {
			var p approval.Permission
			if err == nil {
				err = json.Unmarshal(record.Data, &p)
			}
			if err != nil {
				return nil, nil, err
			}
			if !p.Fits(head.Agent, labels, &d.Call) {
				continue
			}
			if latest.ID == "" {
				if seen, err = preconditions(r, d.Call.Tool, d.Call.Args); err != nil {
					return nil, nil, nil // the call is refused, which says why
				}
			}
			if not := p.Objection(&declared, d, seen, time.Now()); not != "" {
				if !p.Given.Before(latest.Given) {
					latest, why = p, not
				}
				continue
			}
			p.Used++
			err = change(r.base, r.host.keeper, record, &p)
			if errors.Is(err, pawl.ErrConflict) {
				return q.use(d) // somebody else has used or revoked it
			}
			return &p, seen, err
		}
	}
	if why != "" {
		d.Why += fmt.Sprintf("; the permission %s by %s %s", latest.ID, latest.By, why)
	}
	return nil, nil, nil
}

// change replaces a kept permission, unless it has changed meanwhile.
func change(ctx context.Context, k approval.Keeper, was approval.Record, p *approval.Permission) error {
	now, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return k.Keep(ctx, was.Name, was.Data, now)
}
