package engine

import (
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
	"github.com/pawl-run/pawl/internal/canon"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/sabotage"
)

// A Decision is what somebody says to a request for approval.
type Decision struct {
	Approve bool
	// ForRun lets every later call of the run with equal arguments go, too.
	ForRun bool
	// Args replaces the call's arguments; nil: as they are. They are checked
	// against the tool's schema, and the model is told that they were changed.
	Args   json.RawMessage
	Reason string // of a denial, for the model
	By     string // who decides
	// Token, when not empty, must be the one the request was made with.
	Token string
	// TokenHash, when not empty, must be that of the request's token: for who knows
	// by other means which request is meant, and is not to decide about a later one.
	TokenHash string
}

// An Approver decides about held calls in the process that drives their run,
// where somebody sits at a terminal or a program knows what is allowed. It is
// asked about one call of a run at a time, from the goroutine that drives the
// run, while the run counts as waiting: a decision that comes from elsewhere
// meanwhile ends its context and goes before its own. An error, a panic and no
// answer within Options.Patience deny the call; ErrLater leaves it to others.
type Approver interface {
	Approve(ctx context.Context, r Request) (Decision, error)
}

// ApproverFunc makes an Approver of a function.
type ApproverFunc func(context.Context, Request) (Decision, error)

// Approve calls f.
func (f ApproverFunc) Approve(ctx context.Context, r Request) (Decision, error) { return f(ctx, r) }

// ErrLater is what an [Approver] returns that does not want to decide now: the
// run is parked, and anybody may decide.
var ErrLater = errors.New("somebody else is to decide")

// A Request is what an [Approver] is asked about. It is a copy: changing it
// changes nothing.
type Request struct {
	Run, Agent, Call, Tool string

	Args      json.RawMessage
	Reason    string            // which rule wants it approved, and what changed since it was asked before
	Witnesses map[string]string // digests of what the call relies on
	Expires   time.Time
	Iteration int
	Thought   string // what the model said when it made the call
}

// witness is a tool that can tell, by digests, what of the world a call relies
// on: files, a working directory. A decision about the call holds as long as
// they stay the same.
type witness interface {
	Witness(ctx context.Context, args json.RawMessage) (map[string]string, error)
}

// witnessTime is the most that taking the witnesses of one call may take.
const witnessTime = 10 * time.Second

