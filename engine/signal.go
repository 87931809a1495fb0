package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/team"
)

// The bodies of signals.
// forRun is the scope of a decision that holds for every equal call of the run.
const forRun = "run"

type (
	answerBody struct {
		Text string `json:"text"`
	}
	resultBody struct {
		Result json.RawMessage `json:"result"`
	}
	settlementBody struct {
		Happened bool            `json:"happened"`
		Result   json.RawMessage `json:"result,omitempty"`
	}
	decisionBody struct {
		Approve bool            `json:"approve"`
		Scope   string          `json:"scope,omitempty"`
		Free    []string        `json:"free,omitempty"`
		Times   int             `json:"times,omitempty"`
		Args    json.RawMessage `json:"args,omitempty"`
		Reason  string          `json:"reason,omitempty"`
	}
	cancelBody struct {
		Reason string `json:"reason"`
	}
)

// Answer answers the question of a call. The answer is durable when Answer returns,
// whichever process owns the run. Repeating it is harmless; another answer is a
// *pawl.SignalConflictError.
func (e *Engine) Answer(ctx context.Context, run, call, by, text string) error {
	return e.post(ctx, run, pawl.SignalAnswer, call, by, answerBody{text}, pawl.PhaseAwaitingInput, nil)
}

// Submit hands in the result of a client tool's call.
func (e *Engine) Submit(ctx context.Context, run, call, by string, result json.RawMessage) error {
	if !json.Valid(result) {
		return fmt.Errorf("the result of %s is not JSON", call)
	}
	return e.post(ctx, run, pawl.SignalResult, call, by, resultBody{result}, pawl.PhaseAwaitingClient, nil)
}

// A Resolution says what a call with an unknown outcome did: [Happened] or [DidNotHappen].
type Resolution struct {
	said, happened bool
	result         json.RawMessage
}

// Happened says that a call took place, with a result that is encoded as JSON; nil is null.
func Happened(result any) Resolution {
	raw, is := result.(json.RawMessage)
	if !is || raw == nil {
		raw, _ = json.Marshal(result) // what cannot be encoded is no valid JSON
	}
	return Resolution{true, true, raw}
}

// DidNotHappen says that a call did not take place. It runs again.
func DidNotHappen() Resolution { return Resolution{said: true} }

// Result returns the result of a call that happened; false: it did not.
func (r Resolution) Result() (json.RawMessage, bool) { return r.result, r.happened }

// Resolve resolves an unknown outcome in the name of the user by. It is refused where
// the wrapper of the call has recorded the outcome. If the call did not take place,
// an attempt that may still start is kept from starting before Resolve returns, where
// its file can be reached.
func (e *Engine) Resolve(ctx context.Context, run, call, by string, r Resolution) error {
	switch {
	case !r.said:
		return fmt.Errorf("the resolution of %s is empty; make it with Happened or DidNotHappen", call)
	case r.happened && !json.Valid(r.result):
		return fmt.Errorf("the result of %s is not JSON", call)
	}
	return e.post(ctx, run, pawl.SignalResolution, call, by, settlementBody{r.happened, r.result}, pawl.PhaseInDoubt, func(_ *pawl.State, c pawl.CallState) error {
		return checkResolution(run, &c, r.happened)
	})
}

// post checks that somebody waits for the signal, and puts it into the inbox.
// A call that was settled by the very same signal before is no error.
// check, unless nil, says what else is wrong with it.
func (e *Engine) post(ctx context.Context, run string, kind pawl.SignalKind, call, by string, body any, waits pawl.Phase, check func(*pawl.State, pawl.CallState) error) error {
	if e.inbox == nil {
		return errors.New("this journal has no inbox, so only the process that drives the run can decide; use a journal on disk")
	}
	s, err := Load(ctx, e.journal, run)
	if err != nil {
		return err
	}
	if s.Internals().Redacted() {
		return fmt.Errorf("run %s: %w", run, ErrRedacted)
	}
	if overForGood(s) {
		return fmt.Errorf("run %s is %v and takes no signals; resume run %s, which called it", run, s.Status().String(), ParentOf(s))
	}
	c, ok := s.Call(call)
	if q, asked := s.Question(); !ok && asked && q.Call == call && kind == pawl.SignalAnswer {
		c, ok = pawl.CallState{Phase: pawl.PhaseAwaitingInput}, true
	}
	if !ok {
		return fmt.Errorf("run %s has no call %s", run, call)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("signal to run %s: %w", run, err)
	}
	letter := pawl.Signal{Run: run, Kind: kind, Request: requestOf(call, &c), By: e.secrets.Scrub(by), Body: e.secrets.JSON(raw)}
	if c.Phase != waits {
		var last *pawl.Signal
		for old, err := range e.inbox.Signals(ctx, run, 0) {
			if err == nil && old.Kind == kind && callOf(old.Request) == call {
				last = &old
			}
		}
		if last != nil && string(last.Body) == string(letter.Body) {
			return nil
		}
		if last != nil {
			return &pawl.SignalConflictError{First: *last}
		}
		return fmt.Errorf("call %s of run %s does not wait for %s: %s", call, run, waitsFor[waits], standing(&c))
	}
	if !c.Expires.IsZero() && time.Now().After(c.Expires) {
		return fmt.Errorf("the request for %s of run %s expired at %s; resuming the run asks again", call, run, c.Expires.UTC().Format(time.RFC3339))
	}
	if check != nil {
		if err := check(s, c); err != nil {
			return err
		}
	}
	return e.send(ctx, letter)
}

