package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/jsonin"
)

// child is a call that is a run of its own, in the place of the tool that the
// call is of. What is known of it beforehand is set by its parent; the rest may
// be read when Run has returned.
type child struct {
	pawl.Tool
	engine   *Engine
	parent   string
	run      string
	agent    pawl.Agent
	input    string
	nonce    string // sets the keys of its calls apart, as it does its parent's
	recorded bool   // its parent's log has a child.stopped of it
	taints   bool   // what it is asked comes of what is not trusted
	hooks    []Hook

	result  pawl.Result
	state   *pawl.State
	heard   int64 // the last signal its own run was delivered
	missing bool  // it has been begun, and its log is not here
	err     error // the world broke
}

// childTime is the deadline of a call that is a run of its own: none that
// counts, since the run has a clock of its own, which its parent's bounds.
const childTime = 1000 * time.Hour

// Grace is how long a child may take to stop. Its own effects are stopped and
// abandoned one by one, so it needs no bound.
func (c *child) Grace() time.Duration { return childTime }

// Run drives the child until it ends, waits, or is to stop with its parent.
func (c *child) Run(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
	h, err := c.drive(ctx)
	switch {
	case err != nil:
		return pawl.Output{}, c.broke(err)
	case h == nil:
		return c.output()
	}
	select {
	case <-h.done:
	case <-ctx.Done():
		if context.Cause(ctx) != errCancelled || c.cancel() != nil {
			h.driver.inbox.suspend()
		}
		<-h.done
	}
	if h.err != nil {
		return pawl.Output{}, c.broke(h.err)
	}
	c.result, c.state, c.heard = h.result, h.driver.rec.state, h.driver.inbox.received()
	return c.output()
}

// drive starts the child, or resumes it where it stands. It returns no handle
// when there is nothing to drive: the child has ended, has another owner, or is
// missing.
func (c *child) drive(ctx context.Context) (*Handle, error) {
	life := outside(context.WithoutCancel(ctx))
	state, cancelledBy, err := c.engine.loadChild(life, c.run)
	switch {
	case err != nil:
		return nil, err
	case state.Seq() == 0 && c.recorded:
		c.missing = true
		return nil, nil
	case state.Seq() == 0:
		return c.engine.Start(life, c.agent, c.input, &StartOptions{ID: c.run, Parent: c.parent, Untrusted: c.taints, driven: true, nonce: c.nonce, hooks: c.hooks})
	}
	c.state, c.result = state, state.Result()
	if st := state.Status(); st.Ended() && (st != pawl.StatusCancelled || cancelledBy != byParent(c.parent)) {
		return nil, nil
	}
	h, err := c.engine.Resume(life, c.agent, c.run, &ResumeOptions{
		Limits: beyond(c.agent.Limits, state.Limits()), AllowChange: true, driven: true, hooks: c.hooks,
	})
	if held, ok := errors.AsType[*pawl.HeldError](err); ok { // who has it wakes us
		c.result.Status = pawl.StatusPaused
		c.result.Reason.Detail = "it is driven by " + held.Lease.Owner
		return nil, nil
	}
	return h, err
}

// broke takes in an error that is not the child's to tell the model.
func (c *child) broke(err error) error {
	if errors.Is(err, errClosed) {
		c.result.Status = pawl.StatusPaused
		return nil
	}
	c.err = fmt.Errorf("child run %s: %w", c.run, err)
	return c.err
}

// cancel ends the child's run with its parent's.
func (c *child) cancel() error {
	return c.engine.Cancel(context.Background(), c.run, byParent(c.parent), "its parent was cancelled")
}

func byParent(run string) string { return "run " + run }

