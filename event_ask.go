package pawl

import (
	"encoding/json"
	"time"
)

// ApprovalRequested holds a call until a person decides. Digest binds the
// decision to what was asked; only the hash of the token is kept.
type ApprovalRequested struct {
	Call          string            `wire:"call"`
	Tool          string            `wire:"tool"`
	Args          json.RawMessage   `wire:"args"`
	Reason        string            `wire:"reason"`
	Expires       time.Time         `wire:"expires_at,omit"`
	Preconditions map[string]string `wire:"witnesses,omit"` // name and digest of what the approver relied on
	Digest        string            `wire:"digest,omit"`
	TokenHash     string            `wire:"token_hash,omit"`
}

// ApprovalDecided is a decision, consumed before the call runs. With the scope
// run it holds for every call of the run with equal arguments; each of them has
// an entry of its own.
type ApprovalDecided struct {
	Call          string            `wire:"call"`
	Approved      bool              `wire:"decision,approve|deny"`
	By            string            `wire:"by,omit"`
	Scope         string            `wire:"scope,omit"`     // call or run
	Args          json.RawMessage   `wire:"args,omit"`      // edited arguments; nil: as asked
	Preconditions map[string]string `wire:"witnesses,omit"` // of the edited arguments
	Reason        string            `wire:"reason,omit"`
	Signal        int64             `wire:"letter,omit"`
}

// The scopes of a decision.
const (
	ScopeCall = "call"
	ScopeRun  = "run"
)

// ApprovalExpired says that a request or a decision is over: it was not used in
// time, or is asked for anew.
type ApprovalExpired struct {
	Call string `wire:"call"`
}

// ApprovalInvalidated says what changed under a request or a decision.
type ApprovalInvalidated struct {
	Call    string   `wire:"call"`
	Changed []string `wire:"changed"`
}

// InputRequested asks a person a question on behalf of a call.
type InputRequested struct {
	Call     string    `wire:"call"`
	Question string    `wire:"question"`
	Expires  time.Time `wire:"expires_at,omit"`
}

// InputGiven is the answer to that question.
type InputGiven struct {
	Call   string `wire:"call"`
	Text   string `wire:"text"`
	By     string `wire:"by,omit"`
	Signal int64  `wire:"letter,omit"`
}

// ClientToolRequested hands a call to the client, who runs it.
type ClientToolRequested struct {
	Call string          `wire:"call"`
	Tool string          `wire:"tool"`
	Args json.RawMessage `wire:"args"`
}

// ClientToolReturned is what the client handed in.
type ClientToolReturned struct {
	Call   string          `wire:"call"`
	Result json.RawMessage `wire:"result"`
	By     string          `wire:"by,omit"`
	Signal int64           `wire:"letter,omit"`
}
