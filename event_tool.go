package pawl

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl/internal/names"
	"github.com/pawl-run/pawl/internal/wire"
)

// ToolStarted is the intent to run a call; it is durable before the call runs.
type ToolStarted struct {
	Call    string
	Tool    string
	Args    json.RawMessage // what is run; an approver may have edited it
	Effect  Effect
	Key     string
	Attempt int
	// Supervised is the tool's own word for who watches the attempt and keeps a
	// record of it; see [Reconciler]. Empty: nobody that the tool would vouch for.
	Supervised string
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
func (s ToolStatus) String() string { return toolStatuses.String(s) }

// MarshalText writes the status's name.
func (s ToolStatus) MarshalText() ([]byte, error) { return toolStatuses.Marshal(s) }

// UnmarshalText reads the status's name.
func (s *ToolStatus) UnmarshalText(b []byte) error { return toolStatuses.Unmarshal(s, b) }

// ToolFinished answers a call. Error is what the model is told when Status is
// not ok. Truncated says that Result is an excerpt; Blob is then the digest of
// the whole, if the journal kept it. Abandoned says that the tool's Go function
// had not returned.
type ToolFinished struct {
	Call      string
	Tool      string
	Status    ToolStatus
	Result    json.RawMessage
	Error     string
	Duration  time.Duration // rounded to milliseconds
	Truncated bool
	Blob      string
	Abandoned bool
	Images    []Image
}

// ToolReused answers an Idempotent call with the result of an earlier equal one.
type ToolReused struct {
	Call string
	Tool string
	Of   string // the call whose result it is
}

// ToolRefused answers a call that is not run. Why is what the model is told.
// NotRun says that nothing is wrong with the call: the run's time was over before
// its turn came. A call that the loop made, or that a person approved, stays open
// then, and runs when the run is resumed with more time.
type ToolRefused struct {
	Call   string
	Tool   string
	Why    string
	NotRun bool
}

// ToolDoubted says that nobody knows whether a Write took place.
type ToolDoubted struct {
	Call string
	Tool string
	Why  string
}

// ToolSettled ends a doubt, or says what came of a call whose run lost its
// owner. A call that did not happen is driven again; one that did ended as Status
// says, with the Result or the Error. Status zero: ok or, when there is an Error,
// failed.
type ToolSettled struct {
	Call     string
	Happened bool
	Status   ToolStatus
	Result   json.RawMessage
	Error    string
	By       string
	Letter   int64
}

// Type returns "tool.started".
func (ToolStarted) Type() string { return "tool.started" }

// Type returns "tool.finished".
func (ToolFinished) Type() string { return "tool.finished" }

// Type returns "tool.reused".
func (ToolReused) Type() string { return "tool.reused" }

// Type returns "tool.refused".
func (ToolRefused) Type() string { return "tool.refused" }

// Type returns "tool.doubted".
func (ToolDoubted) Type() string { return "tool.doubted" }

// Type returns "tool.settled".
func (ToolSettled) Type() string { return "tool.settled" }

func (e *ToolStarted) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("tool", &e.Tool)
	c.Raw("args", &e.Args)
	wire.Enum(c, "effect", &e.Effect, effects)
	c.String("key", &e.Key)
	c.Int("attempt", &e.Attempt)
	c.OptString("supervised", &e.Supervised)
}

func (e *ToolFinished) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("tool", &e.Tool)
	wire.Enum(c, "status", &e.Status, toolStatuses)
	c.Raw("result", &e.Result)
	c.String("error", &e.Error)
	ms := int64(e.Duration / time.Millisecond)
	c.Int64("duration_ms", &ms)
	e.Duration = time.Duration(ms) * time.Millisecond
	c.Bool("truncated", &e.Truncated)
	c.OptString("blob", &e.Blob)
	c.OptBool("abandoned", &e.Abandoned)
	wire.OptList(c, "images", &e.Images, codeImage)
}

func (e *ToolReused) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("tool", &e.Tool)
	c.String("of", &e.Of)
}

func (e *ToolRefused) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("tool", &e.Tool)
	c.String("why", &e.Why)
	c.OptBool("not_run", &e.NotRun)
}

func (e *ToolDoubted) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("tool", &e.Tool)
	c.String("why", &e.Why)
}

func (e *ToolSettled) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.Bool("happened", &e.Happened)
	wire.Enum(c, "status", &e.Status, toolStatuses)
	c.OptRaw("result", &e.Result)
	c.OptString("error", &e.Error)
	c.OptString("by", &e.By)
	c.OptInt64("letter", &e.Letter)
}

func codeImage(c *wire.Coder, i *Image) {
	c.String("type", &i.Type)
	text := base64.StdEncoding.EncodeToString(i.Data)
	c.String("data", &text)
	if c.Decoding() {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			c.Fail("data", err)
		}
		i.Data = data
	}
}