// output is what the child's run has come to, for the model.
func (c *child) output() (pawl.Output, error) {
	r := &c.result
	switch {
	case c.missing || !r.Status.Ended():
		return pawl.Output{}, nil
	case r.Status == pawl.StatusSuccess && r.Output != nil:
		return pawl.Output{JSON: r.Output}, nil
	case r.Status == pawl.StatusSuccess:
		return pawl.Output{JSON: jsonin.Quote(r.Answer)}, nil
	}
	text := fmt.Sprintf("%s ended as %s", c.agent.Name, r.Status.Words())
	if why := cmp.Or(r.Reason.Detail, r.Reason.Leaf); why != "" {
		text += ": " + why
	}
	if r.Answer != "" {
		text += ". What it has to say: " + r.Answer
	}
	return pawl.Output{}, errors.New(text)
}

// beyond are the limits of want that are not as they are.
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

// loadChild is [Load] for a child, which has no entries if it was never started, and
// who cancelled it last.
func (e *Engine) loadChild(ctx context.Context, run string) (s *pawl.State, cancelledBy string, err error) {
	s = new(pawl.State)
	for entry, err := range entriesFor(ctx, e.journal, run, s) {
		if errors.Is(err, pawl.ErrUnknownRun) {
			break
		}
		if err != nil {
			return s, "", err
		}
		s.Fold(entry)
		if c, ok := entry.Event.(pawl.CancelRequested); ok {
			cancelledBy = c.By
		}
	}
	return s, cancelledBy, nil
}

// children are the calls of a run that are runs of their own.
type children struct {
	rec      *recorder
	recorded map[string]bool           // those with a child.stopped in the run's log
	heard    map[string]int64          // the last signal each was delivered here
	waits    map[string][]pawl.Pending // what each waits for
}

// of makes a call a run of its own, and returns the entry that says so. What it is
// asked may be impossible to say; the call's result is then that error.
func (k *children) of(t *toolCall) (started pawl.Event) {
	r := k.rec
	agent, input, err := r.machine.Child(*t.disposed)
	if err != nil {
		t.tool = refusing{t.tool, err}
		return nil
	}
	start, _ := r.state.Start()
	t.child = &child{
		Tool: t.tool, engine: r.engine, parent: r.lease.Run, run: t.disposed.Child, agent: agent, input: input, nonce: start.Nonce,
		recorded: k.recorded[t.disposed.Child], taints: r.state.Tainted(), hooks: r.hooks.above,
	}
	t.tool = t.child
	return pawl.ChildStarted{Call: t.inv.Call, Child: t.disposed.Child, Agent: agent.Name, Limits: agent.Limits}
}

// refusing is a tool that cannot be asked.
type refusing struct {
	pawl.Tool
	err error
}

func (r refusing) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, r.err
}

// stopped appends where a child stands, and reports whether that leaves a
// result to append.
func (k *children) stopped(t *toolCall, cut error) bool {
	c := t.child
	if c.err != nil {
		k.rec.failed = c.err
		return false
	}
	if c.missing {
		k.rec.append(t.at, pawl.ToolDoubted{Call: t.inv.Call, Tool: t.inv.Tool,
			Why: fmt.Sprintf("its run %s is not in this journal; what it did is not known", c.run)})
		return false
	}
	status := c.result.Status
	e := childStopped(t.inv.Call, c.run, status, c.state)
	if status == pawl.StatusPaused {
		e.WakeAt = c.state.WakeAt()
	}
	k.rec.append(t.at, e)
	if k.heard == nil {
		k.heard, k.waits = map[string]int64{}, map[string][]pawl.Pending{}
	}
	k.heard[c.run], k.waits[c.run] = c.heard, c.result.Pending
	return status.Ended() && (status != pawl.StatusCancelled || cut != errCancelled)
}

// childStopped is the entry that settles what a child has used.
func childStopped(call, run string, status pawl.Status, s *pawl.State) pawl.ChildStopped {
	dollars, priced := s.Cost()
	return pawl.ChildStopped{Call: call, Child: run, Status: status, Usage: s.Usage(), Cost: dollars, Unpriced: !priced && s.Tokens() > 0, ModelCalls: s.ModelCalls()}
}

