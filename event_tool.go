package pawl

import (
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl/internal/naming"
)

// ToolStarted is the intent to run a call. It is durable before the call runs.
type ToolStarted struct {
	Call    string          `json:"call"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"` // what is run; an approver may have edited it
	Effect  Effect          `json:"effect,omitzero"`
	Key     string          `json:"key"`
	Attempt int             `json:"attempt"`
	// Supervised names where the process that runs the attempt records it, as the
	// tool said; see [Reconciler]. Empty: nothing records the attempt.
	Supervised string `json:"supervised,omitzero"`
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
	Call      string          `json:"call"`
	Tool      string          `json:"tool"`
	Status    ToolStatus      `json:"status,omitzero"`
	Result    json.RawMessage `json:"result,omitzero"`
	Error     string          `json:"error"`
	Duration  time.Duration   `json:"duration_ms"` // rounded to milliseconds
	Truncated bool            `json:"truncated"`
	Blob      string          `json:"blob,omitzero"`
	Abandoned bool            `json:"abandoned,omitzero"`
	Files     []File          `json:"files,omitzero"`     // pictures with their data, others by reference
	Untrusted bool            `json:"untrusted,omitzero"` // the result taints the run, whatever the label of the tool
}

// ToolReused answers an Idempotent call with the result of an earlier equal call.
type ToolReused struct {
	Call string `json:"call"`
	Tool string `json:"tool"`
	Of   string `json:"of"` // the call whose result it is
}

// ToolRefused answers a call that does not run. The model reads Why. NotRun
// says that the call itself is valid, but the run's time was over before its
// turn. A call that the loop made or a person approved then stays open, and
// runs when the run resumes with more time.
type ToolRefused struct {
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Why    string `json:"why"`
	NotRun bool   `json:"not_run,omitzero"`
}

// ToolDoubted says that the outcome of a Write is unknown: it may or may not
// have taken place.
type ToolDoubted struct {
	Call string `json:"call"`
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

// ToolSettled resolves an unknown outcome, or says how a call ended whose run
// lost its owner. If Happened is false, the call runs again. Otherwise it ended
// as Status says, with Result or Error. Status zero stands for ok or, when
// there is an Error, failed.
type ToolSettled struct {
	Call     string          `json:"call"`
	Happened bool            `json:"happened"`
	Status   ToolStatus      `json:"status,omitzero"`
	Result   json.RawMessage `json:"result,omitzero"`
	Files    []File          `json:"files,omitzero"`
	Error    string          `json:"error,omitzero"`
	By       string          `json:"by,omitzero"`
	Signal   int64           `json:"signal,omitzero"`
}
