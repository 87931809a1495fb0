package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/web"
)

// act performs a batch: first everything but the runs is appended, then the runs start, group
// by group. Each call's intent is durable before it runs, and a finished call is durable while
// its siblings still run.
func (s *effects) act(at uint64, a pawl.Act) error {
	r := s.rec
	if again, err := s.requests.answerCalls(at, a.Calls); again || err != nil {
		return err
	}
	serial := r.machine.Agent().Serial
	group, rest := nextGroup(serial, slices.DeleteFunc(a.Calls, func(c pawl.Classified) bool { return c.Do != pawl.CallRun }))
	for first := true; len(group) > 0; first = false {
		if !first || r.state.Seq() != at { // otherwise the machine has just decided on the latest state
			if cancel, suspend, _ := s.inbox.wanted(); cancel || suspend {
				return nil
			}
			// The hooks see the results of the previous group before this one begins.
			seq := r.state.Seq()
			if _, err := s.askHooks(); err != nil || r.state.Seq() != seq {
				return err
			}
		}
		if !first && (spends(group) || len(r.machine.Dropped(r.state)) > 0) {
			return nil
		}
		if err := s.runGroup(at, group); err != nil {
			return err
		}
		group, rest = nextGroup(serial, rest)
	}
	return nil
}

// nextGroup returns the calls that run next, in parallel, and the rest. A Write, a call of a
// tool that runs alone, and every call of a serial agent are groups of their own.
func nextGroup(serial bool, calls []pawl.Classified) (group, rest []pawl.Classified) {
	for i := range calls {
		if info := calls[i].Info(); serial || info.Alone || info.Effect == pawl.Write {
			n := max(i, 1)
			return calls[:n], calls[n:]
		}
	}
	return calls, nil
}

// runGroup runs the calls of a group. A call by itself, for which the driver need not be there,
// is performed where the run is driven.
func (s *effects) runGroup(at uint64, group []pawl.Classified) error {
	if cancel, suspend, _ := s.inbox.wanted(); cancel || suspend || s.inbox.cancels("") != nil {
		return nil
	}
	c := &group[0]
	tool, _, _ := s.rec.machine.Tool(c.Call.Tool)
	attended := false
	for _, f := range s.rec.features {
		a, ok := f.(attendant)
		attended = attended || ok && a.attends(tool)
	}
	_, drops := s.rec.machine.Agent().Loop.(interface{ Dropped(*pawl.State) []string })
	if len(group) > 1 || c.Child != "" || attended || drops {
		return runBatch(s, at, group)
	}
	t := newToolCall(s, at, c)
	if !t.slot.try() { // it waits for its turn
		return runBatch(s, at, group)
	}
	if ready, err := t.begin(s.rec); !ready {
		return err
	}
	return s.perform(&t.effect)
}

// begin prepares a call and makes its intent durable. It reports whether the call may run, and
// returns the call's share of the pool if it may not.
func (t *toolCall) begin(r *recorder) (ready bool, err error) {
	defer func() {
		if !ready {
			t.slot.free()
		}
	}()
	if !t.prepare(r) {
		return false, r.failed
	}
	if err := r.announce(&t.effect); err != nil {
		return false, err
	}
	t.began = time.Now()
	return true, nil
}

// spends reports whether a call of the group spends tokens. Its limits were decided before
// the previous groups spent theirs, so they are decided again.
func spends(group []pawl.Classified) bool {
	return slices.ContainsFunc(group, func(c pawl.Classified) bool { return c.Child != "" })
}

// toolCall is a tool call in progress.
type toolCall struct {
	effect
	classified *pawl.Classified
	at         uint64
	tool       pawl.Tool
	children   *children
	child      *child // set if the call is a child run
	invalid    error  // no child run can be made of the call
	inv        pawl.Invocation
	labels     map[string]string // of the topmost run
	unlabelled error             // why they are not known; nil: they are
	earlier    func(call string) (string, []pawl.File, bool)
	outOfTime  bool // the deadline is the run's, not the tool's
	out        pawl.Output
	slot       slot
	progress   callProgress
}

func newToolCall(s *effects, at uint64, c *pawl.Classified) *toolCall {
	t := &toolCall{classified: c, at: at, children: &s.children, slot: slotOf(s.rec, c)}
	t.work, t.what = t, "the tool"
	t.labels, t.unlabelled = s.rec.payer()
	return t
}

// caller says for whom the call makes requests; nil: it is no call.
func (t *toolCall) caller() *web.Caller {
	if t == nil {
		return nil
	}
	return &web.Caller{Labels: t.labels, Err: t.unlabelled, Answers: t.inv.Answers, Learn: t.children.rec.learned.Add}
}

