package pawl

import (
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl/internal/naming"
)

// ToolStarted is the intent to run a call. It is durable before the call runs.
type ToolStarted struct {
	Call    string          `wire:"call"`
	Tool    string          `wire:"tool"`
	Args    json.RawMessage `wire:"args"` // what is run; an approver may have edited it
	Effect  Effect          `wire:"effect,omit"`
	Key     string          `wire:"key"`
	Attempt int             `wire:"attempt"`
	// Supervised names where the process that runs the attempt records it, as the
	// tool said; see [Reconciler]. Empty: nothing records the attempt.
	Supervised string `wire:"supervised,omit"`
}

// ToolStatus is how a call ended.
type ToolStatus int

// The ways a call ends.
const (
	ToolOK        ToolStatus = 1 + iota
	ToolFailed               // "error" in the log: the tool returned an error
	ToolTimeout              // its deadline passed
	ToolCancelled            // stopped early, without an effect that matters
	ToolUnknown              // a Write whose outcome is unknown
)

var toolStatuses = naming.NewEnum[ToolStatus]("tool status", []string{"ok", "error", "timeout", "cancelled", "unknown"})

// String returns the status's name in the log.
func (s ToolStatus) String() string                { return toolStatuses.String(s) }
func (s ToolStatus) MarshalText() ([]byte, error)  { return toolStatuses.Marshal(s) }
func (s *ToolStatus) UnmarshalText(b []byte) error { return toolStatuses.Unmarshal(s, b) }

// ToolFinished answers a call. Error is what the model reads when Status is not
// ok. Truncated says that Result is an excerpt; Blob is then the digest of the
// whole result, if the journal kept it. Abandoned says that the tool's Go
// function had not returned when its deadline passed.
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
	Images    []File          `wire:"images,omit"`
	Untrusted bool            `wire:"untrusted,omit"` // the result taints the run, whatever the label of the tool
}

// ToolReused answers an Idempotent call with the result of an earlier equal call.
type ToolReused struct {
	Call string `wire:"call"`
	Tool string `wire:"tool"`
	Of   string `wire:"of"` // the call whose result it is
}

// ToolRefused answers a call that does not run. The model reads Why. NotRun
// says that the call itself is valid, but the run's time was over before its
// turn. A call that the loop made or a person approved then stays open, and
// runs when the run resumes with more time.
type ToolRefused struct {
	Call   string `wire:"call"`
	Tool   string `wire:"tool"`
	Why    string `wire:"why"`
	NotRun bool   `wire:"not_run,omit"`
}

// ToolDoubted says that the outcome of a Write is unknown: it may or may not
// have taken place.
type ToolDoubted struct {
	Call string `wire:"call"`
	Tool string `wire:"tool"`
	Why  string `wire:"why"`
}

// ToolSettled resolves an unknown outcome, or says how a call ended whose run
// lost its owner. If Happened is false, the call runs again. Otherwise it ended
// as Status says, with Result or Error. Status zero stands for ok or, when
// there is an Error, failed.
type ToolSettled struct {
	Call     string          `wire:"call"`
	Happened bool            `wire:"happened"`
	Status   ToolStatus      `wire:"status,omit"`
	Result   json.RawMessage `wire:"result,omit"`
	Error    string          `wire:"error,omit"`
	By       string          `wire:"by,omit"`
	Signal   int64           `wire:"signal,omit"`
}
