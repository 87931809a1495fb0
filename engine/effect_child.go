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

// kin is the engine, as runs know it that call other runs.
type kin interface {
	// driveChild begins the run of a child, or resumes it if it was begun, as its state says.
	driveChild(ctx context.Context, c *child, was *pawl.State) (*Handle, error)
	Live(run string) *Handle
	Cancel(ctx context.Context, run, by, reason string) error
}

// A child is a call that is a run of its own, instead of one of the call's tool. The first
// fields are set before perform; the others may be read after it has returned.
type child struct {
	kin      kin
	run      string
	agent    pawl.Agent
	input    string
	start    StartOptions
	recorded bool // the parent's log has a child.stopped for it

	result  pawl.Result
	state   *pawl.State
	heard   int64 // the last signal that was delivered to its run
	waited  bool  // another owner was given the time to release it
	missing bool  // it has begun, but its log is not in this journal
	stopped bool  // the engine closes, or the parent was stopped first: the call is repeated when the parent resumes
	err     error // an error that breaks the parent's run
}

// childTime is the deadline and the grace of a call that is a run of its own. It is infinite, in effect,
// since the child has its own time limit, which the parent's bounds.
const childTime = 1000 * time.Hour

// perform drives the child until it ends, waits, or must stop with its parent.
func (c *child) perform(ctx context.Context) (pawl.Output, error) {
	h, err := c.drive(ctx)
	if h != nil {
		c.follow(ctx, h)
		err = h.err
	}
	switch {
	case err == nil:
		out, err := c.output()
		if err == nil {
			c.err = c.start.caller.addReturned(&out, c.state)
		}
		return out, errors.Join(err, c.err)
	case errors.Is(err, errClosed), err == context.Cause(ctx):
		<-ctx.Done() // the engine suspends the parent, too
		c.stopped = true
		return pawl.Output{}, nil
	}
	c.err = fmt.Errorf("child run %s: %w", c.run, err)
	return pawl.Output{}, c.err
}

// follow waits until this engine no longer drives the child, which is cancelled or suspended when
// its call is stopped.
func (c *child) follow(ctx context.Context, h *Handle) {
	select {
	case <-h.done:
	case <-ctx.Done():
		why := "its parent was cancelled"
		cause := context.Cause(ctx)
		gone, cancelled := errors.AsType[*callCancelledError](cause)
		switch {
		case cause == errDropped:
			why = "it is not needed any more"
		case cancelled:
			why = "its call was cancelled by " + gone.signal.By
		}
		if cause != errCancelled && cause != errDropped && !cancelled || c.kin.Cancel(context.Background(), c.run, byParent(c.start.Parent), why) != nil {
			h.driver.inbox.suspend()
		}
		<-h.done
	}
	c.result, c.state, c.heard = h.result, h.driver.rec.state, h.driver.inbox.received()
}

// drive starts the child, or resumes it. It returns no handle if there is nothing to drive:
// the child has ended, has another owner, or is missing.
func (c *child) drive(ctx context.Context) (*Handle, error) {
	life := outside(context.WithoutCancel(ctx))
	state, err := c.start.caller.host.loadChild(life, c.run)
	if err != nil {
		return nil, err
	}
	c.state, c.result = state, state.Result()
	switch {
	case state.Seq() == 0 && c.recorded:
		c.missing = true
		return nil, nil
	case overForGood(state):
		return nil, nil
	}
	h, err := c.kin.driveChild(life, c, state)
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
	c.result.Status, c.heard = pawl.StatusPaused, math.MaxInt64 // its owner reads its signals, and wakes the parent
	c.result.Reason.Detail = "it is driven by " + display.Holder(held.Lease.Owner)
	return nil, nil
}

// freed waits until another owner has released the child. It reports false if that owner keeps it.
func (c *child) freed(ctx context.Context, held pawl.Lease) (bool, error) {
	switch h := c.kin.Live(c.run); {
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
	return true, c.start.caller.host.pause(ctx, max(time.Until(held.Until), time.Millisecond))
}

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

// children are the calls of a run that are runs of their own.
type children struct {
	rec      *recorder
	kin      kin
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
	attached, returned := k.filesFor(c.Step, input)
	if sees := goesOn != nil && goesOn.Run == r.lease.Run; err == nil && c.Child == "" && (attached || sees) {
		err = r.taken(agent)
	}
	var files []pawl.File
	if attached {
		files = start.Files
	}
	files = r.handOn(slices.Concat(files, returned))
	if err == nil {
		err = bounded(files)
	}
	if err != nil {
		t.invalid = err
		return nil
	}
	run := t.classified.Child
	t.child = &child{
		kin: k.kin, run: run, agent: agent, input: input, recorded: k.recorded[run],
		start: StartOptions{ID: run, Parent: r.lease.Run, Untrusted: r.state.Tainted(), caller: r, nonce: start.Nonce, follows: goesOn, Files: files},
	}
	return pawl.ChildStarted{Call: t.inv.Call, Child: t.classified.Child, Agent: agent.Name, Limits: agent.Limits}
}

// filesFor reports whether a child gets the files of the input, and returns the others that it gets.
// If it is the run of a step, they are those of the steps that this one refers to. Else they are the
// files whose names, with their extensions, stand in its input.
func (k *children) filesFor(step, input string) (attached bool, others []pawl.File) {
	r := k.rec
	if steps, ok := r.machine.Agent().Loop.(interface {
		Files(s *pawl.State, step string) (attached bool, calls []string)
	}); ok {
		attached, calls := steps.Files(r.state, step)
		for _, id := range calls {
			c, _ := r.state.Call(id)
			others = append(others, c.Files...)
		}
		return attached, others
	}
	if !r.files.among(r.state) {
		return false, nil
	}
	for s, ok := r.state, true; ok; s, ok = s.Earlier() {
		for _, f := range RunFiles(s) {
			if strings.Contains(f.Name, ".") && strings.Contains(input, f.Name) {
				others = append(others, f.File)
			}
		}
	}
	return false, others
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
		state, err := k.rec.host.loadChild(ctx, c.Child)
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
	r, opt := k.rec, &k.rec.host.opt
	for until := time.Now().Add(opt.Lease); ; {
		cancelled := k.kin.Cancel(r.base, run, byParent(r.lease.Run), why) // or it has ended by itself
		state, err := r.host.loadChild(r.base, run)
		if err != nil || state.Seq() == 0 || state.Status().Ended() || cancelled != nil || time.Now().After(until) {
			return state, err
		}
		if r.host.pause(r.base, min(opt.Lease/10, 100*time.Millisecond)) != nil || r.lease.renew(r.base) != nil {
			return state, nil
		}
	}
}

// signalled reports whether a waiting child has a signal that was not delivered to it, or has ended
// under another owner: that owner may have said so before this run was about to wait.
func (k *children) signalled() bool {
	if k.rec.host.inbox == nil {
		return false
	}
	for c := range k.rec.state.Open() {
		if c.Phase != pawl.PhaseAwaitingChild {
			continue
		}
		if k.heard[c.Child] == math.MaxInt64 {
			if h, err := k.rec.host.head(k.rec.base, c.Child); err == nil && h.Status.Ended() && !owned(h) {
				return true
			}
			continue
		}
		for _, err := range k.rec.host.inbox.Signals(k.rec.base, c.Child, k.heard[c.Child]) {
			return err == nil
		}
	}
	return false
}
