package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/window"
)

// NextLeg returns the id of the run that a run hands over to. A run outside a thread begins one
// that has its id.
func NextLeg(thread, run string) string {
	if thread == "" {
		return ThreadRun(run, "")
	}
	return ThreadRun(thread, run)
}

// Next waits until the run has ended or is suspended, and returns a handle on the run that it
// has handed over to; nil: it has not handed over.
func (r *Handle) Next(ctx context.Context) (*Handle, error) {
	select {
	case <-r.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if _, handed := team.Handed(r.result.Verdict); r.next != nil || r.err != nil || !handed {
		return r.next, nil
	}
	// Another process may have begun the leg.
	thread := ""
	if t := r.result.Thread; t != nil {
		thread = *t
	}
	agent := *cmp.Or(r.agent, new(pawl.Agent))
	if r.driver != nil && r.driver.rec.machine != nil {
		agent = r.driver.rec.machine.Agent()
	}
	next, err := r.engine.attach(ctx, agent, NextLeg(thread, r.id), &ResumeOptions{})
	if errors.Is(err, pawl.ErrUnknownRun) { // it was removed
		return nil, nil
	}
	return next, err
}

// A lineage is what a run is to other runs: it begins the next leg if the run hands over, keeps the
// end for the next run of the thread, and wakes the run that called it.
type lineage struct {
	engine *Engine
	driver *driver
}

// ends begins the next leg of a run whose end is a handoff, before the run says that it has
// ended: if the process dies in between, the run is resumed and finds the leg. It does nothing
// for another end.
func (o *lineage) ends(v pawl.Verdict) error {
	d, r := o.driver, &o.driver.rec
	agent, link := team.Next(r.state, r.machine.Agent(), v)
	if link == nil {
		return nil
	}
	e, head := o.engine, r.state.Head()
	id := NextLeg(head.Thread, head.Run)
	if err := r.flush(); err != nil {
		return err
	}
	lease, err := e.begin(r.base, id)
	if errors.Is(err, pawl.ErrRunExists) { // the leg was begun before this process resumed the run
		d.life.next, err = e.attach(d.inbox.life, agent, id, &ResumeOptions{leg: true})
	} else if err == nil {
		d.life.next, err = o.begin(lease, agent, link)
	}
	if err != nil {
		return fmt.Errorf("run %s hands over to run %s: %w", head.Run, id, err)
	}
	return nil
}

// ended cancels the next leg if the run was asked to end while it handed over.
func (o *lineage) ended() {
	d, r := o.driver, &o.driver.rec
	if d.life.next == nil || o.engine.fetch(r.base, d) != nil {
		return
	}
	for _, l := range d.inbox.waiting() {
		b, err := bodyOf(&l)
		if l.Kind != pawl.SignalCancel || err != nil {
			continue
		}
		if err := o.engine.Cancel(r.base, d.life.next.ID(), l.By, b.Reason); err != nil {
			r.log(slog.LevelWarn, "the run that has the conversation now cannot be cancelled", slog.Any("err", err))
		}
	}
}

func (o *lineage) leave() {
	o.engine.opt.Threads.keep(&o.driver.rec)
	o.engine.wakeParent(&o.driver.rec)
}

// begin begins the next leg, which goes on with the conversation of the run.
func (o *lineage) begin(lease pawl.Lease, agent pawl.Agent, link *pawl.Continues) (*Handle, error) {
	d, r := o.driver, &o.driver.rec
	m, err := r.host.machine(agent)
	if err != nil {
		r.host.release(lease)
		return nil, err
	}
	start, _ := r.state.Start()
	b := beginning{engine: o.engine, agent: &agent, machine: m, input: r.state.Input(), link: link}
	b.Thread, b.Labels, b.Files, b.trace = start.Thread, start.Labels, start.Files, start.Traceparent
	if b.Thread == "" {
		b.Thread = r.lease.Run
	}
	p := past{r.state, r.transcript, r.runs + 1}
	clean := r.host.cleaner(m)
	p.transcript.Next(p.state, p.runs, clean.parts)
	r.transcript = window.NewTranscript(0) // the conversation is the leg's now
	return b.begin(d.inbox.life, lease, &p)
}

// continues returns the link to what the run continues.
func (b *beginning) continues(p *past, input string) *pawl.Continues {
	if b.link == nil {
		c := p.transcript.Continue(p.state)
		if f := b.follows; f != nil {
			if c.Carry = f.Carry; c.Carry != "" {
				c.Input = 0 // which counts all of it
			}
			if c.Run == b.Parent {
				c.Found = nil // tools of another agent
			}
		}
		return c
	}
	link := *b.link
	p.transcript.HandOver(&link, input, b.Files)
	c := p.transcript.Continue(p.state)
	link.Run, link.Seq, link.Bytes, link.Untrusted = c.Run, c.Seq, c.Bytes, c.Untrusted
	if link.Carry == "" {
		link.Input = c.Input
	}
	return &link
}

// follow has the next message of a person in a thread go to the agent that has the thread now.
func (b *beginning) follow(p *past) error {
	if p.transcript == nil {
		return nil
	}
	agent, link := team.Follow(p.state, *b.agent)
	if link.Used.Handoffs == 0 && agent.Name == b.agent.Name {
		return nil
	}
	b.link = &link
	if agent.Name == b.agent.Name {
		return nil
	}
	m, err := b.engine.machine(agent)
	b.agent, b.machine = &agent, m
	return err
}

// attach returns a handle on a run that exists. If it lost its owner, it is resumed; with nil
// options it is only looked at.
func (e *Engine) attach(ctx context.Context, agent pawl.Agent, run string, o *ResumeOptions) (*Handle, error) {
	for {
		e.mu.Lock()
		s := e.live[run]
		if s == nil && !e.closed {
			e.calls.Add(1) // before Close can wait for it
		}
		closed := e.closed
		e.mu.Unlock()
		switch {
		case s != nil:
			return &Handle{life: &s.life, found: true}, nil
		case closed:
			return nil, errClosed
		}
		h, err := e.head(ctx, run)
		if err != nil {
			e.calls.Done()
			return nil, err
		}
		if h.Status != pawl.StatusRunning || owned(h) || o == nil {
			l := &life{id: run, engine: e, agent: &agent, done: make(chan struct{})}
			go l.watch(ctx, h)
			return &Handle{life: l, found: true}, nil
		}
		e.calls.Done()
		again, err := e.Resume(ctx, agent, run, o)
		if err == nil {
			again.found = true
			return again, nil
		}
		if !errors.As(err, new(*pawl.HeldError)) { // otherwise another process has resumed it
			if now, bad := e.head(ctx, run); bad != nil || now.Seq == h.Seq {
				return nil, err // and the run has not continued and ended meanwhile
			}
		}
	}
}

// driveChild begins the run of a child, or resumes it.
func (e *Engine) driveChild(ctx context.Context, c *child, was *pawl.State) (*Handle, error) {
	if was.Seq() == 0 {
		return e.Start(ctx, c.agent, c.input, &c.start)
	}
	return e.Resume(ctx, c.agent, c.run, &ResumeOptions{Limits: beyond(c.agent.Limits, was.Limits()), AllowChange: true, caller: c.start.caller})
}

// beyond returns the limits of want that differ from are.
func beyond(want, are pawl.Limits) (l pawl.Limits) {
	if want.Tokens != are.Tokens {
		l.Tokens = want.Tokens
	}
	if want.Cost != are.Cost {
		l.Cost = want.Cost
	}
	if want.Time != are.Time {
		l.Time = want.Time
	}
	return l
}

// wakeParent signals the parent of a run that ended without being driven by it, or after it.
// If that fails, the parent finds out when it is resumed.
func (e *Engine) wakeParent(r *recorder) {
	parent := ParentOf(r.state)
	if parent == "" || r.caller != nil && e.Live(parent) != nil || !r.state.Status().Ended() || r.host.inbox == nil {
		return
	}
	request := fmt.Sprintf("%s.%d", r.lease.Run, r.state.Seq())
	_, _ = e.send(r.base, e.letter(parent, pawl.SignalChild, request, "", signalBody{}))
}

// Pending returns everything that a run and its children wait for.
func Pending(ctx context.Context, j pawl.Journal, s *pawl.State) ([]pawl.Pending, error) {
	list := s.Result().Pending
	for c := range s.Open() {
		if c.Phase != pawl.PhaseAwaitingChild {
			continue
		}
		child, err := Load(ctx, j, c.Child)
		if err != nil {
			return list, err
		}
		if overForGood(child) {
			continue // the run goes on with its result
		}
		more, err := Pending(ctx, j, child)
		if err != nil {
			return list, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// AgentOf returns the agent of a run that descends from a run of root: one of the agents
// among root's tools, or among theirs, with the policies that it inherits.
func (e *Engine) AgentOf(ctx context.Context, root pawl.Agent, run string) (pawl.Agent, error) {
	child, err := e.loadChild(ctx, run)
	if err != nil {
		return root, err
	}
	parent := ParentOf(child)
	if parent == "" {
		return root, nil
	}
	agent, err := e.AgentOf(ctx, root, parent)
	if err != nil {
		return root, err
	}
	m, err := e.machine(agent)
	if err != nil {
		return root, err
	}
	s, err := Load(ctx, e.journal, parent)
	if err != nil {
		return root, err
	}
	for c := range s.Calls() {
		if c.Child == run {
			agent, _, err := m.Child(s, pawl.Classified{Call: c.Call, Limits: new(child.Declaration().Limits)})
			return agent, err
		}
	}
	return root, fmt.Errorf("run %s has no call whose child run is %s", parent, run)
}