// waitsFor says what a call in a phase waits for.
var waitsFor = map[pawl.Phase]string{
	pawl.PhaseAwaitingApproval: "approval",
	pawl.PhaseAwaitingInput:    "an answer",
	pawl.PhaseAwaitingClient:   "a result",
	pawl.PhaseInDoubt:          "a settlement",
}

// standing says where a call stands, and what can be done about it.
func standing(c *pawl.CallState) string {
	switch c.Phase {
	case pawl.PhaseAwaitingApproval:
		return "it waits for approval; approve or deny it"
	case pawl.PhaseAwaitingInput:
		return "it asked a question; answer it"
	case pawl.PhaseAwaitingClient:
		return "it waits for the client; submit its result"
	case pawl.PhaseInDoubt:
		return "whether it took place is unknown; settle it"
	case pawl.PhaseAwaitingChild:
		return "it waits for its own run " + c.Child + "; name that one"
	case pawl.PhaseAnswered:
		return "it has its result"
	}
	return "it waits for nobody; resume the run"
}

// requestOf names what a signal answers: the call, and the entry that asked. What
// is asked again is thereby another request, and the answer to the old one void.
func requestOf(call string, c *pawl.CallState) string {
	return fmt.Sprintf("%s.%d", call, c.Requested)
}

// answers reports whether a signal answers what a call waits for now, and was
// written in time.
func answers(l *pawl.Signal, c *pawl.CallState) bool {
	return l.Request == requestOf(c.ID, c) && (c.Expires.IsZero() || !l.Time.After(c.Expires))
}

// callOf is the call a signal is about.
func callOf(request string) string {
	for i := range request {
		if request[i] == '.' {
			return request[:i]
		}
	}
	return request
}

func (e *Engine) send(ctx context.Context, l pawl.Signal) error {
	l.Time = time.Now().UTC()
	if _, err := e.inbox.Send(ctx, l); err != nil {
		return err
	}
	e.mu.Lock()
	d := e.live[l.Run]
	e.mu.Unlock()
	if d != nil {
		// It may not overtake a signal of another process that is on its way. What
		// cannot be read now is fetched at the next heartbeat.
		_ = e.fetch(ctx, d)
	}
	return nil
}

// Cancel asks a run to end, whichever process drives it. A run without an owner
// ends before Cancel returns, and with it the commands that outlived its last owner on
// this machine.
func (e *Engine) Cancel(ctx context.Context, run, by, reason string) error {
	s, err := Load(ctx, e.journal, run)
	if err != nil {
		return err
	}
	if s.Status().Ended() {
		return fmt.Errorf("run %s is over: %v", run, s.Status())
	}
	if e.inbox == nil {
		return errors.New("this journal has no inbox; end the context that the run was started with")
	}
	raw, err := json.Marshal(cancelBody{reason})
	if err != nil {
		return fmt.Errorf("signal to run %s: %w", run, err)
	}
	if err := e.send(ctx, pawl.Signal{Run: run, Kind: pawl.SignalCancel, Request: cancelRequest(s), By: e.secrets.Scrub(by), Body: e.secrets.JSON(raw)}); err != nil {
		if _, ok := errors.AsType[*pawl.SignalConflictError](err); !ok { // cancelled already, in other words
			return err
		}
	}
	if err := e.cancelIdle(ctx, run, by, reason); err != nil {
		return err
	}
	// A signal is for the epoch it was written in and void after its end. Had
	// the run ended and been resumed before it was posted, it says nothing yet.
	now, err := Load(ctx, e.journal, run)
	if err != nil {
		return err
	}
	if _, handed := team.Handed(now.Verdict()); handed && now.Status().Ended() { // so the request is for the next leg
		return fmt.Errorf("run %s is over: it handed over", run)
	}
	if now.Internals().Epoch() <= s.Internals().Epoch() || now.Status().Ended() {
		return nil
	}
	return e.Cancel(ctx, run, by, reason)
}

