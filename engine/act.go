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
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/internal/jsonin"
	"github.com/pawl-run/pawl/internal/sabotage"
	"github.com/pawl-run/pawl/internal/wire"
)

// act settles a batch: everything but the runs is appended first, then the
// runs start, group by group. Each call's intent is durable before it runs, and
// a finished call is durable while its siblings still run.
func (s *session) act(at uint64, a pawl.Act) error {
	it := s.state.Iteration()
	for i := range a.Calls {
		if d := &a.Calls[i]; d.Do == pawl.Reuse && d.Info().Effect == pawl.Idempotent && sabotage.On(sabotage.Reuse) {
			d.Do = pawl.RunCall
		}
		switch d := &a.Calls[i]; d.Do {
		case pawl.RunCall:
		case pawl.Ask:
			s.append(at, it, s.ask(d))
		default:
			if d.Do != pawl.Hand || s.holds(at, d) {
				s.append(at, it, d.Facts()...)
			}
		}
	}
	if len(a.Calls) == 1 && a.Calls[0].Do == pawl.RunCall {
		if s.overdue(at, &a.Calls[0]) {
			return nil
		}
		return s.runGroup(at, a.Calls)
	}
	for i, group := range groups(s.m.Agent().Serial, a) {
		if cancel, park := s.called(); cancel || park {
			return nil
		}
		// What came of the group before is shown to the hooks before this one begins.
		if seq, err := s.state.Seq(), s.askHooks(); err != nil || s.state.Seq() != seq {
			return err
		}
		if s.overdue(at, &group[0]) || i > 0 && spends(group) {
			return nil
		}
		if err := s.runGroup(at, group); err != nil {
			return err
		}
	}
	return nil
}

// overdue reports whether the run's time is over. The machine goes by the log, so
// when the log does not say it yet, the call whose turn it is says it.
func (s *session) overdue(at uint64, d *pawl.Disposed) bool {
	if s.left(time.Now()) > 0 {
		return false
	}
	if s.state.Elapsed() < s.state.Limits().Time {
		s.append(at, s.state.Iteration(), d.NotRun())
	}
	return true
}

// spends reports whether a call of the group spends tokens. What it may spend was
// decided before the groups in front of it spent theirs, so it is decided again.
func spends(group []pawl.Disposed) bool {
	return slices.ContainsFunc(group, func(d pawl.Disposed) bool { return d.Child != "" })
}

// job is a tool call in flight.
type job struct {
	flight    flight // when it has no siblings
	d         *pawl.Disposed
	at        uint64
	intent    uint64
	tool      pawl.Tool
	child     *child // when the call is a run of its own
	inv       pawl.Invocation
	earlier   func(call string) (string, bool)
	began     time.Time
	deadline  time.Time
	outOfTime bool // the deadline is the run's, not the tool's
	out       pawl.Output
	err       error

	slot slot
	ctx  effectContext // when it has siblings
	cut  error         // why it was told to stop
	over bool
}

// runGroup runs calls beside each other. One that is alone runs on this goroutine
// if the process has room for it, which is what makes a turn cheap.
func (s *session) runGroup(at uint64, calls []pawl.Disposed) error {
	if len(calls) == 1 {
		if j, now, err := s.single(at, &calls[0]); j != nil {
			if err = s.fly(&j.flight, now); err == nil {
				s.spareJob = j // not of a call left behind: its goroutine still has it
			}
			return err
		} else if err != errCrowded {
			return err
		}
	}
	return s.gather(at, calls)
}

// errCrowded is why a call cannot start yet.
var errCrowded = errors.New("too many calls are in flight in this process")

// single makes a call ready to fly from now on, its intent durable; nil: it is not
// to be run, or not yet. It is kept out of line: what it needs would stand on the
// stack while the tool works.
//
//go:noinline
func (s *session) single(at uint64, d *pawl.Disposed) (*job, time.Time, error) {
	j := s.spareJob
	if s.spareJob = nil; j == nil {
		j = new(job)
	}
	*j = job{d: d, at: at, slot: s.slot(d)}
	if !j.slot.try() {
		return nil, time.Time{}, errCrowded
	}
	ready := false
	defer func() {
		if !ready { // also when code of the tool panics
			j.slot.free()
		}
	}()
	if !s.holds(at, d) {
		return nil, time.Time{}, nil
	}
	left := s.left(time.Now()) // as the entries have it: making them durable may take long
	s.intend(j, left)
	if err := s.announce(); err != nil {
		return nil, time.Time{}, err
	}
	now := time.Now()
	j.due(now, left)
	ready = true
	return j, now, nil
}

