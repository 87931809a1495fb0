package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/retry"
)

// A Sender sends signals to runs. It is an [engine.Engine] or a client of a server.
type Sender interface { //nolint:interfacebloat // one method for each signal
	Approve(ctx context.Context, run, call, by string, o *engine.ApproveOptions) error
	Deny(ctx context.Context, run, call, by, reason string, o *engine.DenyOptions) error
	Answer(ctx context.Context, run, call, by, text string) error
	Submit(ctx context.Context, run, call, by string, result json.RawMessage) error
	Resolve(ctx context.Context, run, call, by string, r engine.Resolution) error
	CancelCall(ctx context.Context, run, call, by, reason string) error
}

// A Signal is the decision of a user about a call that waits.
type Signal struct {
	kind string // of what the call waits for; empty: any call
	send func(ctx context.Context, to Sender, run, call string) error
}

// Approval approves a call.
func Approval(by string, o *engine.ApproveOptions) Signal {
	return Signal{"approval", func(ctx context.Context, to Sender, run, call string) error { return to.Approve(ctx, run, call, by, o) }}
}

// Denial denies a call.
func Denial(by, reason string, o *engine.DenyOptions) Signal {
	return Signal{"approval", func(ctx context.Context, to Sender, run, call string) error {
		return to.Deny(ctx, run, call, by, reason, o)
	}}
}

// Answer answers a question.
func Answer(by, text string) Signal {
	return Signal{"input", func(ctx context.Context, to Sender, run, call string) error {
		return to.Answer(ctx, run, call, by, text)
	}}
}

// Result is that of a call that the client runs.
func Result(by string, result json.RawMessage) Signal {
	return Signal{"client_tool", func(ctx context.Context, to Sender, run, call string) error {
		return to.Submit(ctx, run, call, by, result)
	}}
}

// Resolution resolves an unknown outcome.
func Resolution(by string, r engine.Resolution) Signal {
	return Signal{"doubt", func(ctx context.Context, to Sender, run, call string) error { return to.Resolve(ctx, run, call, by, r) }}
}

// Cancellation ends a call.
func Cancellation(by, reason string) Signal {
	return Signal{"", func(ctx context.Context, to Sender, run, call string) error {
		return to.CancelCall(ctx, run, call, by, reason)
	}}
}

// An Addressee is a run to which signals are sent, for its own calls and for those of its
// children.
type Addressee struct {
	State   *pawl.State
	Pending []pawl.Pending // what the run and its children wait for
	// Fresh is set once a signal is sent that the run or a child waited for. A run
	// that had the signal before may wait for something else by now.
	Fresh bool

	journal pawl.Journal
	to      Sender
}

// Address looks up what a run and its children wait for, and which of the requests are answered
// already. The signals go to the result of sender.
func Address(ctx context.Context, j pawl.Journal, run string, sender func(*pawl.State) Sender) (*Addressee, error) {
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return nil, err
	}
	pending, err := waits(ctx, j, s)
	return &Addressee{State: s, Pending: pending, journal: j, to: sender(s)}, err
}

// Find returns what waits under a call's id, or for a signal of that name: the run's own call, or else
// that of the only child that has one. If nothing waits, the result has an empty Kind, and its Run is the run. If
// several children have such a call, the error is an [*AmbiguousError].
func (a *Addressee) Find(kind, call string) (pawl.Pending, error) {
	run := a.State.Run()
	var found []pawl.Pending
	for _, p := range Waiting(a.Pending, kind) {
		switch named := p.Call == call || p.Awaits == call && call != ""; {
		case named && p.Run == run:
			return p, nil
		case named:
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return pawl.Pending{Run: run, Call: call}, nil
	case 1:
		return found[0], nil
	}
	return pawl.Pending{}, &AmbiguousError{Run: run, Call: call, Candidates: found}
}

// Signal sends a signal to the call that [Addressee.Find] returns.
func (a *Addressee) Signal(ctx context.Context, call string, s Signal) error {
	p, err := a.Find(s.kind, call)
	if err != nil {
		return err
	}
	return a.Send(ctx, p, s)
}

// Send sends a signal to a call found before. An error of the journal is returned
// unchanged. Any other is a *ConflictError or a *RefusedError.
func (a *Addressee) Send(ctx context.Context, p pawl.Pending, s Signal) error {
	c, _ := a.State.Call(p.Call)
	switch {
	case s.kind != "" && p.ExpiresAt != nil && time.Now().After(*p.ExpiresAt):
		return &ConflictError{fmt.Sprintf("the request for %s of run %s expired at %s; resuming the run asks again", p.Call, p.Run, p.ExpiresAt.UTC().Format(time.RFC3339)), true}
	case s.kind == "doubt" && p.Run == a.State.Run() && (c.Phase == pawl.PhaseStarted || c.Phase == pawl.PhaseLost):
		return &RefusedError{fmt.Errorf("call %s of run %s is not in doubt yet; resume the run first", p.Call, p.Run)}
	}
	err := s.send(ctx, a.to, p.Run, p.Call)
	if err == nil {
		a.Fresh = a.Fresh || p.Kind != ""
		return nil
	}
	if _, broken := engine.Load(ctx, a.journal, p.Run); broken != nil || retry.Temporary(err) {
		return err
	}
	return &RefusedError{err}
}

// Waiting selects what a run and its children wait for by kind: approval, input,
// client_tool or doubt; empty: any.
func Waiting(pending []pawl.Pending, kind string) []pawl.Pending {
	var list []pawl.Pending
	for _, p := range pending {
		if p.Kind == kind || kind == "" {
			list = append(list, p)
		}
	}
	return list
}

// A RefusedError says why a signal does not fit its call, or why a run cannot be recorded.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// A ConflictError says that a run is in a state that does not permit a request.
type ConflictError struct {
	detail string
	// Expired reports that the request has expired, and that resuming the run asks again.
	Expired bool
}

func (e *ConflictError) Error() string { return e.detail }

func conflict(format string, args ...any) error {
	return &ConflictError{fmt.Sprintf(format, args...), false}
}

// An AmbiguousError says that several children of a run have a waiting call with the same id.
type AmbiguousError struct {
	Run, Call  string
	Candidates []pawl.Pending
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("several runs under %s have a waiting call %s; address one of them, as listed in pending", e.Run, e.Call)
}