// addPending adds what the run's children wait for.
func (k *children) addPending(r *pawl.Result) {
	if len(k.waits) == 0 {
		return
	}
	for c := range k.rec.state.Open() {
		if c.Phase == pawl.PhaseAwaitingChild {
			r.Pending = append(r.Pending, k.waits[c.Child]...)
		}
	}
}

// recover appends that the run has a new owner, after keeping calls of the last one
// from starting late. What children have used that were running then is booked
// before anything is decided on what is left.
func (k *children) recover(ctx context.Context, resumed pawl.RunResumed) error {
	if err := fence(ctx, k.rec); err != nil {
		return err
	}
	var running []pawl.CallState
	for c := range k.rec.state.Open() {
		if c.Phase == pawl.PhaseStarted && c.Child != "" {
			running = append(running, c)
		}
	}
	k.rec.appendNow(resumed)
	for _, c := range running {
		state, _, err := k.rec.engine.loadChild(ctx, c.Child)
		if err != nil {
			return err
		}
		if state.Seq() > 0 {
			k.rec.appendNow(childStopped(c.ID, c.Child, pawl.StatusInterrupted, state))
		}
	}
	return nil
}

// cancel cancels the children that wait when the run ends. If that fails, a child
// waits on; it is found when the run is resumed.
func (k *children) cancel() {
	for c := range k.rec.state.Open() {
		if c.Child != "" && (c.Phase == pawl.PhaseAwaitingChild || c.Phase == pawl.PhaseLost) {
			_ = k.rec.engine.Cancel(k.rec.base, c.Child, byParent(k.rec.lease.Run), "its parent has ended")
		}
	}
}

// signalled reports whether a child that is waited for has a signal it was not
// delivered yet.
func (k *children) signalled() bool {
	if k.rec.engine.mail == nil {
		return false
	}
	for c := range k.rec.state.Open() {
		if c.Phase != pawl.PhaseAwaitingChild {
			continue
		}
		for _, err := range k.rec.engine.mail.Signals(k.rec.base, c.Child, k.heard[c.Child]) {
			return err == nil
		}
	}
	return false
}

// wakeParent signals the parent of a run that ended without being driven by it.
// If that fails, the parent finds out when it is resumed.
func (k *children) wakeParent() {
	r := k.rec
	parent := ParentOf(r.state)
	if parent == "" || r.hooks.driven || !r.state.Status().Ended() || r.engine.mail == nil {
		return
	}
	_ = r.engine.send(r.base, pawl.Signal{
		Run: parent, Kind: pawl.SignalChild, Request: fmt.Sprintf("%s.%d", r.lease.Run, r.state.Seq()),
		Body: fmt.Appendf(nil, `{"child":%s}`, jsonin.Quote(r.lease.Run)),
	})
}

// Pending is everything a run waits for, what its children wait for included.
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
		more, err := Pending(ctx, j, child)
		if err != nil {
			return list, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// AgentOf returns the agent of a run that descends from a run of root: one of
// the agents among its tools, or among theirs, under the policies it inherits.
func (e *Engine) AgentOf(ctx context.Context, root pawl.Agent, run string) (pawl.Agent, error) {
	child, _, err := e.loadChild(ctx, run)
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
	m, err := e.machine(agent, true)
	if err != nil {
		return root, err
	}
	s, err := Load(ctx, e.journal, parent)
	if err != nil {
		return root, err
	}
	for c := range s.Calls() {
		if c.Child == run {
			agent, _, err := m.Child(pawl.Classified{Call: c.Call, Limits: child.Declaration().Limits})
			return agent, err
		}
	}
	return root, fmt.Errorf("run %s has no call that is run %s", parent, run)
}

// ParentOf is the parent of a child run; empty: it is none. A fork of a child is a
// run of its own.
func ParentOf(s *pawl.State) string {
	parent := s.Head().Parent // not of Start, which copies the whole declaration
	if parent == "" || !strings.HasPrefix(s.Run(), parent+".") {
		return ""
	}
	return parent
}