// intend appends the intent to run a call.
func (s *session) intend(j *job, left time.Duration) {
	d, it := j.d, s.state.Iteration()
	j.tool, _, _ = s.m.Tool(d.Call.Tool)
	j.inv = pawl.Invocation{Run: s.lease.Run, Call: d.Call.ID, Tool: d.Call.Tool, Args: bytes.Clone(d.Call.Args), Key: d.Key, Attempt: s.state.Attempts(d.Call.ID) + 1, Supervised: supervised(j.tool)}
	if _, ok := j.tool.(pawl.Recaller); ok {
		j.earlier = s.earlier()
	}
	if sabotage.On(sabotage.Key) {
		j.inv.Key += fmt.Sprint(".", j.inv.Attempt)
	}
	if d.Child == "" || j.inv.Attempt == 1 { // a child is taken up again, which is no new attempt at the call
		s.append(j.at, it, started(j))
	}
	if d.Child != "" {
		if j.inv.Attempt == 1 {
			d.Limits.Time = min(d.Limits.Time, max(time.Millisecond, left.Truncate(time.Millisecond)))
		}
		if e := s.child(j); e != nil {
			s.append(j.at, it, e)
		}
	}
	j.intent = s.state.Seq()
}

// announce makes intents durable.
func (s *session) announce() error {
	if sabotage.On(sabotage.Intent) {
		return nil
	}
	return s.flush()
}

// due sets when a call that starts now is to be over.
func (j *job) due(now time.Time, left time.Duration) {
	limit := j.d.Info().Timeout
	switch {
	case j.child != nil:
		limit = childTime
	case left < limit:
		limit, j.outOfTime = left, true
	}
	j.began, j.deadline = now, now.Add(limit)
	j.flight = flight{effect: j, limit: limit, grace: grace(j.tool), sheltered: j.sheltered(), intent: j.intent}
}

// started is the intent to run a call.
func started(j *job) pawl.Event {
	c := &j.d.Call
	return pawl.ToolStarted{Call: c.ID, Tool: c.Tool, Args: c.Args, Effect: j.d.Info().Effect, Key: j.d.Key, Attempt: j.inv.Attempt, Supervised: j.inv.Supervised}
}

// supervised is what a tool says of who watches its next attempt.
func supervised(t pawl.Tool) string {
	if w, ok := t.(interface{ Supervised() string }); ok {
		return w.Supervised()
	}
	return ""
}

// perform runs the tool.
func (j *job) perform(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			j.out, j.err = pawl.Output{}, fmt.Errorf("the tool panicked: %v", p)
		}
	}()
	j.err = errExited // until the tool returns
	if r, ok := j.tool.(pawl.Recaller); ok {
		j.out, j.err = r.Recall(ctx, j.inv, j.earlier)
		return
	}
	j.out, j.err = j.tool.Run(ctx, j.inv)
}

// depart runs the tool beside its siblings.
func (j *job) depart(ctx context.Context, done chan<- *job) {
	j.ctx.within(ctx, j.inv.Run, j.inv.Tool)
	go func() {
		defer func() { done <- j }() // also when the tool ends this goroutine
		j.perform(&j.ctx)
	}()
}

// earlier is how a tool reads what earlier calls brought, as the run stands now.
func (s *session) earlier() func(string) (string, bool) {
	state := s.state
	return func(call string) (string, bool) {
		c, ok := state.Call(call)
		for recent := range state.Recent() {
			if !ok && recent.Ref == call { // which is what its provider calls it
				c, ok = recent, true
			}
		}
		if !ok || !c.OK() {
			return "", false
		}
		if s.engine.blobs != nil && c.Blob != "" {
			if whole, err := s.engine.blobs.Blob(s.base, c.Blob); err == nil {
				return string(whole), true
			} // else it was removed, and the excerpt is all there is
		}
		return pawl.ToolResult{Content: c.Result}.Text(), true
	}
}

// record appends what came of a call that has no siblings.
func (j *job) record(s *session, cut error, left bool) {
	s.finished(j, cut, left)
}

// sheltered reports whether parking lets the call finish. A run of its own is
// parked with its parent.
func (j *job) sheltered() bool { return j.d.Info().Effect == pawl.Write && j.child == nil }

// grace is how long a tool may take to notice that its call is over. A tool
// that needs longer, as a command does between TERM and KILL, says so.
func grace(t pawl.Tool) time.Duration {
	if g, ok := t.(interface{ Grace() time.Duration }); ok {
		return g.Grace()
	}
	return time.Second
}

