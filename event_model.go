package pawl

import (
	"encoding/json"
	"time"
)

// ModelCalled is the intent to send a request, with what is reserved for it.
// View says by reference what the model sees, so that any request can be
// rebuilt from the log.
type ModelCalled struct {
	Purpose   Purpose `wire:"purpose"`
	Attempt   int     `wire:"attempt"`
	Reserved  int     `wire:"reserved_tokens"`   // tokens: estimated input plus MaxTokens
	Cost      float64 `wire:"reserved_usd,omit"` // dollars reserved; zero without a price
	MaxTokens int     `wire:"max_tokens"`
	Bytes     int     `wire:"bytes,omit"`    // of the request, as they are counted for an estimate; zero: an earlier build's log
	Fallback  int     `wire:"fallback,omit"` // which of the agent's fallbacks is asked; zero: its model
	Model     string  `wire:"model,omit"`    // the name of the auxiliary model that is asked; empty: none is
	View      View    `wire:",inline"`
}

// Says reports whether the prompt of the view becomes part of the conversation,
// as it must when the reply to it does. Further attempts do not say it again.
func (e *ModelCalled) Says() bool {
	return e.View.Prompt != "" && e.Purpose == PurposeTurn && e.Attempt == 1 && !e.View.Alone
}

// reservation is what is set aside for the call.
func (e *ModelCalled) reservation() reservation {
	v := &e.View
	return reservation{
		made: true, usage: Usage{Input: e.Reserved - e.MaxTokens, Output: e.MaxTokens}, cost: e.Cost,
		auxiliary: e.Model, fallback: e.Fallback, bytes: max(0, e.Bytes), talk: e.Purpose == PurposeTurn && !v.Alone && !v.Bare && v.System == "",
	}
}

// ModelReplied is a whole reply. Malformed says why a JSON-strategy reply
// is rejected. Estimated says that the provider reported no usage.
type ModelReplied struct {
	Purpose   Purpose
	Reply     Reply
	Cost      float64
	Priced    bool
	Malformed string
	Estimated bool
}

// ModelFailed is an attempt that brought no reply. Usage is what it cost or,
// when nobody knows, at most. RetryAt is chosen by the engine, jitter included.
type ModelFailed struct {
	Purpose Purpose   `wire:"purpose,omit"`
	Class   Class     `wire:"class,omit"`
	Message string    `wire:"message"`
	Attempt int       `wire:"attempt"`
	RetryAt time.Time `wire:"retry_at,omit"`
	Usage   Usage     `wire:"usage,omit"`
	Cost    float64   `wire:"cost_usd,omit"`
}

// PlanRejected rejects a reply: none of its calls is valid, it was cut off,
// or it does not follow the output schema. Feedback is what the model is told.
type PlanRejected struct {
	Reasons   []string `wire:"reasons"`
	Feedback  string   `wire:"feedback"`
	Rejection int      `wire:"strike"` // which rejection of this iteration it is
}

// Observed is what the agent's observer saw.
type Observed struct {
	Text   string          `wire:"text"`
	Data   json.RawMessage `wire:"data,omit"`
	Failed bool            `wire:"failed,omit"` // nothing was seen or measured; Text says why
}

// Measured is the goal metric. Open names what is still wrong, by identity, so
// that mending one thing and breaking another shows.
type Measured struct {
	Value float64  `wire:"value"`
	Open  []string `wire:"open,omit"`
}

// ContextCompacted replaces part of what the model sees, from the entry From to
// the entry To. With a Summary, that stands for all but the latest Kept replies
// and what followed them. Without Why it is what the machine itself does about a
// conversation that is too long.
type ContextCompacted struct {
	From    uint64   `wire:"from"`
	To      uint64   `wire:"to"`
	Masked  []string `wire:"masked,omit"` // calls whose results are shown as left out
	Summary string   `wire:"summary,omit"`
	Kept    int      `wire:"kept,omit"`
	Why     string   `wire:"why,omit"` // such as "price", "pause" or "limit"
}
