package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/team"
)

// Answer answers the question of a call. The answer is durable when Answer returns,
// whichever process owns the run. Repeating it is harmless; another answer is a
// *pawl.SignalConflictError.
func (e *Engine) Answer(ctx context.Context, run, call, by, text string) error {
	return e.post(ctx, run, pawl.SignalAnswer, call, by, signalBody{Text: text}, pawl.PhaseAwaitingInput, nil)
}

// Submit hands in the result of a client tool's call.
func (e *Engine) Submit(ctx context.Context, run, call, by string, result json.RawMessage) error {
	if !json.Valid(result) {
		return fmt.Errorf("the result of %s is not JSON", call)
	}
	return e.post(ctx, run, pawl.SignalResult, call, by, signalBody{Result: result}, pawl.PhaseAwaitingClient, nil)
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
	return e.post(ctx, run, pawl.SignalResolution, call, by, signalBody{Happened: &r.happened, Result: r.result}, pawl.PhaseInDoubt, func(_ *pawl.State, c pawl.CallState) error {
		return checkResolution(run, &c, r.happened)
	})
}

// CancelCall ends one call of a run in the name of the user by, whichever process drives the run. The model
// reads by and reason. A call that has not started does not run. The outcome of a Write that has started
// is unknown. A suspended run ends the call when it is resumed.
func (e *Engine) CancelCall(ctx context.Context, run, call, by, reason string) error {
	return e.post(ctx, run, pawl.SignalCancelCall, call, by, signalBody{Reason: reason}, 0, nil)
}

// post checks that somebody waits for the signal, and puts it into the inbox. If waits is zero, the signal is
// for any call that is not over.
// A call that was settled by the very same signal before is no error.
// check, unless nil, says what else is wrong with it.
func (e *Engine) post(ctx context.Context, run string, kind pawl.SignalKind, call, by string, body signalBody, waits pawl.Phase, check func(*pawl.State, pawl.CallState) error) error {
	s, err := e.receiver(ctx, run)
	if err != nil {
		return err
	}
	if overForGood(s) {
		return fmt.Errorf("run %s is %v and takes no signals; resume run %s, which called it", run, s.Status().String(), ParentOf(s))
	}
	if waits == 0 && s.Status().Ended() {
		return fmt.Errorf("run %s is over: %v", run, s.Status())
	}
	c, ok := s.Call(call)
	if q, asked := s.Question(); !ok && asked && q.Call == call && kind == pawl.SignalAnswer {
		c, ok = pawl.CallState{Phase: pawl.PhaseAwaitingInput}, true
	}
	if !ok {
		return fmt.Errorf("run %s has no call %s", run, call)
	}
	letter := e.letter(run, kind, requestOf(call, &c), by, body)
	if c.Phase != waits && (waits != 0 || !cancellable(&c)) {
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
		if waits == 0 {
			return fmt.Errorf("call %s of run %s cannot be cancelled: %s", call, run, standing(&c))
		}
		return fmt.Errorf("call %s of run %s does not wait for %s: %s", call, run, awaited[waits].what, standing(&c))
	}
	if waits != 0 && !c.Expires.IsZero() && time.Now().After(c.Expires) {
		return fmt.Errorf("the request for %s of run %s expired at %s; resuming the run asks again", call, run, c.Expires.UTC().Format(time.RFC3339))
	}
	if check != nil {
		if err := check(s, c); err != nil {
			return err
		}
	}
	_, err = e.send(ctx, letter)
	return err
}

// receiver returns a run to which a signal is to be sent.
func (e *Engine) receiver(ctx context.Context, run string) (*pawl.State, error) {
	if e.inbox == nil {
		return nil, errors.New("this journal has no inbox, so only the process that drives a run can reach it; use a journal on disk")
	}
	s, err := Load(ctx, e.journal, run)
	if err == nil && s.Internals().Redacted() {
		err = fmt.Errorf("run %s: %w", run, ErrRedacted)
	}
	return s, err
}

// letter returns a signal without secrets.
func (e *Engine) letter(run string, kind pawl.SignalKind, request, by string, body signalBody) pawl.Signal {
	raw, _ := json.Marshal(body) // its parts are texts and valid JSON
	return pawl.Signal{Run: run, Kind: kind, Request: request, By: e.secrets.Scrub(by), Body: e.secrets.JSON(raw)}
}

// awaited says what a call in a phase waits for, and what can be done about it.
var awaited = map[pawl.Phase]struct{ what, todo string }{
	pawl.PhaseAwaitingApproval: {"approval", "it waits for approval; approve or deny it"},
	pawl.PhaseAwaitingInput:    {"an answer", "it asked a question; answer it"},
	pawl.PhaseAwaitingClient:   {"a result", "it waits for the client; submit its result"},
	pawl.PhaseInDoubt:          {"a settlement", "whether it took place is unknown; settle it"},
	pawl.PhaseAnswered:         {todo: "it has its result"},
}