// cancelRequest names a request to cancel a run that is in the epoch it is in now.
func cancelRequest(s *pawl.State) string { return fmt.Sprintf("cancel.%d", s.Internals().Epoch()) }

// cancelIdle ends a run that has no owner. Cancelling needs no agent: the
// entries it takes are the same whatever the agent is.
func (e *Engine) cancelIdle(ctx context.Context, run, by, reason string) error {
	d, err := e.claim(ctx, nil, run, &ResumeOptions{})
	if _, ok := errors.AsType[*pawl.HeldError](err); ok {
		return nil // its owner reads the signal within a second
	}
	if err != nil {
		return err
	}
	r := &d.rec
	defer r.lease.release()
	d.inbox.life, r.base = ctx, context.WithoutCancel(ctx) //nolint:fatcontext // set once
	if r.state.Status().Ended() {
		return nil // by itself, before anybody read the signal
	}
	if err := d.children.recover(ctx, pawl.RunResumed{Owner: r.lease.Owner, Epoch: r.lease.Epoch}); err != nil {
		return err
	}
	d.children.settle()
	d.requests.read(d.inbox.take())
	if _, ok := r.state.Cancelled(); !ok { // the signal was read by an owner that did not get to it
		r.appendNow(pawl.CancelRequested{By: e.secrets.Scrub(by), Reason: e.secrets.Scrub(reason)})
	}
	if _, err := endLost(r); err != nil {
		return err
	}
	v, _ := r.state.Cancelled()
	r.appendNow(pawl.Finish{Verdict: v}.Stopped())
	err = r.flush()
	e.left(r.base, run, err)
	if err != nil {
		return err
	}
	r.forgetCalls()
	d.children.wakeParent()
	if e.opt.Abandoned != nil {
		top := r.state
		for parent := ParentOf(top); parent != "" && err == nil; parent = ParentOf(top) {
			top, err = e.loadChild(r.base, parent)
		}
		e.unharmed(func() { e.opt.Abandoned(r.base, e, r.state, top.Declaration().Source) })
	}
	return nil
}

// read turns signals into entries. A signal that nothing waits for any more is dropped.
func (q *requests) read(signals []pawl.Signal) {
	r := q.rec
	for _, l := range signals {
		if l.ID <= r.state.Internals().Signal() {
			continue
		}
		if e := q.event(&l); e != nil {
			r.appendNow(e)
			q.reissue = q.reissue && (l.Kind == pawl.SignalNote || isSaid(&l))
		} else if l.Kind != pawl.SignalChild { // which only wakes
			r.log(slog.LevelDebug, "a signal came too late, or answers nothing", slog.String("request", l.Request), slog.String("by", l.By))
		}
	}
}

// event is the entry that a signal becomes; nil: none.
func (q *requests) event(l *pawl.Signal) pawl.Event {
	r, call := q.rec, callOf(l.Request)
	c, _ := r.state.Call(call)
	waits := func(p pawl.Phase) bool { return c.Phase == p && answers(l, &c) }
	switch l.Kind {
	case pawl.SignalCancel:
		var b cancelBody
		var epoch uint64
		if _, err := fmt.Sscanf(l.Request, "cancel.%d", &epoch); err == nil && epoch <= q.ended {
			return nil // the run ended by itself before it was read
		}
		if json.Unmarshal(l.Body, &b) == nil {
			return pawl.CancelRequested{By: l.By, Reason: r.clean.text(b.Reason), Signal: l.ID}
		}
	case pawl.SignalNote:
		var b noteBody
		if json.Unmarshal(l.Body, &b) == nil {
			return pawl.Noted{By: l.By, Name: r.clean.text(b.Name), Value: r.clean.json(b.Value), Signal: l.ID}
		}
	case pawl.SignalAnswer:
		if isSaid(l) {
			return q.said(l)
		}
		var b answerBody
		question, asked := r.state.Question()
		if (waits(pawl.PhaseAwaitingInput) || asked && question.Call == call) && json.Unmarshal(l.Body, &b) == nil {
			return pawl.InputGiven{Call: call, Text: r.clean.text(b.Text), By: l.By, Signal: l.ID}
		}
	case pawl.SignalResult:
		var b resultBody
		if waits(pawl.PhaseAwaitingClient) && json.Unmarshal(l.Body, &b) == nil {
			return pawl.ClientToolReturned{Call: call, Result: q.handed(c.Tool, b.Result), By: l.By, Signal: l.ID}
		}
	case pawl.SignalResolution:
		var b settlementBody
		if waits(pawl.PhaseInDoubt) && json.Unmarshal(l.Body, &b) == nil {
			return pawl.ToolSettled{Call: call, Happened: b.Happened, Result: q.handed(c.Tool, b.Result), By: l.By, Signal: l.ID}
		}
	case pawl.SignalDecision:
		var b decisionBody
		if waits(pawl.PhaseAwaitingApproval) && json.Unmarshal(l.Body, &b) == nil && checkDecision(r.state, c.Tool, b.decision(l.By)) == nil {
			return q.decided(c, b.decision(l.By), l.ID)
		}
	}
	return nil
}

