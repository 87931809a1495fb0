package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/team"
)

// act performs a batch: first everything but the runs is appended, then the runs start, group
// by group. Each call's intent is durable before it runs, and a finished call is durable while
// its siblings still run.
func (d *driver) act(at uint64, a pawl.Act) error {
	r := &d.rec
	for i := range a.Calls {
		c := &a.Calls[i]
		switch c.Do {
		case pawl.CallRun:
		case pawl.CallAsk:
			r.append(at, d.requests.ask(c))
		default:
			if c.Do != pawl.CallHand || approvalHolds(r, at, c) {
				r.append(at, c.Facts()...)
			}
		}
	}
	serial := r.machine.Agent().Serial
	group, rest := nextGroup(serial, slices.DeleteFunc(a.Calls, func(c pawl.Classified) bool { return c.Do != pawl.CallRun }))
	for first := true; len(group) > 0; first = false {
		if !first || r.state.Seq() != at { // otherwise the machine has just decided on the latest state
			if cancel, suspend, _ := d.inbox.wanted(); cancel || suspend {
				return nil
			}
			// The hooks see the results of the previous group before this one begins.
			seq := r.state.Seq()
			if _, err := d.askHooks(); err != nil || r.state.Seq() != seq {
				return err
			}
		}
		if !first && (spends(group) || len(r.machine.Dropped(r.state)) > 0) {
			return nil
		}
		if err := d.runGroup(at, group); err != nil {
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
func (d *driver) runGroup(at uint64, group []pawl.Classified) error {
	if cancel, suspend, _ := d.inbox.wanted(); cancel || suspend {
		return nil
	}
	c := &group[0]
	tool, _, _ := d.rec.machine.Tool(c.Call.Tool)
	_, onBoard := team.OnBoard(tool, "", "")
	_, drops := d.rec.machine.Agent().Loop.(interface{ Dropped(*pawl.State) []string })
	if len(group) > 1 || c.Child != "" || onBoard || drops {
		return runBatch(d, at, group)
	}
	t := newToolCall(d, at, c)
	if !t.slot.try() { // it waits for its turn
		return runBatch(d, at, group)
	}
	if ready, err := t.begin(&d.rec); !ready {
		return err
	}
	return d.effects.perform(&t.effect)
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
	inv        pawl.Invocation
	earlier    func(call string) (string, bool)
	outOfTime  bool // the deadline is the run's, not the tool's
	out        pawl.Output
	err        error
	slot       slot
}

func newToolCall(d *driver, at uint64, c *pawl.Classified) *toolCall {
	t := &toolCall{classified: c, at: at, children: &d.children, slot: slotOf(&d.rec, c)}
	t.work = t
	return t
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
	if run, ok := team.OnBoard(t.tool, r.lease.Run, ParentOf(r.state)); ok {
		t.tool = boardCall{t.tool, r.engine, run}
	}
	t.tool = sending(r, remembering(r, t.tool))
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
func (t *toolCall) perform(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			t.out, t.err = pawl.Output{}, fmt.Errorf("the tool panicked: %v", p)
		}
	}()
	t.err = errExited // until the tool returns
	if r, ok := t.tool.(pawl.Recaller); ok {
		t.out, t.err = r.Recall(ctx, t.inv, t.earlier)
	} else {
		t.out, t.err = t.tool.Run(ctx, t.inv)
	}
	read(t.err)
}

// read reads an error of the user's code, so that one that panics, such as a nil pointer,
// does so where that code is called and not where its result is recorded.
func read(err error) {
	if err != nil {
		_, _, _ = err.Error(), unknown(err), notRun(err)
	}
}

// earlier returns a function with which a tool reads the results of earlier calls.
func earlier(r *recorder) func(string) (string, bool) {
	state := r.state
	return func(call string) (string, bool) {
		c, ok := state.Call(call)
		for recent := range state.Recent() {
			if !ok && recent.Ref == call { // call is the provider's id
				c, ok = recent, true
			}
		}
		if !ok || !c.OK() {
			return "", false
		}
		if r.engine.blobs != nil && c.Blob != "" {
			if whole, err := r.engine.blobs.Blob(r.base, c.Blob); err == nil {
				return string(whole), true
			} // otherwise the blob was removed, and only the excerpt is left
		}
		return pawl.ToolResult{Content: c.Result}.Text(), true
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
	e := pawl.ToolFinished{Call: t.inv.Call, Tool: t.inv.Tool, Duration: time.Since(t.began).Truncate(time.Millisecond), Abandoned: abandoned}
	info := t.classified.Info()
	if abandoned {
		r.log(slog.LevelWarn, "a tool did not stop when told to and was left behind", slog.String("call", e.Call), slog.String("tool", e.Tool))
	}
	if t.child != nil {
		if !t.children.stopped(t, cut) {
			return
		}
		if cut != errDropped {
			cut = nil // the tool has finished by itself
		}
	}
	if !abandoned && cut == nil && r.engine.lasting() {
		if ask, asks := asked(t.err); asks {
			r.append(t.at, pawl.InputRequested{Call: e.Call, Question: errorText(r, ask.Question, &info), Key: ask.Key})
			return
		}
	}
	switch {
	case !abandoned && t.err == nil:
		e.Status = pawl.ToolOK
		takeOutput(r, &e, &info, t.out)
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
		}
	case cut == errTimeout:
		e.Status, e.Error = pawl.ToolTimeout, fmt.Sprintf("no result within %v", info.Timeout)
		if t.outOfTime {
			e.Error = "no result before the run's time was over"
		}
		if abandoned {
			e.Error += "; it did not stop when told to and was left behind"
		} else if said := t.partial(); said != "" {
			e.Error = errorText(r, e.Error+"; "+said, &info)
		}
	case cut == errSuspended:
		return
	case info.Effect == pawl.Write:
		r.append(t.at, pawl.ToolDoubted{Call: e.Call, Tool: e.Tool, Why: "it was cut short by cancelling the run; whether it took place is unknown"})
		return
	default:
		e.Status, e.Error = pawl.ToolCancelled, "the run was cancelled"
	}
	r.append(t.at, e)
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

// unknown reports whether a tool cannot tell whether its call took place, as when the connection
// broke after the call was sent.
func unknown(err error) bool {
	u, ok := errors.AsType[interface {
		error
		Unknown() bool
	}](err)
	return ok && u.Unknown()
}

// notRun reports whether an error says that the call did not run and never will.
func notRun(err error) bool {
	n, ok := errors.AsType[interface {
		error
		NotRun() bool
	}](err)
	return ok && n.NotRun()
}

// asked returns what a tool asks a person.
func asked(err error) (pawl.AskPerson, bool) {
	if a, ok := errors.AsType[*pawl.AskPerson](err); ok && a != nil {
		return *a, true
	}
	return errors.AsType[pawl.AskPerson](err)
}

// slack allows for the marker and prefix that a tool adds when it truncates a result itself.
const slack = 256

// maxNesting is how deep a result may nest: the log's limit, less the nesting of its entry.
const maxNesting = wire.MaxDepth - 100

// takeOutput writes a tool's output to e: valid, filtered, and within the tool's cap. Output beyond
// the cap goes to the journal's blobs, if it has any.
func takeOutput(r *recorder, e *pawl.ToolFinished, info *pawl.ToolInfo, out pawl.Output) {
	e.Truncated, e.Untrusted = out.Truncated, out.Untrusted
	for _, i := range out.Images { // the tool may still write to its own copy
		e.Images = append(e.Images, pawl.File{Type: i.Type, Data: bytes.Clone(i.Data)})
	}
	raw := bytes.Clone(out.JSON)
	switch {
	case raw == nil:
		raw = json.RawMessage("null")
	case !wire.Valid(raw, maxNesting):
		raw = wire.Quote(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	raw = r.clean.json(raw)
	if len(raw) > info.MaxOutput+slack && !out.Truncated {
		text := string(raw)
		var inner string
		if json.Unmarshal(raw, &inner) == nil {
			text = inner
		}
		short, cut := display.Cut(text, info.MaxOutput)
		if cut {
			e.Truncated = true
			e.Blob = keepBlob(r, []byte(text))
		}
		raw = wire.Quote(short)
	}
	e.Result = raw
}

// keepBlob stores bytes apart from the log and returns their digest; "" if they could not be
// stored.
func keepBlob(r *recorder, data []byte) string {
	if r.engine.blobs == nil {
		return ""
	}
	digest := digestOf(data)
	if err := r.engine.blobs.PutBlob(context.Background(), digest, data); err != nil {
		r.log(slog.LevelWarn, "the whole of a result could not be kept; its excerpt stands", r.engine.because(err))
		return ""
	}
	return digest
}

// digestOf returns the SHA-256 of data in lower-case hexadecimal.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// errorText returns an error's text for the model, within the tool's cap.
func errorText(r *recorder, text string, info *pawl.ToolInfo) string {
	text = strings.ToValidUTF8(r.clean.text(text), "\uFFFD")
	if len(text) > info.MaxOutput+slack {
		text, _ = display.Cut(text, info.MaxOutput)
	}
	return text
}