// prepare sets the call's limits and appends its intent. It reports false if the call must not
// run, because the run's time is over or the approved preconditions have changed.
func (t *toolCall) prepare(r *recorder) bool {
	c, info := t.classified, t.classified.Info()
	left := timeFor(r, t.at, c)
	if left <= 0 {
		return false
	}
	if c.Approved {
		if !approvalHolds(r, t.at, c) {
			return false
		}
		left = timeLeft(r.state, time.Now())
	}
	t.equip(r, c)
	// Suspending the run lets a Write finish, since cutting it short would leave its outcome
	// unknown. A child run is suspended with its parent.
	t.grace, t.limit, t.sheltered = grace(t.tool), info.Timeout, info.Effect == pawl.Write
	t.outOfTime = t.fit(left)
	if c.Child == "" || t.inv.Attempt == 1 { // resuming a child is not a new attempt at the call
		r.append(t.at, pawl.ToolStarted{Call: c.Call.ID, Tool: c.Call.Tool, Args: c.Call.Args, Effect: info.Effect, Key: c.Key, Attempt: t.inv.Attempt, Supervised: t.inv.Supervised})
	}
	if c.Child != "" {
		if t.inv.Attempt == 1 {
			c.Limits.Time = min(c.Limits.Time, max(time.Millisecond, left.Truncate(time.Millisecond)))
		}
		if e := t.children.of(t); e != nil {
			r.append(t.at, e)
			t.grace, t.limit, t.sheltered, t.outOfTime = childTime, childTime, false, false
		}
	}
	t.intent = r.state.Seq()
	if c.Child == "" {
		t.progress.begin(r, t)
	}
	return true
}

// equip sets the call's tool, which the run may wrap, and what it is called with.
func (t *toolCall) equip(r *recorder, c *pawl.Classified) {
	t.tool, _, _ = r.machine.Tool(c.Call.Tool)
	before, _ := r.state.Call(c.Call.ID) // a copy, which the tool may write to
	t.inv = pawl.Invocation{Run: r.lease.Run, Call: c.Call.ID, Tool: c.Call.Tool, Args: before.Args, Key: c.Key, Attempt: before.Attempt + 1}
	if before.Edited != nil {
		t.inv.Args = before.Edited
	}
	if t.inv.Attempt > 1 {
		t.inv.Answers = before.Answers
	}
	for _, f := range r.features {
		if o, ok := f.(outfitter); ok {
			t.tool = o.outfit(t.tool)
		}
	}
	if w, ok := t.tool.(interface {
		Supervised(inv pawl.Invocation) string
	}); ok {
		t.inv.Supervised = w.Supervised(t.inv)
		r.callDirs.add(t.inv.Supervised)
	}
	if _, ok := t.tool.(pawl.Recaller); ok {
		t.earlier = earlier(r)
	}
}

// timeFor returns the rest of the run's time. The machine decides by the log, so if nothing is
// left and the log does not show that yet, the entry for this call does.
func timeFor(r *recorder, at uint64, c *pawl.Classified) time.Duration {
	left := timeLeft(r.state, time.Now())
	if left <= 0 && r.state.Elapsed() < r.state.Limits().Time {
		r.append(at, c.NotRun())
	}
	return left
}

// perform runs the tool.
func (t *toolCall) perform(ctx context.Context) (err error) {
	switch r, recalls := t.tool.(pawl.Recaller); {
	case t.invalid != nil:
		return t.invalid
	case t.child != nil:
		t.out, err = t.child.perform(ctx)
	case recalls:
		t.out, err = r.Recall(ctx, t.inv, t.earlier)
	default:
		t.out, err = t.tool.Run(ctx, t.inv)
	}
	return err
}

// earlier returns a function with which a tool reads the results of earlier calls.
func earlier(r *recorder) func(string) (string, []pawl.File, bool) {
	state := r.state
	return func(call string) (string, []pawl.File, bool) {
		c, ok := state.Call(call)
		for recent := range state.Recent() {
			if !ok && recent.Ref == call { // call is the provider's id
				c, ok = recent, true
			}
		}
		if !ok || !c.OK() {
			return "", nil, false
		}
		kept := func(blob string) (data []byte) {
			if r.host.blobs != nil && blob != "" {
				data, _ = r.host.blobs.Blob(r.base, blob) // one that was removed is left out
			}
			return data
		}
		var files []pawl.File
		for _, f := range c.Files {
			if f.Data == nil {
				f.Data = kept(f.Blob)
			}
			if f.Data != nil {
				files = append(files, f)
			}
		}
		if whole := kept(c.Blob); whole != nil {
			return string(whole), files, true
		} // otherwise only the excerpt is left
		return pawl.ToolResult{Content: c.Result}.Text(), files, true
	}
}

// grace is how long a tool may take to return after its context ended. A tool that needs longer,
// such as a command between SIGTERM and SIGKILL, has a method Grace.
func grace(t pawl.Tool) time.Duration {
	if g, ok := t.(interface{ Grace() time.Duration }); ok {
		return g.Grace()
	}
	return time.Second
}

