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
	Call          string            `json:"call"`
	Tool          string            `json:"tool"`
	Args          json.RawMessage   `json:"args"`
	Reason        string            `json:"reason"`
	Expires       time.Time         `json:"expires_at"`
	Preconditions map[string]string `json:"witnesses"` // what the approver relied on, such as files: name to digest
	Digest        string            `json:"digest,omitzero"`
	TokenHash     string            `json:"token_hash,omitzero"`
}

// ApprovalDecided is a decision. The engine applies it before the call runs. A Scope other than call
// gives a standing permission: later calls of the run, the thread or the agent with the same tool and
// arguments, except those that Free names, run without a question. Each has an ApprovalDecided of its
// own, which names the permission and who gave it.
type ApprovalDecided struct {
	Call          string            `json:"call"`
	Approved      bool              `json:"decision"` // approve or deny
	By            string            `json:"by"`
	Scope         string            `json:"scope"` // call, run, thread or agent
	Permission    string            `json:"permission,omitzero"`
	Free          []string          `json:"free,omitzero"`
	Times         int               `json:"times,omitzero"`     // how many later calls the permission covers; 0: any number
	Until         time.Time         `json:"until,omitzero"`     // when it ends
	Args          json.RawMessage   `json:"args,omitzero"`      // the approver's arguments; nil: those of the request
	Preconditions map[string]string `json:"witnesses,omitzero"` // of the edited arguments, or of a call that a permission covers
	Reason        string            `json:"reason,omitzero"`
	Signal        int64             `json:"signal,omitzero"`
}

// ApprovalExpired says that a request or a decision is no longer valid: it was
// not used in time, or a new request replaces it.
type ApprovalExpired struct {
	Call string `json:"call"`
}

// ApprovalInvalidated voids a request or a decision because something it relies
// on changed. Changed names what: preconditions, the agent, the observation or
// the measure.
type ApprovalInvalidated struct {
	Call    string   `json:"call"`
	Changed []string `json:"changed"`
}

// InputRequested asks a person a question for a call, or for the run itself
// when Call names no open call. The run waits for the answer.
type InputRequested struct {
	Call     string    `json:"call"`
	Question string    `json:"question"`
	Key      string    `json:"key,omitzero"` // the call runs again with the answer; see [AskPerson]
	Expires  time.Time `json:"expires_at,omitzero"`
	WakeAt   time.Time `json:"wake_at,omitzero"` // the call is over then without an answer; see [Waiter]
	Awaits   string    `json:"awaits,omitzero"`  // the name of the signal that ends the call before that
}

// InputGiven is the answer to an [InputRequested]; without a Call, it is a message that nobody
// asked for.
type InputGiven struct {
	Call   string `json:"call"`
	Text   string `json:"text"`
	By     string `json:"by,omitzero"`
	After  bool   `json:"after,omitzero"` // the model reads the message when it would otherwise be done
	Signal int64  `json:"signal,omitzero"`
}

// ClientToolRequested passes a call to the client, which runs it. The run
// waits.
type ClientToolRequested struct {
	Call string          `json:"call"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// ClientToolReturned is the result that the client sent.
type ClientToolReturned struct {
	Call   string          `json:"call"`
	Result json.RawMessage `json:"result"`
	By     string          `json:"by,omitzero"`
	Signal int64           `json:"signal,omitzero"`
}
