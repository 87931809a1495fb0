package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// A child is a call that is a run of its own; it replaces the call's tool. The parent sets
// the fields before Run; the others may be read after Run has returned.
type child struct {
	pawl.Tool
	engine   *Engine
	parent   string
	run      string
	agent    pawl.Agent
	input    string
	nonce    string // makes the keys of its calls unique, as for its parent's
	recorded bool   // the parent's log has a child.stopped for it
	taints   bool   // its input derives from untrusted text
	hooks    []Hook
	above    *feed           // of the parent, if its watchers get the run's pieces
	follows  *pawl.Continues // what it goes on with; nil: it begins a conversation
	files    []pawl.File     // of its parent's input, which it gets

	result  pawl.Result
	state   *pawl.State
	heard   int64 // the last signal that was delivered to its run
	waited  bool  // another owner was given the time to release it
	missing bool  // it has begun, but its log is not in this journal
	stopped bool  // the engine closes, or the parent was stopped first: the call is repeated when the parent resumes
	err     error // an error that breaks the parent's run
}

// childTime is the deadline of a call that is a run of its own. It is effectively infinite,
// since the child has its own time limit, which the parent's bounds.
const childTime = 1000 * time.Hour

// Grace is how long a child may take to stop. Its own effects are stopped and
// abandoned one by one, so it needs no bound.
func (c *child) Grace() time.Duration { return childTime }

