package pawl

import (
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl/internal/names"
)

// ToolStarted is the intent to run a call; it is durable before the call runs.
type ToolStarted struct {
	Call    string          `wire:"call"`
	Tool    string          `wire:"tool"`
	Args    json.RawMessage `wire:"args"` // what is run; an approver may have edited it
	Effect  Effect          `wire:"effect,omit"`
	Key     string          `wire:"key"`
	Attempt int             `wire:"attempt"`
	// Supervised is the tool's own word for who watches the attempt and keeps a
	// record of it; see [Reconciler]. Empty: nobody that the tool would vouch for.
	Supervised string `wire:"supervised,omit"`
}

// ToolStatus is how a call ended.
type ToolStatus int

// The ways a call ends.
const (
	ToolOK        ToolStatus = 1 + iota
	ToolFailed               // "error" in the log: the tool said no
	ToolTimeout              // its deadline passed
	ToolCancelled            // cut short, without an effect that matters
	ToolUnknown              // a Write whose outcome nobody knows
)

var toolStatuses = names.Make[ToolStatus]("tool status", []string{"ok", "error", "timeout", "cancelled", "unknown"})

// String returns the status's name in the log.
func (s ToolStatus) String() string                { return toolStatuses.String(s) }
func (s ToolStatus) MarshalText() ([]byte, error)  { return toolStatuses.Marshal(s) }
func (s *ToolStatus) UnmarshalText(b []byte) error { return toolStatuses.Unmarshal(s, b) }

// ToolFinished answers a call. Error is what the model is told when Status is
// not ok. Truncated says that Result is an excerpt; Blob is then the digest of
// the whole, if the journal kept it. Abandoned says that the tool's Go function
// had not returned.
type ToolFinished struct {
	Call      string          `wire:"call"`
	Tool      string          `wire:"tool"`
	Status    ToolStatus      `wire:"status,omit"`
	Result    json.RawMessage `wire:"result"`
	Error     string          `wire:"error"`
	Duration  time.Duration   `wire:"duration_ms,ms"` // rounded to milliseconds
	Truncated bool            `wire:"truncated"`
	Blob      string          `wire:"blob,omit"`
	Abandoned bool            `wire:"abandoned,omit"`
	Images    []Image         `wire:"images,omit"`
}

// ToolReused answers an Idempotent call with the result of an earlier equal one.
type ToolReused struct {
	Call string `wire:"call"`
	Tool string `wire:"tool"`
	Of   string `wire:"of"` // the call whose result it is
}

// ToolRefused answers a call that is not run. Why is what the model is told.
// NotRun says that nothing is wrong with the call: the run's time was over before
// its turn came. A call that the loop made, or that a person approved, stays open
// then, and runs when the run is resumed with more time.
type ToolRefused struct {
	Call   string `wire:"call"`
	Tool   string `wire:"tool"`
	Why    string `wire:"why"`
	NotRun bool   `wire:"not_run,omit"`
}

// ToolDoubted says that nobody knows whether a Write took place.
type ToolDoubted struct {
	Call string `wire:"call"`
	Tool string `wire:"tool"`
	Why  string `wire:"why"`
}

// ToolSettled ends a doubt, or says what came of a call whose run lost its
// owner. A call that did not happen is driven again; one that did ended as Status
// says, with the Result or the Error. Status zero: ok or, when there is an Error,
// failed.
type ToolSettled struct {
	Call     string          `wire:"call"`
	Happened bool            `wire:"happened"`
	Status   ToolStatus      `wire:"status,omit"`
	Result   json.RawMessage `wire:"result,omit"`
	Error    string          `wire:"error,omit"`
	By       string          `wire:"by,omit"`
	Signal   int64           `wire:"letter,omit"`
}
