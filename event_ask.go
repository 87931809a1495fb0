package pawl

import (
	"encoding/json"
	"time"
)

// ApprovalRequested holds a call until a person decides or the time Expires has
// passed. Digest binds the decision to what the approver saw: the run, the
// call, its arguments, the agent and the preconditions. A decision needs the
// token; the log keeps only its hash.
type ApprovalRequested struct {
	Call          string            `wire:"call"`
	Tool          string            `wire:"tool"`
	Args          json.RawMessage   `wire:"args"`
	Reason        string            `wire:"reason"`
	Expires       time.Time         `wire:"expires_at"`
	Preconditions map[string]string `wire:"witnesses"` // what the approver relied on, such as files: name to digest
	Digest        string            `wire:"digest,omit"`
	TokenHash     string            `wire:"token_hash,omit"`
}

// ApprovalDecided is a decision. The engine applies it before the call runs. With ForRun it also holds
// for later calls of the run with the same tool and arguments, except those that Free names; each has
// an ApprovalDecided of its own. An argument that [ToolInfo].Reaches declares is never free.
type ApprovalDecided struct {
	Call          string            `wire:"call"`
	Approved      bool              `wire:"decision,approve|deny"`
	By            string            `wire:"by"`
	ForRun        bool              `wire:"scope,run|call"` // not only for the call
	Free          []string          `wire:"free,omit"`
	Times         int               `wire:"times,omit"`     // how many later calls it holds for; 0: any number
	Args          json.RawMessage   `wire:"args"`           // the approver's arguments; nil: those of the request
	Preconditions map[string]string `wire:"witnesses,omit"` // of the edited arguments
	Reason        string            `wire:"reason,omit"`
	Signal        int64             `wire:"signal,omit"`
}

// ApprovalExpired says that a request or a decision is no longer valid: it was
// not used in time, or a new request replaces it.
type ApprovalExpired struct {
	Call string `wire:"call"`
}

// ApprovalInvalidated voids a request or a decision because something it relies
// on changed. Changed names what: preconditions, the agent, the observation or
// the measure.
type ApprovalInvalidated struct {
	Call    string   `wire:"call"`
	Changed []string `wire:"changed"`
}

// InputRequested asks a person a question for a call, or for the run itself
// when Call names no open call. The run waits for the answer.
type InputRequested struct {
	Call     string    `wire:"call"`
	Question string    `wire:"question"`
	Key      string    `wire:"key,omit"` // the call runs again with the answer; see [AskPerson]
	Expires  time.Time `wire:"expires_at,omit"`
}

// InputGiven is the answer to an [InputRequested]; without a Call, it is a message that nobody
// asked for.
type InputGiven struct {
	Call   string `wire:"call"`
	Text   string `wire:"text"`
	By     string `wire:"by,omit"`
	After  bool   `wire:"after,omit"` // the model reads the message when it would otherwise be done
	Signal int64  `wire:"signal,omit"`
}

// ClientToolRequested passes a call to the client, which runs it. The run
// waits.
type ClientToolRequested struct {
	Call string          `wire:"call"`
	Tool string          `wire:"tool"`
	Args json.RawMessage `wire:"args"`
}

// ClientToolReturned is the result that the client sent.
type ClientToolReturned struct {
	Call   string          `wire:"call"`
	Result json.RawMessage `wire:"result"`
	By     string          `wire:"by,omit"`
	Signal int64           `wire:"signal,omit"`
}
