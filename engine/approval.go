package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/wire"
)

// ApproveOptions are the optional parts of an approval.
type ApproveOptions struct {
	// ForRun also approves later calls of the run with equal arguments.
	ForRun bool
	// Free names arguments that may differ in the later calls, up to Times of them. An
	// argument that the tool declares as [pawl.ToolInfo].Reaches cannot be free.
	Free []string
	// Times is the number of later calls that ForRun approves; 0: any number.
	Times int
	// Args replaces the call's arguments; nil: unchanged. They are checked against
	// the tool's schema, and the model reads that they were changed.
	Args json.RawMessage
	// Token, unless empty, must be the token of the request.
	Token string
	// TokenHash, unless empty, must be the hash of the request's token. It names the
	// request, so that a later one is not approved by mistake.
	TokenHash string
}

// DenyOptions are the optional parts of a denial.
type DenyOptions struct {
	Token, TokenHash string // as in [ApproveOptions]
}

// A Decision is what an [Approver] decides about a request.
type Decision struct {
	Approve bool
	ForRun  bool            // as in [ApproveOptions]
	Free    []string        // as in [ApproveOptions]
	Times   int             // as in [ApproveOptions]
	Args    json.RawMessage // as in [ApproveOptions]
	Reason  string          // of a denial, for the model
	By      string          // the user who decided; empty: approver
}

// An Approver decides about held calls in the process that drives their run, such as
// a prompt at a terminal. It is called for one call of a run at a time, while the run
// counts as waiting: a decision from elsewhere ends its context and takes precedence. An error, a panic and no answer
// within Options.Patience deny the call; ErrLater leaves it to others.
type Approver interface {
	Approve(ctx context.Context, r Request) (Decision, error)
}

// ApproverFunc makes an Approver of a function.
type ApproverFunc func(context.Context, Request) (Decision, error)

// Approve calls f.
func (f ApproverFunc) Approve(ctx context.Context, r Request) (Decision, error) { return f(ctx, r) }

// ErrLater is returned by an [Approver] that does not decide now: the run is
// suspended and waits for a decision.
var ErrLater = errors.New("the decision is left to others")

// A Request describes a held call to an [Approver]. It is a copy.
type Request struct {
	Run, Agent, Call, Tool string

	Args      json.RawMessage
	Reason    string            // the rule that requires approval, and what changed since an earlier request
	Witnesses map[string]string // the call's preconditions: digests by name
	Expires   time.Time
	Iteration int
	Thought   string // the model's text with the call
}

// preconditioned is a tool that returns the preconditions of a call: digests of what it
// relies on, such as files or a working directory. A decision about the call holds as
// long as they stay the same.
type preconditioned interface {
	Witness(ctx context.Context, args json.RawMessage) (map[string]string, error)
}

// preconditionTime bounds how long reading the preconditions of one call may take.
const preconditionTime = 10 * time.Second

// Approve approves a held call in the name of the user by. The approval is durable
// when Approve returns, whichever process owns the run. Repeating it is harmless;
// after a different decision Approve fails with a *pawl.SignalConflictError.
func (e *Engine) Approve(ctx context.Context, run, call, by string, o *ApproveOptions) error {
	if o == nil {
		o = &ApproveOptions{}
	}
	body := decisionBody{Approve: true, Args: o.Args, Free: o.Free, Times: o.Times}
	if o.ForRun {
		body.Scope = forRun
	}
	return e.decide(ctx, run, call, by, body, o.Token, o.TokenHash)
}

// Deny denies a held call in the name of the user by. The model reads the reason. It
// fails as [Engine.Approve] does.
func (e *Engine) Deny(ctx context.Context, run, call, by, reason string, o *DenyOptions) error {
	if o == nil {
		o = &DenyOptions{}
	}
	return e.decide(ctx, run, call, by, decisionBody{Reason: reason}, o.Token, o.TokenHash)
}

func (e *Engine) decide(ctx context.Context, run, call, by string, body decisionBody, token, hash string) error {
	return e.post(ctx, run, pawl.SignalDecision, call, by, body, pawl.PhaseAwaitingApproval, func(s *pawl.State, c pawl.CallState) error {
		if !fits(c.TokenHash, token) || hash != "" && hash != c.TokenHash {
			return fmt.Errorf("the token does not match the request for %s of run %s; use the token that was printed when the run was last suspended, or none if you have its database; pawl resume makes a new token", call, run)
		}
		return checkDecision(s, c.Tool, body.decision(by))
	})
}

// fits reports whether a token, if given, is the one with that hash.
func fits(hash, token string) bool {
	if token == "" {
		return true
	}
	return subtle.ConstantTimeCompare([]byte(hash), []byte(hashToken(token))) == 1
}

func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// decision is the decision of a user.
func (b *decisionBody) decision(by string) Decision {
	return Decision{Approve: b.Approve, ForRun: b.Scope == forRun, Free: b.Free, Times: b.Times, Args: b.Args, Reason: b.Reason, By: by}
}