// Run drives the child until it ends, waits, or must stop with its parent.
func (c *child) Run(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
	h, err := c.drive(ctx)
	switch {
	case errors.Is(err, errClosed), err != nil && err == context.Cause(ctx):
		<-ctx.Done() // the engine suspends the parent, too
		c.stopped = true
		return pawl.Output{}, nil
	case err != nil:
		return pawl.Output{}, c.broke(err)
	case h == nil:
		return c.output()
	}
	select {
	case <-h.done:
	case <-ctx.Done():
		why := "its parent was cancelled"
		cause := context.Cause(ctx)
		if cause == errDropped {
			why = "it is not needed any more"
		}
		if cause != errCancelled && cause != errDropped || c.cancel(why) != nil {
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

// drive starts the child, or resumes it. It returns no handle if there is nothing to drive:
// the child has ended, has another owner, or is missing.
func (c *child) drive(ctx context.Context) (*Handle, error) {
	life := outside(context.WithoutCancel(ctx))
	state, err := c.engine.loadChild(life, c.run)
	if err != nil {
		return nil, err
	}
	c.state, c.result = state, state.Result()
	var h *Handle
	switch {
	case state.Seq() == 0 && c.recorded:
		c.missing = true
		return nil, nil
	case state.Seq() == 0:
		h, err = c.engine.Start(life, c.agent, c.input, &StartOptions{ID: c.run, Parent: c.parent, Files: c.files, Untrusted: c.taints, driven: true, nonce: c.nonce, hooks: c.hooks, follows: c.follows, above: c.above})
	case overForGood(state):
		return nil, nil
	default:
		h, err = c.engine.Resume(life, c.agent, c.run, &ResumeOptions{
			Limits: beyond(c.agent.Limits, state.Limits()), AllowChange: true, driven: true, hooks: c.hooks, above: c.above,
		})
	}
	held, ok := errors.AsType[*pawl.HeldError](err)
	if !ok {
		return h, err
	}
	free, stopped := c.freed(ctx, held.Lease)
	switch {
	case stopped != nil:
		return nil, stopped
	case free:
		return c.drive(ctx)
	case state.Seq() == 0:
		return nil, err
	}
	c.elsewhere()
	c.result.Reason.Detail = "it is driven by " + display.Holder(held.Lease.Owner)
	return nil, nil
}

// elsewhere has the parent wait for the child: its owner reads its signals, and wakes the parent.
func (c *child) elsewhere() { c.result.Status, c.heard = pawl.StatusPaused, math.MaxInt64 }

// freed waits until another owner has released the child. It reports false if that owner keeps it.
func (c *child) freed(ctx context.Context, held pawl.Lease) (bool, error) {
	switch h := c.engine.Live(c.run); {
	case h != nil: // for an earlier owner of the parent, which releases it, or by itself
		select {
		case <-h.done:
			return true, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	case ParseOwner(held.Owner).Process == Self().Process: // this engine has just released it, or another one drives it
		again := !c.waited
		c.waited = true
		return again, nil
	case c.state.Seq() > 0 && c.waited:
		return false, nil
	}
	c.waited = true // another process lost the parent, and releases the child or has ended
	return true, c.engine.pause(ctx, max(time.Until(held.Until), time.Millisecond))
}

// broke handles an error that concerns the parent's run, not the child's result.
func (c *child) broke(err error) error {
	if errors.Is(err, errClosed) {
		c.stopped = true
		return nil
	}
	c.err = fmt.Errorf("child run %s: %w", c.run, err)
	return c.err
}

// cancel ends the child's run.
func (c *child) cancel(why string) error {
	return c.engine.Cancel(context.Background(), c.run, byParent(c.parent), why)
}

func byParent(run string) string { return "run " + run }

// output returns the result of the child's run for the model.
func (c *child) output() (pawl.Output, error) {
	r := &c.result
	switch {
	case c.missing || !r.Status.Ended():
		return pawl.Output{}, nil
	case r.Status == pawl.StatusSuccess && r.Output != nil:
		return pawl.Output{JSON: r.Output}, nil
	case r.Status == pawl.StatusSuccess:
		return pawl.Output{JSON: wire.Quote(r.Answer)}, nil
	}
	text := fmt.Sprintf("%s ended as %s", c.agent.Name, r.Status.String())
	if why := cmp.Or(r.Reason.Detail, r.Reason.Leaf); why != "" {
		text += ": " + why
	}
	if r.Answer != "" {
		text += ". What it has to say: " + r.Answer
	}
	return pawl.Output{}, errors.New(text)
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

// loadChild is [Load] for a child, which has no entries if it was never started.
func (e *Engine) loadChild(ctx context.Context, run string) (*pawl.State, error) {
	s, err := Load(ctx, e.journal, run)
	if errors.Is(err, pawl.ErrUnknownRun) {
		return s, nil
	}
	return s, err
}

// children are the calls of a run that are runs of their own.
type children struct {
	rec      *recorder
	recorded map[string]bool           // the children with a child.stopped in the run's log
	heard    map[string]int64          // the last signal that was delivered here, by child
	waits    map[string][]pawl.Pending // pending requests, by child
}

// of makes a call a child run and returns the entry that announces it. If the child's input
// cannot be made from the arguments, the call's result is that error.
func (k *children) of(t *toolCall) (started pawl.Event) {
	r := k.rec
	agent, input, err := r.machine.Child(r.state, *t.classified)
	start, _ := r.state.Start()
	goesOn := follows(r.state, t.classified.Info())
	c, _ := r.state.Call(t.inv.Call)
	steps, ok := r.machine.Agent().Loop.(interface{ Attaches(step string) bool })
	gets, sees := ok && steps.Attaches(c.Step), goesOn != nil && goesOn.Run == r.lease.Run
	if err == nil && c.Child == "" && (gets || sees) {
		err = r.taken(agent)
	}
	if err != nil {
		t.tool = invalidChild{t.tool, err}
		return nil
	}
	t.child = &child{
		Tool: t.tool, engine: r.engine, parent: r.lease.Run, run: t.classified.Child, agent: agent, input: input, nonce: start.Nonce,
		recorded: k.recorded[t.classified.Child], taints: r.state.Tainted(), hooks: r.hooks.above, above: k.above(),
	}
	if t.child.follows = goesOn; gets {
		t.child.files = start.Files
	}
	t.tool = t.child
	return pawl.ChildStarted{Call: t.inv.Call, Child: t.classified.Child, Agent: agent.Name, Limits: agent.Limits}
}

// above returns the feed that gets the pieces of a child's replies; nil: none does.
func (k *children) above() *feed {
	if !k.rec.engine.opt.Children {
		return nil
	}
	return &k.rec.feed
}

// follows returns the conversation that a call of a tool goes on with; nil: it begins one. Of its
// caller's that is what was there before the reply with the call, so that it is the same for all
// calls of the reply and whenever they begin.
func follows(s *pawl.State, i pawl.ToolInfo) *pawl.Continues {
	c := &pawl.Continues{Carry: i.Carry}
	switch replied := s.RepliedAt(pawl.PurposeTurn); {
	case i.Follows != "":
		c.Run = latestRun(s, i.Follows)
	case i.Carry != "" && replied > 1:
		c.Run, c.Seq = s.Run(), replied-1
	}
	if c.Run == "" {
		return nil
	}
	if c.Carry == "all" {
		c.Carry = ""
	}
	return c
}

// latestRun returns the run of the latest call of a tool that was over before the calls that are
// open; "": there is none.
func latestRun(s *pawl.State, tool string) string {
	open := map[string]bool{}
	for c := range s.Open() {
		open[c.ID] = true
	}
	for c := range s.Recent() {
		if c.Tool == tool && c.Child != "" && !open[c.ID] {
			return c.Child
		}
	}
	return ""
}

// invalidChild is a tool whose call has invalid arguments.
type invalidChild struct {
	pawl.Tool
	err error
}

func (r invalidChild) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, r.err
}

// stopped appends the state of a child, and reports whether the call then has a result to append.
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
	if c.stopped {
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

// childStopped returns the entry that accounts for what a child has used.
func childStopped(call, run string, status pawl.Status, s *pawl.State) pawl.ChildStopped {
	dollars, priced := s.Cost()
	return pawl.ChildStopped{Call: call, Child: run, Status: status, Usage: s.Usage(), Cost: dollars, Unpriced: !priced && s.Tokens() > 0, ModelCalls: s.ModelCalls()}
}

// addPending adds the pending requests of the run's children.
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

// recover appends that the run has a new owner, after keeping calls of the previous owner from
// starting late. The costs of children that ran then are booked before anything is decided on the
// rest of the limits.
func (k *children) recover(ctx context.Context, resumed pawl.RunResumed) error {
	if err := fence(k.rec); err != nil {
		return err
	}
	running := begun(k.rec.state, pawl.PhaseStarted)
	k.rec.appendNow(resumed)
	for _, c := range running {
		state, err := k.rec.engine.loadChild(ctx, c.Child)
		if err != nil {
			return err
		}
		if state.Seq() > 0 {
			k.rec.appendNow(childStopped(c.Call.ID, c.Child, pawl.StatusInterrupted, state))
		}
	}
	return nil
}

// begun returns the children of a run's open calls in one of the phases.
func begun(s *pawl.State, phases ...pawl.Phase) (runs []pawl.Classified) {
	for c := range s.Open() {
		if c.Child != "" && slices.Contains(phases, c.Phase) {
			runs = append(runs, pawl.Classified{Call: c.Call, Child: c.Child})
		}
	}
	return runs
}

// settle ends the runs that this one has begun, before it ends itself, and accounts for what they
// have used. It reports whether it has appended that. Those runs continue when this run is resumed.
func (k *children) settle() (appended bool) {
	for _, c := range begun(k.rec.state, pawl.PhaseStarted, pawl.PhaseAwaitingChild, pawl.PhaseLost) {
		appended = k.end(c.Call.ID, c.Child, "its parent has ended") || appended
	}
	return appended
}

// drop ends the child of a call that is not needed any more and will be answered. It reports
// whether it has appended what the child has used.
func (k *children) drop(call string) (appended bool) {
	c, ok := k.rec.state.Call(call)
	if !ok || c.Child == "" || k.rec.flush() != nil { // why it is not needed must be durable first
		return false
	}
	return k.end(c.ID, c.Child, "it is not needed any more")
}

// end cancels a child and appends what it has used, unless that is booked. It reports whether it
// has appended that.
func (k *children) end(call, run, why string) (appended bool) {
	r := k.rec
	state, err := k.ended(run, why)
	if err != nil {
		r.failed = err
		return true
	}
	if state.Seq() == 0 {
		return false
	}
	if !state.Status().Ended() { // what it has reserved counts as used
		state.Fold(pawl.Entry{Run: run, Seq: state.Seq() + 1, Time: state.Time(), Event: pawl.RunResumed{}})
	}
	e := childStopped(call, run, pawl.StatusInterrupted, state)
	now, then := r.state, r.state.Clone()
	then.Fold(pawl.Entry{Run: now.Run(), Seq: now.Seq() + 1, Time: now.Time(), Iteration: now.Iteration(), Event: e})
	cost, priced := now.Cost()
	if c, p := then.Cost(); c == cost && p == priced && then.Usage() == now.Usage() && then.ModelCalls() == now.ModelCalls() {
		return false
	}
	r.appendNow(e)
	return true
}

// ended cancels a child and returns its state. It gives another process that owns the child the
// time of a lease to read the signal; if that process has died, the lease lapses meanwhile. A child
// that cannot be cancelled stays as it is, until this run is resumed.
func (k *children) ended(run, why string) (*pawl.State, error) {
	r, opt := k.rec, &k.rec.engine.opt
	for until := time.Now().Add(opt.Lease); ; {
		cancelled := r.engine.Cancel(r.base, run, byParent(r.lease.Run), why) // or it has ended by itself
		state, err := r.engine.loadChild(r.base, run)
		if err != nil || state.Seq() == 0 || state.Status().Ended() || cancelled != nil || time.Now().After(until) {
			return state, err
		}
		if r.engine.pause(r.base, min(opt.Lease/10, 100*time.Millisecond)) != nil || r.lease.renew(r.base) != nil {
			return state, nil
		}
	}
}

// signalled reports whether a waiting child has a signal that was not delivered to it, or has ended
// under another owner: that owner may have said so before this run was about to wait.
func (k *children) signalled() bool {
	if k.rec.engine.inbox == nil {
		return false
	}
	for c := range k.rec.state.Open() {
		if c.Phase != pawl.PhaseAwaitingChild {
			continue
		}
		if k.heard[c.Child] == math.MaxInt64 {
			if h, err := k.rec.engine.head(k.rec.base, c.Child); err == nil && h.Status.Ended() && !owned(h) {
				return true
			}
			continue
		}
		for _, err := range k.rec.engine.inbox.Signals(k.rec.base, c.Child, k.heard[c.Child]) {
			return err == nil
		}
	}
	return false
}

// wakeParent signals the parent of a run that ended without being driven by it, or after it.
// If that fails, the parent finds out when it is resumed.
func (k *children) wakeParent() {
	r := k.rec
	parent := ParentOf(r.state)
	if parent == "" || r.hooks.driven && r.engine.Live(parent) != nil || !r.state.Status().Ended() || r.engine.inbox == nil {
		return
	}
	_ = r.engine.send(r.base, pawl.Signal{
		Run: parent, Kind: pawl.SignalChild, Request: fmt.Sprintf("%s.%d", r.lease.Run, r.state.Seq()),
		Body: fmt.Appendf(nil, `{"child":%s}`, wire.Quote(r.lease.Run)),
	})
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

// overForGood reports whether a run is a child that has ended with a result for its parent.
// One that its parent cancelled goes on with the parent.
func overForGood(s *pawl.State) bool {
	parent := ParentOf(s)
	return parent != "" && s.Status().Ended() && (s.Status() != pawl.StatusCancelled || s.Internals().CancelledBy() != byParent(parent))
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

// ParentOf returns the parent of a child run; "": the run is not a child. A fork of a child
// is a run of its own.
func ParentOf(s *pawl.State) string {
	return parentOf(s.Run(), s.Parent())
}

func parentOf(run, parent string) string {
	if strings.HasPrefix(run, parent+".") {
		return parent
	}
	return ""
}