// Decide lets a held call run, or refuses it. Like everything said to a run, it
// is durable when it returns, whoever owns the run; saying the same again is
// harmless, and another decision is a *pawl.LetterConflictError.
func (e *Engine) Decide(ctx context.Context, run, call string, d Decision) error {
	if !d.Approve && (d.Args != nil || d.ForRun) {
		return fmt.Errorf("a denial of %s takes neither arguments nor a scope: it is about this call", call)
	}
	body := decisionBody{Approve: d.Approve, Args: d.Args, Reason: d.Reason}
	if d.ForRun {
		body.Scope = pawl.ScopeRun
	}
	return e.post(ctx, run, pawl.LetterDecision, call, d.By, body, pawl.AwaitingApproval, func(s *pawl.State, c pawl.CallState) error {
		if !fits(c.TokenHash, d.Token) || d.TokenHash != "" && d.TokenHash != c.TokenHash {
			return fmt.Errorf("the token is not that of the request for %s of run %s; without it the journal itself must be at hand, a new one comes with: pawl resume", call, run)
		}
		return checkArgs(s, c.Tool, d.Args)
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

// checkArgs says what is wrong with edited arguments.
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

// ask is the entry for a call that has to be approved. One whose witnesses
// cannot be taken cannot be decided about.
func (s *session) ask(d *pawl.Disposed) pawl.Event {
	seen, err := s.witnesses(d.Call.Tool, d.Call.Args)
	if err != nil {
		return pawl.ToolRefused{Call: d.Call.ID, Tool: d.Call.Tool, Why: "it needs approval, but what it relies on cannot be read: " + s.filter(err.Error())}
	}
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // which never fails
	token := base64.RawURLEncoding.EncodeToString(raw)
	if s.tokens == nil {
		s.tokens = map[string]string{}
	}
	s.tokens[d.Call.ID] = token
	return s.m.Hold(s.state, *d, hashToken(token), seen)
}

// addTokens adds the tokens of the requests that this process made.
func (s *session) addTokens(r *pawl.Result) {
	for i := range r.Pending {
		p := &r.Pending[i]
		if c, ok := s.state.Call(p.Call); ok && p.Kind == "approval" && s.tokens[p.Call] != "" && fits(c.TokenHash, s.tokens[p.Call]) {
			p.Token = s.tokens[p.Call]
		}
	}
}

// witnesses takes the digests of what a call relies on.
func (s *session) witnesses(name string, args json.RawMessage) (map[string]string, error) {
	tool, _, _ := s.m.Tool(name)
	w, ok := tool.(witness)
	if !ok {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(s.base, witnessTime)
	defer cancel()
	type answer struct {
		seen map[string]string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errExited}
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("panic: %v", p)
			}
			done <- a
		}()
		a.seen, a.err = w.Witness(ctx, args)
	}()
	select {
	case a := <-done:
		return a.seen, a.err
	case <-ctx.Done(): // a file on a disk that hangs, say
		return nil, fmt.Errorf("it took longer than %v", witnessTime)
	}
}

// holds looks, as the last thing before a call is started, whether what was
// approved is still so. If not, that is recorded and the call does not start.
func (s *session) holds(at uint64, d *pawl.Disposed) bool {
	if !d.Approved {
		return true
	}
	c, _ := s.state.Call(d.Call.ID)
	it := s.state.Iteration()
	if c.Attempt == 0 && !c.Expires.IsZero() && time.Now().After(c.Expires) {
		s.append(at, it, pawl.ApprovalExpired{Call: c.ID})
		return false
	}
	if c.Witnesses == nil || sabotage.On(sabotage.Witness) {
		return true
	}
	now, err := s.witnesses(c.Tool, d.Call.Args)
	if err != nil {
		s.append(at, it, pawl.ApprovalInvalidated{Call: c.ID, Changed: []string{s.filter(err.Error())}})
		return false
	}
	if changed := canon.Differing(c.Witnesses, now); changed != nil {
		s.append(at, it, pawl.ApprovalInvalidated{Call: c.ID, Changed: changed})
		return false
	}
	return true
}

// expire ends the requests nobody decided in time, and those that are to be
// asked anew because the run was resumed with nothing decided: the token of the
// old request may be lost. They are then asked again.
func (s *session) expire() {
	now := time.Now()
	for c := range s.state.Open() {
		if c.Phase != pawl.AwaitingApproval {
			continue
		}
		if s.anew || !c.Expires.IsZero() && now.After(c.Expires) {
			s.append(s.state.Seq(), s.state.Iteration(), pawl.ApprovalExpired{Call: c.ID})
		}
	}
}

// decided is the entry for a decision.
func (s *session) decided(c pawl.CallState, d Decision, letter int64) pawl.Event {
	e := pawl.ApprovalDecided{Call: c.ID, Approved: d.Approve, By: d.By, Scope: pawl.ScopeCall, Reason: s.filter(d.Reason), Letter: letter}
	if !d.Approve {
		return e
	}
	if d.ForRun || sabotage.On(sabotage.Consume) {
		e.Scope = pawl.ScopeRun
	}
	if d.Args != nil {
		e.Args = s.filterJSON(d.Args)
		seen, err := s.witnesses(c.Tool, e.Args)
		if err != nil {
			e.Approved, e.Scope, e.Args = false, pawl.ScopeCall, nil
			e.Reason = "what the changed arguments rely on cannot be read: " + s.filter(err.Error())
		}
		e.Witnesses = seen
	}
	return e
}

// approval is an Approver at work.
type approval struct {
	flight   flight
	approver Approver
	request  Request
	call     pawl.CallState
	says     Decision
	err      error
}

// consult asks the engine's approver about the calls that wait. It reports
// whether anything came of it; the run has been recorded as waiting.
func (s *session) consult() (decided bool, err error) {
	approver := s.engine.opt.Approver
	if approver == nil {
		return false, nil
	}
	for c := range s.state.Open() {
		if c.Phase != pawl.AwaitingApproval || s.later[c.ID] == c.Requested {
			continue
		}
		if err := s.flush(); err != nil {
			return false, err
		}
		now := time.Now()
		a := &approval{approver: approver, call: c, request: Request{
			Run: s.state.Run(), Agent: s.state.Declaration().Agent, Call: c.ID, Tool: c.Tool, Args: slices.Clone(c.Args),
			Reason: c.Reason, Witnesses: maps.Clone(c.Witnesses), Expires: c.Expires, Iteration: c.Iteration,
		}}
		for t := range s.state.Turns() {
			if t.Iteration == c.Iteration {
				a.request.Thought = t.Thought
			}
		}
		limit := s.engine.opt.Patience
		if left := c.Expires.Sub(now); limit < 0 || !c.Expires.IsZero() && left < limit {
			limit = left
		}
		a.flight = flight{effect: a, limit: limit, grace: time.Second, yields: true}
		if err := s.fly(&a.flight, now); err != nil {
			return false, err
		}
		if s.state.Status() == pawl.Running {
			return true, nil
		}
	}
	return false, nil
}

func (a *approval) perform(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			a.err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	a.err = errExited // until it returns
	a.says, a.err = a.approver.Approve(ctx, a.request)
}

// record takes the decision in. What was decided elsewhere meanwhile, and what
// the run is to be let go of for, goes before it.
func (a *approval) record(s *session, cut error, left bool) {
	var d Decision
	var failed error
	if !left { // of one that has not come back, nothing may be read
		d, failed = a.says, a.err
	}
	switch {
	case cut == errParked && !left:
		return
	case cut == errMail || cut == errCancelled || cut == errParked:
		s.goOn()
		return
	case cut == errTimeout:
		d = Decision{Reason: fmt.Sprintf("nobody decided within %v", a.flight.limit.Round(time.Millisecond))}
	case errors.Is(failed, ErrLater):
		if s.later == nil {
			s.later = map[string]uint64{}
		}
		s.later[a.call.ID] = a.call.Requested
		return
	case failed == nil:
		failed = checkArgs(s.state, a.call.Tool, d.Args)
	}
	if failed != nil && cut == nil {
		d = Decision{Reason: "the approver failed: " + failed.Error()}
	}
	if d.By == "" {
		d.By = "approver"
	}
	s.goOn()
	s.append(s.state.Seq(), s.state.Iteration(), s.decided(a.call, d, 0))
}

// goOn ends the waiting of a run that has had its owner all the time.
func (s *session) goOn() {
	s.append(s.state.Seq(), s.state.Iteration(), pawl.RunResumed{Owner: s.lease.Owner, Epoch: s.lease.Epoch})
}