// checkDecision returns the first thing wrong with a decision about a call of a tool.
func checkDecision(s *pawl.State, tool string, d Decision) error {
	for _, t := range s.Declaration().Tools {
		if t.Name == tool {
			if err := d.Check(t); err != nil {
				return err
			}
		}
	}
	return checkArgs(s, tool, d.Args)
}

// Check returns what is wrong with an approval for later calls of a tool, which is an
// error that a person can correct.
func (d *Decision) Check(t pawl.ToolInfo) error {
	if len(d.Free) == 0 && d.Times == 0 {
		return nil
	}
	switch {
	case !d.ForRun:
		return errors.New("free arguments and a number of times are for an approval for the run")
	case d.Times < 1:
		return errors.New("an approval with free arguments needs the number of calls that it is for: at least 1")
	}
	var schema struct{ Properties map[string]json.RawMessage }
	_ = json.Unmarshal(t.Input, &schema) // the machine has checked it
	for _, name := range d.Free {
		if _, ok := schema.Properties[name]; !ok {
			return fmt.Errorf("%s has no argument %s%s", t.Name, name, expr.DidYouMean(name, slices.Sorted(maps.Keys(schema.Properties))))
		}
		if slices.Contains(t.Reaches, name) {
			return fmt.Errorf("%s says where a call of %s goes, so it cannot be free: approve each value", name, t.Name)
		}
	}
	return nil
}

// checkArgs returns the first thing wrong with edited arguments.
func checkArgs(s *pawl.State, tool string, args json.RawMessage) error {
	if args == nil {
		return nil
	}
	if !json.Valid(args) {
		return fmt.Errorf("the arguments for %s are not JSON", tool)
	}
	for _, t := range s.Declaration().Tools {
		if t.Name != tool {
			continue
		}
		schema, err := jsonschema.Compile(t.Input, &jsonschema.Options{Closed: true})
		if err != nil {
			return fmt.Errorf("tool %s: input: %w", tool, err)
		}
		for _, p := range schema.Validate(args) {
			if p.Path != "" {
				p.Message = p.Path + ": " + p.Message
			}
			return fmt.Errorf("the arguments for %s do not fit: %s", tool, p.Message)
		}
	}
	return nil
}

// requests are what one run asks of people: approvals, answers, results of client tools, and
// unknown outcomes of calls.
type requests struct {
	rec      *recorder
	tokens   map[string]string // of the requests made here, by call
	deferred map[string]uint64 // the requests that the approver left to others, by call
	reissue  bool              // pending requests must be made again
	ended    uint64            // the epoch in which the run last ended; earlier cancels are void
}

// ask returns the entry for a call that needs approval. A call whose preconditions cannot be read
// is refused.
func (q *requests) ask(c *pawl.Classified) pawl.Event {
	seen, err := preconditions(q.rec, c.Call.Tool, c.Call.Args)
	if err != nil {
		return pawl.ToolRefused{Call: c.Call.ID, Tool: c.Call.Tool, Why: "it needs approval, but what it relies on cannot be read: " + q.rec.clean.text(err.Error())}
	}
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // which never fails
	token := base64.RawURLEncoding.EncodeToString(raw)
	if q.tokens == nil {
		q.tokens = map[string]string{}
	}
	q.tokens[c.Call.ID] = token
	return q.rec.machine.Hold(q.rec.state, *c, hashToken(token), seen)
}

// addTokens adds the tokens of the requests that this process made.
func (q *requests) addTokens(r *pawl.Result) {
	for i := range r.Pending {
		p := &r.Pending[i]
		if c, ok := q.rec.state.Call(p.Call); ok && p.Kind == "approval" && q.tokens[p.Call] != "" && fits(c.TokenHash, q.tokens[p.Call]) {
			p.Token = q.tokens[p.Call]
		}
	}
}

// preconditions returns the digests of what a call relies on.
func preconditions(r *recorder, name string, args json.RawMessage) (seen map[string]string, err error) {
	tool, _, _ := r.machine.Tool(name)
	w, ok := tool.(preconditioned)
	if !ok {
		return nil, nil
	}
	var answer struct {
		seen map[string]string
		err  error
	}
	// The disk of a file may hang.
	if err := withTimeout(r.base, preconditionTime, func(ctx context.Context) { answer.seen, answer.err = w.Witness(ctx, args) }); err != nil {
		return nil, err
	}
	return answer.seen, answer.err
}

// approvalHolds checks, immediately before a call starts, that its approved preconditions still
// hold. If not, it records that, and the call does not start.
func approvalHolds(r *recorder, at uint64, d *pawl.Classified) bool {
	if !d.Approved {
		return true
	}
	c, _ := r.state.Call(d.Call.ID)
	if c.Attempt == 0 && !c.Expires.IsZero() && time.Now().After(c.Expires) {
		r.append(at, pawl.ApprovalExpired{Call: c.ID})
		return false
	}
	if c.Preconditions == nil {
		return true
	}
	now, err := preconditions(r, c.Tool, d.Call.Args)
	changed := wire.Differing(c.Preconditions, now)
	if err != nil {
		changed = []string{r.clean.text(err.Error())}
	}
	if changed != nil {
		r.append(at, pawl.ApprovalInvalidated{Call: c.ID, Changed: changed})
	}
	return changed == nil
}