// finished appends what came of a job. A call that
// was cut short for parking and may be driven again leaves no trace: resuming
// finds it lost. Of a job that was left behind nothing may be read.
func (s *session) finished(j *job, cut error, left bool) {
	j.slot.free()
	e := pawl.ToolFinished{Call: j.d.Call.ID, Tool: j.d.Call.Tool, Duration: time.Since(j.began).Truncate(time.Millisecond), Abandoned: left}
	info := j.d.Info()
	write := info.Effect == pawl.Write
	if left {
		s.log(slog.LevelWarn, "a tool did not stop when told to and was left behind", slog.String("call", e.Call), slog.String("tool", e.Tool))
	}
	if j.child != nil {
		if !s.childStopped(j, cut) {
			return
		}
		cut = nil // it has ended by itself, whatever it was told meanwhile
	}
	if !left && cut == nil && s.engine.lasting() {
		if question, asks := asked(j.err); asks {
			s.append(j.at, s.state.Iteration(), pawl.InputRequested{Call: e.Call, Question: s.told(question, &info)})
			return
		}
	}
	switch {
	case !left && j.err == nil:
		e.Status = pawl.ToolOK
		s.result(&e, &info, j.out)
	case !left && cut != errParked && notRun(j.err):
		if e.Status = pawl.ToolFailed; cut == errCancelled {
			e.Status = pawl.ToolCancelled
		}
		e.Error = s.told(j.err.Error(), &info)
	case cut == nil:
		e.Status, e.Error = pawl.ToolFailed, s.told(j.err.Error(), &info)
		switch {
		case errors.Is(j.err, context.DeadlineExceeded):
			e.Status = pawl.ToolTimeout
		case write && unknown(j.err):
			e.Status = pawl.ToolUnknown
		}
	case cut == errTimeout:
		e.Status, e.Error = pawl.ToolTimeout, fmt.Sprintf("no result within %v", j.d.Info().Timeout)
		if j.outOfTime {
			e.Error = "no result before the run's time was over"
		}
		if left {
			e.Error += "; it did not stop when told to and was left behind"
		}
	case cut == errParked:
		return
	case write:
		s.append(j.at, s.state.Iteration(), pawl.ToolDoubted{Call: e.Call, Tool: e.Tool, Why: "it was cut short by cancelling the run; whether it took place is unknown"})
		return
	default:
		e.Status, e.Error = pawl.ToolCancelled, "the run was cancelled"
	}
	s.append(j.at, s.state.Iteration(), e)
}

// unknown reports whether a tool says that it cannot tell whether its call took
// place, as one does that lost the other side after it had sent the call.
func unknown(err error) bool {
	u, ok := errors.AsType[interface {
		error
		Unknown() bool
	}](err)
	return ok && u.Unknown()
}

// notRun reports whether a tool says that nothing of its call was done, and that
// nothing will be.
func notRun(err error) bool {
	n, ok := errors.AsType[interface {
		error
		NotRun() bool
	}](err)
	return ok && n.NotRun()
}

// asked is the question of a tool that wants a person asked.
func asked(err error) (question string, ok bool) {
	if a, ok := errors.AsType[pawl.AskPerson](err); ok {
		return a.Question, true
	}
	if a, ok := errors.AsType[*pawl.AskPerson](err); ok && a != nil {
		return a.Question, true
	}
	return "", false
}

// slack spares what a tool cut to size itself: the marker and a prefix come on top.
const slack = 256

// mostNesting is how deep a result may nest: the log's limit, less what stands around it.
const mostNesting = wire.MaxDepth - 100

// result takes a tool's output in: valid, filtered, and within its cap. What
// is beyond the cap goes to the journal's blobs, where it has any.
func (s *session) result(e *pawl.ToolFinished, info *pawl.ToolInfo, out pawl.Output) {
	e.Truncated = out.Truncated
	for _, i := range out.Images { // the tool may go on writing into its own
		e.Images = append(e.Images, pawl.Image{Type: i.Type, Data: bytes.Clone(i.Data)})
	}
	raw := bytes.Clone(out.JSON)
	switch {
	case raw == nil:
		raw = json.RawMessage("null")
	case !wire.Valid(raw, mostNesting):
		raw = jsonin.Quote(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	raw = s.filterJSON(raw)
	if len(raw) > info.MaxOutput+slack && !out.Truncated {
		text := string(raw)
		var inner string
		if json.Unmarshal(raw, &inner) == nil {
			text = inner
		}
		short, cut := excerpt.Cut(text, info.MaxOutput)
		if cut {
			e.Truncated = true
			e.Blob = s.keep([]byte(text))
		}
		raw = jsonin.Quote(short)
	}
	e.Result = raw
}

// keep stores bytes apart from the log and returns their digest; empty when
// they could not be kept.
func (s *session) keep(data []byte) string {
	if s.engine.blobs == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	if err := s.engine.blobs.PutBlob(context.Background(), digest, data); err != nil {
		s.log(slog.LevelWarn, "the whole of a result could not be kept; its excerpt stands", s.engine.because(err))
		return ""
	}
	return digest
}

// told is an error's text for the model, within the tool's cap.
func (s *session) told(text string, info *pawl.ToolInfo) string {
	text = strings.ToValidUTF8(s.filter(text), "\uFFFD")
	if len(text) > info.MaxOutput+slack {
		text, _ = excerpt.Cut(text, info.MaxOutput)
	}
	return text
}
