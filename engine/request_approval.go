package engine

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/wire"
)

// preconditioned is a tool that returns the preconditions of a call: digests of what it
// relies on, such as files or a working directory. A decision about the call holds as
// long as they stay the same.
type preconditioned interface {
	Witness(ctx context.Context, args json.RawMessage) (map[string]string, error)
}

// preconditionTime bounds how long reading the preconditions of one call may take.
const preconditionTime = 10 * time.Second

// answerCalls appends what was decided about the calls of a batch, but for those that run. It reports
// whether the machine must decide again, since a permission covers a call that was to be asked about.
func (q *requests) answerCalls(at uint64, calls []pawl.Classified) (again bool, err error) {
	if covered, err := q.cover(calls); covered || err != nil {
		return covered, err
	}
	for i := range calls {
		switch c := &calls[i]; c.Do {
		case pawl.CallRun:
		case pawl.CallAsk:
			q.rec.append(at, q.ask(c))
		case pawl.CallHand:
			if approvalHolds(q.rec, at, c) {
				q.rec.append(at, c.Facts()...)
			}
		default:
			q.rec.append(at, c.Facts()...)
		}
	}
	return false, nil
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
	return q.rec.machine.Hold(q.rec.state, *c, digestOf([]byte(token)), seen)
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
	answer := make(chan map[string]string, 1)
	// The disk of a file may hang.
	err = withTimeout(r.base, preconditionTime, func(ctx context.Context) error {
		seen, err := w.Witness(ctx, args)
		answer <- seen
		return err
	})
	if err != nil {
		return nil, err
	}
	return <-answer, nil
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
		withdraw(r, c.ID)
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
	if d.Args != nil && !wire.Equal(d.Args, c.Args) {
		e.Args = r.clean.json(d.Args)
		seen, err := preconditions(r, c.Tool, e.Args)
		if err != nil {
			e.Approved, e.Args = false, nil
			e.Reason = "what the changed arguments rely on cannot be read: " + r.clean.text(err.Error())
		}
		e.Preconditions = seen
	}
	if e.Approved && d.Stands() {
		e.Scope, e.Times, e.Permission, e.Until = d.Scope, d.Times, permissionID(r.state.Run(), &c), d.End(time.Now()).UTC().Truncate(time.Second)
		if len(d.Free) > 0 {
			e.Free = slices.Clone(d.Free)
		}
	}
	return e
}

// fits reports whether a token, if given, is the one with that hash.
func fits(hash, token string) bool {
	if token == "" {
		return true
	}
	return subtle.ConstantTimeCompare([]byte(hash), []byte(digestOf([]byte(token)))) == 1
}

// checkDecision returns the first thing wrong with a decision about a call of a tool.
func (h *host) checkDecision(s *pawl.State, tool string, d Decision) error {
	info := declaredTool(s, tool)
	if err := d.Check(info); err != nil {
		return err
	}
	if err := h.stands(s, &d.Reach); err != nil {
		return err
	}
	return checkArgs(&info, d.Args)
}

// checkArgs returns the first thing wrong with edited arguments.
func checkArgs(info *pawl.ToolInfo, args json.RawMessage) error {
	switch {
	case args == nil:
		return nil
	case !json.Valid(args):
		return fmt.Errorf("the arguments for %s are not JSON", info.Name)
	case info.Input == nil:
		return nil
	}
	schema, err := jsonschema.Compile(info.Input, &jsonschema.Options{Closed: true})
	if err != nil {
		return fmt.Errorf("tool %s: input: %w", info.Name, err)
	}
	if problems := schema.Validate(args); len(problems) > 0 {
		p := problems[0]
		if p.Path != "" {
			p.Message = p.Path + ": " + p.Message
		}
		return fmt.Errorf("the arguments for %s do not fit: %s", info.Name, p.Message)
	}
	return nil
}

// ApproveOptions are the optional parts of an approval.
type ApproveOptions struct {
	// Reach says which later calls are approved, too. It needs a journal that is an
	// [approval.Keeper].
	approval.Reach
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
	Approve        bool
	approval.Reach                 // as in [ApproveOptions]
	Args           json.RawMessage // as in [ApproveOptions]
	Reason         string          // of a denial, for the model
	By             string          // the user who decided; empty: approver
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

	Thread    string            // of the run; empty: none
	Labels    map[string]string // that later runs must have for a permission
	Args      json.RawMessage
	Reason    string            // the rule that requires approval, and what changed since an earlier request
	Witnesses map[string]string // the call's preconditions: digests by name
	Expires   time.Time
	Iteration int
	Thought   string // the model's text with the call
}