// standing says where a call stands, and what can be done about it.
func standing(c *pawl.CallState) string {
	if c.Phase == pawl.PhaseAwaitingChild {
		return "it waits for its own run " + c.Child + "; name that one"
	}
	return cmp.Or(awaited[c.Phase].todo, "it waits for nobody; resume the run")
}

// send puts a signal into the inbox of its run, and returns its ID.
func (e *Engine) send(ctx context.Context, l pawl.Signal) (int64, error) {
	l.Time = time.Now().UTC()
	sent, err := e.inbox.Send(ctx, l)
	if err != nil {
		return 0, err
	}
	e.mu.Lock()
	d := e.live[l.Run]
	e.mu.Unlock()
	if d != nil {
		// It may not overtake a signal of another process that is on its way. What
		// cannot be read now is fetched at the next heartbeat.
		_ = e.fetch(ctx, d)
	}
	return sent.ID, nil
}

// Cancel asks a run to end, whichever process drives it. A run without an owner
// ends before Cancel returns, and with it the commands that outlived its last owner on
// this machine.
func (e *Engine) Cancel(ctx context.Context, run, by, reason string) error {
	s, err := e.receiver(ctx, run)
	if err == nil && s.Status().Ended() {
		err = fmt.Errorf("run %s is over: %v", run, s.Status())
	}
	if err != nil {
		return err
	}
	_, err = e.send(ctx, e.letter(run, pawl.SignalCancel, cancelRequest(s), by, signalBody{Reason: reason}))
	if err != nil && !errors.As(err, new(*pawl.SignalConflictError)) { // else it was cancelled already, in other words
		return err
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
	if r.state.Status().Ended() {
		return nil // by itself, before anybody read the signal
	}
	if err := d.effects.children.recover(ctx, pawl.RunResumed{Owner: r.lease.Owner, Epoch: r.lease.Epoch}); err != nil {
		return err
	}
	d.effects.children.settle()
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
	e.wakeParent(r)
	if e.opt.Abandoned != nil {
		top := r.state
		for parent := ParentOf(top); parent != "" && err == nil; parent = ParentOf(top) {
			top, err = e.loadChild(r.base, parent)
		}
		e.unharmed(func() { e.opt.Abandoned(r.base, e, r.state, top.Declaration().Source) })
	}
	return nil
}

// answerKind is the kind of signal that answers a pending request.
var answerKind = map[string]pawl.SignalKind{
	"approval": pawl.SignalDecision, "input": pawl.SignalAnswer, "client_tool": pawl.SignalResult, "doubt": pawl.SignalResolution,
}

// MarkAnswered marks the requests in a list from [Pending] of a state that a signal in the inbox answers
// already, although no owner has turned the signal into an entry yet. Resuming the run does
// so. Until then the run still waits, since the log is the only truth about it.
func MarkAnswered(ctx context.Context, j pawl.Journal, of *pawl.State, list []pawl.Pending) error {
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
		s := of
		if p.Run != of.Run() {
			var err error
			if s, err = Load(ctx, j, p.Run); err != nil {
				return err
			}
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
	call, named := callOf(l.Request), awaiting(s, l)
	if named != "" {
		call = named
	}
	c, _ := s.Call(call)
	q, asked := s.Question()
	for i := range list {
		p := &list[i]
		if p.Run == l.Run && p.Call == call && answerKind[p.Kind] == l.Kind && (named != "" || answers(l, &c) || asked && q.Call == call && p.Kind == "input") {
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
	return signalled(ctx, &host{journal: j, inbox: mail}, s)
}

func signalled(ctx context.Context, h *host, s *pawl.State) (bool, error) {
	if s.Seq() == 0 || s.Status().Ended() {
		return false, nil
	}
	list := s.Result().Pending
	for l, err := range h.inbox.Signals(ctx, s.Run(), s.Internals().Signal()) {
		if err != nil {
			return false, err
		}
		if l.Kind == pawl.SignalCancel && l.Request == cancelRequest(s) {
			return true, nil
		}
		if c, _ := s.Call(callOf(l.Request)); l.Kind == pawl.SignalCancelCall && cancellable(&c) {
			return true, nil
		}
		markAnswered(s, &l, list)
	}
	if slices.ContainsFunc(list, func(p pawl.Pending) bool { return p.AnsweredAt != nil }) {
		return true, nil
	}
	// An owner that is shut down may pause the run before it has resumed a child.
	for _, c := range begun(s, pawl.PhaseStarted, pawl.PhaseLost, pawl.PhaseAwaitingChild) {
		child, err := h.loadChild(ctx, c.Child)
		if err != nil {
			return false, err
		}
		if call, _ := s.Call(c.Call.ID); child.Status().Ended() && call.Phase != pawl.PhaseAnswered {
			return true, nil
		}
		if ok, err := signalled(ctx, h, child); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// Approve approves a held call in the name of the user by. The approval is durable
// when Approve returns, whichever process owns the run. Repeating it is harmless;
// after a different decision Approve fails with a *pawl.SignalConflictError.
func (e *Engine) Approve(ctx context.Context, run, call, by string, o *ApproveOptions) error {
	o = cmp.Or(o, &ApproveOptions{})
	body := signalBody{Approve: new(true), Reach: o.Reach, Args: o.Args}
	if !body.Stands() {
		body.Scope = ""
	}
	return e.decide(ctx, run, call, by, body, o.Token, o.TokenHash)
}

// Deny denies a held call in the name of the user by. The model reads the reason. It
// fails as [Engine.Approve] does.
func (e *Engine) Deny(ctx context.Context, run, call, by, reason string, o *DenyOptions) error {
	o = cmp.Or(o, &DenyOptions{})
	return e.decide(ctx, run, call, by, signalBody{Approve: new(false), Reason: reason}, o.Token, o.TokenHash)
}

func (e *Engine) decide(ctx context.Context, run, call, by string, body signalBody, token, hash string) error {
	return e.post(ctx, run, pawl.SignalDecision, call, by, body, pawl.PhaseAwaitingApproval, func(s *pawl.State, c pawl.CallState) error {
		if !fits(c.TokenHash, token) || hash != "" && hash != c.TokenHash {
			return fmt.Errorf("the token does not match the request for %s of run %s; use the token that was printed when the run was last suspended, or none if you have its database; pawl resume makes a new token", call, run)
		}
		return e.checkDecision(s, c.Tool, body.decision(by))
	})
}

// SayOptions are the options of [Engine.Say]; nil is the zero value.
type SayOptions struct {
	// After has the model read the message when it would be done, instead of before its next turn.
	After bool
	// Signal names what the message says. If a call waits for a signal of that name (see [tool.Wait]),
	// the message is its answer, and a suspended run can be resumed; see [Signalled].
	Signal string
	// Key makes a repeat of the message the same message: it is read once. Empty: each is
	// another.
	Key string
}

// Say sends a message of the user by to a run that runs or waits, whichever process drives it.
// The message is durable when Say returns, and read once, in the order sent. A suspended run
// reads it when it is resumed, and a message does not resume it. It fails for a run that has
// ended, also if that happened before the run read the message.
func (e *Engine) Say(ctx context.Context, run, by, text string, o *SayOptions) error {
	o = cmp.Or(o, &SayOptions{})
	request := sayRequest + rand.Text()
	if o.Key != "" {
		request = sayRequest + derivedID("say", o.Key)
	}
	if strings.TrimSpace(text) == "" {
		return errors.New("the message is empty; give a text")
	}
	s, err := e.receiver(ctx, run)
	if err != nil {
		return err
	}
	if s.Status().Ended() {
		return fmt.Errorf("run %s is over: %v; to continue, start a run in its thread, or fork it with the message as the input", run, s.Status())
	}
	sent, err := e.send(ctx, e.letter(run, pawl.SignalAnswer, request, by, signalBody{Text: text, After: o.After, Signal: o.Signal}))
	if err != nil {
		return err
	}
	return e.heard(ctx, run, sent)
}

// heard waits until the owner of a run must have seen a message, and returns why the run will not
// read it; nil: it will. Owners look for signals every readEvery.
func (e *Engine) heard(ctx context.Context, run string, id int64) error {
	if e.Live(run) != nil { // so send has delivered it
		return nil
	}
	for end := time.Now().Add(3 * readEvery); ; {
		h, err := e.head(ctx, run)
		switch {
		case err != nil:
			return err
		case h.Status.Ended():
			s, err := Load(ctx, e.journal, run)
			if err != nil || s.Internals().Signal() >= id {
				return err
			}
			return fmt.Errorf("run %s ended as %v before it read the message", run, h.Status)
		case h.Status != pawl.StatusRunning || !owned(h) || time.Now().After(end):
			return nil
		}
		if e.pause(ctx, readEvery/20) != nil {
			return nil //nolint:nilerr // the message is sent
		}
	}
}

// Note adds a note to the log of a run, in the name of by, whichever process drives the
// run. The note is durable when Note returns. Its owner records it as [pawl.Noted] before
// the next step; a suspended run records it when it is resumed, and a note does not resume
// it. Policies and conditions read it by [pawl.State.Note]. It fails for a run that has
// ended. The value must encode as JSON.
func (e *Engine) Note(ctx context.Context, run, by, name string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("note %q: %w", name, err)
	}
	if name == "" || by == "" || strings.HasPrefix(by, "__") || strings.HasPrefix(by, "hook ") {
		return fmt.Errorf("note %q by %q: a note has a name and an author, which does not begin with __ or \"hook \"", name, by)
	}
	s, err := e.receiver(ctx, run)
	if err == nil && s.Status().Ended() {
		err = fmt.Errorf("run %s is over: %v", run, s.Status())
	}
	if err != nil {
		return err
	}
	_, err = e.send(ctx, e.letter(run, pawl.SignalNote, "note."+rand.Text(), by, signalBody{Name: name, Value: raw}))
	return err
}