// expire ends the requests that were not decided in time. If the run was resumed without a
// decision, it ends all requests so that they are made again, since their tokens may be lost.
func (q *requests) expire() {
	now := time.Now()
	for c := range q.rec.state.Open() {
		if c.Phase != pawl.PhaseAwaitingApproval {
			continue
		}
		if q.reissue || !c.Expires.IsZero() && now.After(c.Expires) {
			q.rec.appendNow(pawl.ApprovalExpired{Call: c.ID})
		}
	}
}

// decided returns the entry for a decision.
func (q *requests) decided(c pawl.CallState, d Decision, signal int64) pawl.Event {
	r := q.rec
	e := pawl.ApprovalDecided{Call: c.ID, Approved: d.Approve, By: d.By, Reason: r.clean.text(d.Reason), Signal: signal}
	if !d.Approve {
		return e
	}
	e.ForRun, e.Times = d.ForRun, d.Times
	if len(d.Free) > 0 {
		e.Free = slices.Clone(d.Free)
	}
	if d.Args != nil && !wire.Equal(d.Args, c.Args) {
		e.Args = r.clean.json(d.Args)
		seen, err := preconditions(r, c.Tool, e.Args)
		if err != nil {
			e.Approved, e.ForRun, e.Free, e.Times, e.Args = false, false, nil, 0, nil
			e.Reason = "what the changed arguments rely on cannot be read: " + r.clean.text(err.Error())
		}
		e.Preconditions = seen
	}
	return e
}

// unattended answers a question of the model in a run that no person can reach, because its
// journal is memory. It reports whether there was one.
func (q *requests) unattended() bool {
	r := q.rec
	for c := range r.state.Open() {
		if c.Phase == pawl.PhaseAwaitingInput && !r.engine.lasting() {
			r.resumed()
			r.appendNow(pawl.InputGiven{Call: c.ID, By: "pawl", Text: "Nobody can answer here. Decide yourself, or finish with what you know."})
			return true
		}
	}
	return false
}

// approverCall asks an Approver.
type approverCall struct {
	effect
	approver Approver
	requests *requests
	request  Request
	call     pawl.CallState
	says     Decision
	err      error
}

// askApprover asks the engine's approver about the held calls, after the run was recorded as
// waiting. It reports whether the run continues.
func (d *driver) askApprover() (decided bool, err error) {
	r, approver := &d.rec, d.rec.engine.opt.Approver
	if approver == nil {
		return false, nil
	}
	for c := range r.state.Open() {
		if c.Phase != pawl.PhaseAwaitingApproval || d.requests.deferred[c.ID] == c.Requested {
			continue
		}
		if err := r.flush(); err != nil {
			return false, err
		}
		now := time.Now()
		a := &approverCall{approver: approver, requests: &d.requests, call: c, request: Request{
			Run: r.state.Run(), Agent: r.state.Declaration().Agent, Call: c.ID, Tool: c.Tool, Args: slices.Clone(c.Args),
			Reason: c.Reason, Witnesses: maps.Clone(c.Preconditions), Expires: c.Expires, Iteration: c.Iteration,
		}}
		for t := range r.state.Turns() {
			if t.Iteration == c.Iteration {
				a.request.Thought = t.Thought
			}
		}
		limit := r.engine.opt.Patience
		if left := c.Expires.Sub(now); limit < 0 || !c.Expires.IsZero() && left < limit {
			limit = left
		}
		a.effect = effect{work: a, limit: limit, grace: time.Second, yields: true, began: now}
		d.effects.run(&a.effect)
		if r.state.Status() == pawl.StatusRunning {
			return true, nil
		}
	}
	return false, nil
}

func (a *approverCall) perform(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			a.err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	a.err = errExited // until it returns
	a.says, a.err = a.approver.Approve(ctx, a.request)
	read(a.err)
}

// record appends the decision. A signal that arrived meanwhile takes precedence.
func (a *approverCall) record(r *recorder, cut error, abandoned bool) {
	var d Decision
	var failed error
	if !abandoned { // the approver has not returned, so d must not be read
		d, failed = a.says, a.err
	}
	switch {
	case cut == errSuspended && !abandoned:
		return
	case cut == errSignal || cut == errCancelled || cut == errSuspended:
		r.resumed()
		return
	case cut == errTimeout:
		d = Decision{Reason: fmt.Sprintf("nobody decided within %v", a.limit.Round(time.Millisecond))}
	case errors.Is(failed, ErrLater):
		if a.requests.deferred == nil {
			a.requests.deferred = map[string]uint64{}
		}
		a.requests.deferred[a.call.ID] = a.call.Requested
		return
	case failed == nil:
		failed = checkDecision(r.state, a.call.Tool, d)
	}
	if failed != nil && cut == nil {
		d = Decision{Reason: "the approver failed: " + failed.Error()}
	}
	d.By = cmp.Or(d.By, "approver")
	r.resumed()
	r.appendNow(a.requests.decided(a.call, d, 0))
}