// answered reports whether one of the signals is worth claiming the run again for.
// A driver that must release the run claims it only to cancel it.
func (q *requests) answered(signals []pawl.Signal, suspend bool) bool {
	for _, l := range signals {
		if l.Kind == pawl.SignalChild && !suspend {
			return q.rec.state.Waits(pawl.PhaseAwaitingChild)
		}
		if e := q.event(&l); e != nil && l.Kind != pawl.SignalNote && !isSaid(&l) && (!suspend || l.Kind == pawl.SignalCancel) {
			return true
		}
	}
	return false
}

// handed is a result that somebody hands in for a call of a tool: filtered, and
// within the cap that the tool would be held to. The whole stays in the signal.
func (q *requests) handed(tool string, raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	info := pawl.ToolInfo{Name: tool, MaxOutput: 16 << 10}
	for _, t := range q.rec.state.Declaration().Tools {
		if t.Name == tool {
			info = t
		}
	}
	var e pawl.ToolFinished
	takeOutput(q.rec, &e, &info, pawl.Output{JSON: raw})
	return e.Result
}

// answerKind is the kind of signal that answers a pending request.
var answerKind = map[string]pawl.SignalKind{
	"approval": pawl.SignalDecision, "input": pawl.SignalAnswer, "client_tool": pawl.SignalResult, "doubt": pawl.SignalResolution,
}

// MarkAnswered marks the requests in a list from [Pending] that a signal in the inbox answers
// already, although no owner has turned the signal into an entry yet. Resuming the run does
// so. Until then the run still waits, since the log is the only truth about it.
func MarkAnswered(ctx context.Context, j pawl.Journal, list []pawl.Pending) error {
	mail, ok := j.(pawl.Inbox)
	if !ok {
		return nil
	}
	looked := map[string]bool{}
	for _, p := range list {
		if looked[p.Run] {
			continue
		}
		looked[p.Run] = true
		s, err := Load(ctx, j, p.Run)
		if err != nil {
			return err
		}
		for l, err := range mail.Signals(ctx, p.Run, s.Internals().Signal()) {
			if err != nil {
				return err
			}
			markAnswered(s, &l, list)
		}
	}
	return nil
}

func markAnswered(s *pawl.State, l *pawl.Signal, list []pawl.Pending) {
	call := callOf(l.Request)
	c, _ := s.Call(call)
	q, asked := s.Question()
	for i := range list {
		p := &list[i]
		if p.Run == l.Run && p.Call == call && answerKind[p.Kind] == l.Kind && (answers(l, &c) || asked && q.Call == call && p.Kind == "input") {
			at := l.Time
			p.AnsweredAt, p.AnsweredBy = &at, l.By
		}
	}
}

// Signalled reports whether a waiting or paused run would continue if it were resumed, because its
// inbox, or that of a child run, has an unread signal: an answer to a pending request, or a
// request to cancel the run.
func Signalled(ctx context.Context, j pawl.Journal, run string) (bool, error) {
	mail, ok := j.(pawl.Inbox)
	if !ok {
		return false, nil
	}
	s, err := Load(ctx, j, run)
	if err != nil {
		return false, err
	}
	return signalled(ctx, &Engine{journal: j, inbox: mail}, s)
}

func signalled(ctx context.Context, e *Engine, s *pawl.State) (bool, error) {
	if s.Seq() == 0 || s.Status().Ended() {
		return false, nil
	}
	list := s.Result().Pending
	for l, err := range e.inbox.Signals(ctx, s.Run(), s.Internals().Signal()) {
		if err != nil {
			return false, err
		}
		if l.Kind == pawl.SignalCancel && l.Request == cancelRequest(s) {
			return true, nil
		}
		markAnswered(s, &l, list)
	}
	if slices.ContainsFunc(list, func(p pawl.Pending) bool { return p.AnsweredAt != nil }) {
		return true, nil
	}
	// An owner that is shut down may pause the run before it has resumed a child.
	for _, c := range begun(s, pawl.PhaseStarted, pawl.PhaseLost, pawl.PhaseAwaitingChild) {
		child, err := e.loadChild(ctx, c.Child)
		if err != nil {
			return false, err
		}
		if call, _ := s.Call(c.Call.ID); child.Status().Ended() && call.Phase != pawl.PhaseAnswered {
			return true, nil
		}
		if ok, err := signalled(ctx, e, child); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
