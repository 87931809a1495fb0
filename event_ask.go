package pawl

import (
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl/internal/wire"
)

// ApprovalRequested holds a call until a person decides. Digest binds the
// decision to what was asked; only the hash of the token is kept.
type ApprovalRequested struct {
	Call      string
	Tool      string
	Args      json.RawMessage
	Reason    string
	Expires   time.Time
	Witnesses map[string]string // name and digest of what the approver relied on
	Digest    string
	TokenHash string
}

// ApprovalDecided is a decision, consumed before the call runs. With the scope
// run it holds for every call of the run with equal arguments; each of them has
// an entry of its own.
type ApprovalDecided struct {
	Call      string
	Approved  bool
	By        string
	Scope     string            // call or run
	Args      json.RawMessage   // edited arguments; nil: as asked
	Witnesses map[string]string // of the edited arguments
	Reason    string
	Letter    int64
}

// The scopes of a decision.
const (
	ScopeCall = "call"
	ScopeRun  = "run"
)

// ApprovalExpired says that a request or a decision is over: it was not used in
// time, or is asked for anew.
type ApprovalExpired struct{ Call string }

// ApprovalInvalidated says what changed under a request or a decision.
type ApprovalInvalidated struct {
	Call    string
	Changed []string
}

// InputRequested asks a person a question on behalf of a call.
type InputRequested struct {
	Call     string
	Question string
	Expires  time.Time
}

// InputGiven is the answer to that question.
type InputGiven struct {
	Call   string
	Text   string
	By     string
	Letter int64
}

// ClientToolRequested hands a call to the client, who runs it.
type ClientToolRequested struct {
	Call string
	Tool string
	Args json.RawMessage
}

// ClientToolReturned is what the client handed in.
type ClientToolReturned struct {
	Call   string
	Result json.RawMessage
	By     string
	Letter int64
}

// Type returns "approval.requested".
func (ApprovalRequested) Type() string { return "approval.requested" }

// Type returns "approval.decided".
func (ApprovalDecided) Type() string { return "approval.decided" }

// Type returns "approval.expired".
func (ApprovalExpired) Type() string { return "approval.expired" }

// Type returns "approval.invalidated".
func (ApprovalInvalidated) Type() string { return "approval.invalidated" }

// Type returns "input.requested".
func (InputRequested) Type() string { return "input.requested" }

// Type returns "input.given".
func (InputGiven) Type() string { return "input.given" }

// Type returns "client_tool.requested".
func (ClientToolRequested) Type() string { return "client_tool.requested" }

// Type returns "client_tool.returned".
func (ClientToolReturned) Type() string { return "client_tool.returned" }

func (e *ApprovalRequested) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("tool", &e.Tool)
	c.Raw("args", &e.Args)
	c.String("reason", &e.Reason)
	c.OptTime("expires_at", &e.Expires)
	c.OptStringMap("witnesses", &e.Witnesses)
	c.OptString("digest", &e.Digest)
	c.OptString("token_hash", &e.TokenHash)
}

func (e *ApprovalDecided) code(c *wire.Coder) {
	decision := "deny"
	if e.Approved {
		decision = "approve"
	}
	c.String("call", &e.Call)
	c.String("decision", &decision)
	e.Approved = decision == "approve"
	c.OptString("by", &e.By)
	c.OptString("scope", &e.Scope)
	c.OptRaw("args", &e.Args)
	c.OptStringMap("witnesses", &e.Witnesses)
	c.OptString("reason", &e.Reason)
	c.OptInt64("letter", &e.Letter)
}

func (e *ApprovalExpired) code(c *wire.Coder) { c.String("call", &e.Call) }

func (e *ApprovalInvalidated) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.Strings("changed", &e.Changed)
}

func (e *InputRequested) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("question", &e.Question)
	c.OptTime("expires_at", &e.Expires)
}

func (e *InputGiven) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("text", &e.Text)
	c.OptString("by", &e.By)
	c.OptInt64("letter", &e.Letter)
}

func (e *ClientToolRequested) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("tool", &e.Tool)
	c.Raw("args", &e.Args)
}

func (e *ClientToolReturned) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.Raw("result", &e.Result)
	c.OptString("by", &e.By)
	c.OptInt64("letter", &e.Letter)
}