// record appends the result of the call. If the call was cut short to suspend the run and may run
// again, nothing is recorded: resuming finds the call lost.
func (t *toolCall) record(r *recorder, cut error, abandoned bool) {
	t.slot.free()
	t.progress.end()
	e := pawl.ToolFinished{Call: t.inv.Call, Tool: t.inv.Tool, Duration: time.Since(t.began).Truncate(time.Millisecond), Abandoned: abandoned}
	info := t.classified.Info()
	if abandoned {
		r.log(slog.LevelWarn, "a tool did not stop when told to and was left behind", slog.String("call", e.Call), slog.String("tool", e.Tool))
	}
	gone, cancelled := errors.AsType[*callCancelledError](cut)
	if t.child != nil {
		if !t.children.stopped(t, cut) {
			return
		}
		if cut != errDropped && !cancelled {
			cut = nil // the tool has finished by itself
		}
	}
	if !abandoned && cut == nil && r.host.lasting {
		if ask, asks := asked(t.err); asks {
			r.append(t.at, pawl.InputRequested{Call: e.Call, Question: errorText(r, ask.Question, &info), Key: ask.Key})
			return
		}
	}
	switch {
	case !abandoned && t.err == nil:
		e.Status = pawl.ToolOK
		takeOutput(r, &e, &info, t.out)
	case cancelled:
		r.append(t.at, t.cancelled(r, gone, abandoned))
		return
	case cut == errDropped:
		e.Status, e.Error = pawl.ToolCancelled, "it was not needed any more"
	case !abandoned && cut != errSuspended && notRun(t.err):
		if e.Status = pawl.ToolFailed; cut == errCancelled {
			e.Status = pawl.ToolCancelled
		}
		e.Error = errorText(r, t.err.Error(), &info)
	case cut == nil:
		e.Status, e.Error = pawl.ToolFailed, errorText(r, t.err.Error(), &info)
		switch {
		case errors.Is(t.err, context.DeadlineExceeded):
			e.Status = pawl.ToolTimeout
		case info.Effect == pawl.Write && unknown(t.err):
			e.Status = pawl.ToolUnknown
			e.Error += t.progress.words()
		}
	case cut == errTimeout:
		e.Status, e.Error = pawl.ToolTimeout, fmt.Sprintf("no result within %v", info.Timeout)
		if t.outOfTime {
			e.Error = "no result before the run's time was over"
		}
		e.Error += t.progress.words()
		if abandoned {
			e.Error += "; it did not stop when told to and was left behind"
		} else if said := t.partial(); said != "" {
			e.Error = errorText(r, e.Error+"; "+said, &info)
		}
	case cut == errSuspended:
		return
	case info.Effect == pawl.Write:
		r.append(t.at, pawl.ToolDoubted{Call: e.Call, Tool: e.Tool, Why: "it was cut short by cancelling the run; whether it took place is unknown" + t.progress.words()})
		return
	default:
		e.Status, e.Error = pawl.ToolCancelled, "the run was cancelled"+t.progress.words()
	}
	r.append(t.at, e)
}

// cancelled appends that the call was cancelled, and returns how it ended.
func (t *toolCall) cancelled(r *recorder, by *callCancelledError, abandoned bool) pawl.Event {
	if e := cancelOf(r, &by.signal); e != nil {
		e.Signal = 0 // the driver has yet to read the signals before it
		r.append(t.at, *e)
	}
	c, _ := r.state.Call(t.inv.Call)
	info, why := t.classified.Info(), c.Cancelled
	e := pawl.ToolFinished{Call: c.ID, Tool: c.Tool, Status: pawl.ToolCancelled, Error: c.Cancelled + t.progress.words(), Duration: time.Since(t.began).Truncate(time.Millisecond), Abandoned: abandoned}
	if info.Effect == pawl.Write && t.child == nil && (abandoned || !notRun(t.err)) {
		why += "; whether it took place is unknown" + t.progress.words()
		if info.OnDoubt != pawl.DoubtTell {
			return pawl.ToolDoubted{Call: c.ID, Tool: c.Tool, Why: why}
		}
		e.Status, e.Error = pawl.ToolUnknown, why
	}
	return e
}

// partial returns what a call came to before its time was over; empty: nothing is known.
func (t *toolCall) partial() string {
	if stopped, ok := errors.AsType[interface {
		error
		Partial() string
	}](t.err); ok {
		return stopped.Partial()
	}
	if len(t.out.JSON) > 0 {
		return "until then: " + pawl.ToolResult{Content: t.out.JSON}.Text()
	}
	return ""
}

// asked returns what a tool asks a person.
func asked(err error) (pawl.AskPerson, bool) {
	if a, ok := errors.AsType[*pawl.AskPerson](err); ok && a != nil {
		return *a, true
	}
	return errors.AsType[pawl.AskPerson](err)
}
