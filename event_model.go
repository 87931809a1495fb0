package pawl

import (
	"encoding/json"
	"slices"
	"time"
)

// ModelCalled is the intent to send a request. It is durable before the request
// leaves, and reserves the most that the call may cost. View says by reference
// what the model sees, so that the request can be rebuilt from the log.
type ModelCalled struct {
	Purpose   Purpose       `wire:"purpose"`
	Attempt   int           `wire:"attempt"`
	Reserved  int           `wire:"reserved_tokens"`   // tokens: estimated input plus MaxTokens
	Cost      float64       `wire:"reserved_usd,omit"` // dollars reserved; zero without a price
	MaxTokens int           `wire:"max_tokens"`
	Bytes     int           `wire:"bytes,omit"`    // of the request, as they are counted for an estimate
	Fallback  int           `wire:"fallback,omit"` // which of the agent's fallbacks is asked; zero: its model
	Model     string        `wire:"model,omit"`    // the name of the auxiliary model that is asked; empty: none is
	Effort    string        `wire:"effort,omit"`   // how much the model is to think, in place of what the agent declares; empty: as it declares
	View      View          `wire:",inline"`
	Long      bool          `wire:"cache_long,omit"`   // the provider was asked to keep the request in its cache for long
	Waited    time.Duration `wire:"waited_ms,ms,omit"` // for the rate of the provider, since the last entry; not counted as the run's time
}

// Says reports whether the prompt of the view becomes part of the conversation,
// as it must when the reply does. Only the first attempt adds it.
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

// ModelReplied is a whole reply. Cost is in dollars and means something only if
// Priced. Malformed says why a reply under the JSON strategy is rejected;
// empty: it is not. Estimated says that the provider reported no usage, so that
// Usage is the machine's estimate.
type ModelReplied struct {
	Purpose   Purpose
	Reply     Reply
	Cost      float64
	Priced    bool
	Malformed string
	Estimated bool
}

// ModelFailed is an attempt without a reply. Usage and Cost are what the
// attempt cost or, when that is unknown, the most that it may have cost.
// RetryAt is when this model is tried again, if it is, jitter included; zero: at
// once or never.
type ModelFailed struct {
	Purpose Purpose   `wire:"purpose,omit"`
	Class   Class     `wire:"class,omit"`
	Message string    `wire:"message"`
	Attempt int       `wire:"attempt"`
	RetryAt time.Time `wire:"retry_at"`
	Usage   Usage     `wire:"usage,omit"`
	Cost    float64   `wire:"cost_usd,omit"`
}

// PlanRejected rejects a reply: none of its calls is valid, it was cut off, or
// it does not follow the output schema. The model reads Feedback and replies
// again.
type PlanRejected struct {
	Reasons   []string `wire:"reasons"`
	Feedback  string   `wire:"feedback"`
	Rejection int      `wire:"rejection"` // how many replies of this iteration were rejected, from 1
}

// Observed is what the agent's observer saw.
type Observed struct {
	Text   string          `wire:"text"`
	Data   json.RawMessage `wire:"data,omit"`
	Failed bool            `wire:"failed,omit"` // nothing was seen or measured; Text says why
}

// Measured is a value of the goal's metric. Open names what is still wrong, such
// as failing tests, so that fixing one thing and breaking another shows.
type Measured struct {
	Value float64  `wire:"value"`
	Open  []string `wire:"open,omit"`
}

func (e *Measured) clone() *Measured {
	if e == nil {
		return nil
	}
	return &Measured{e.Value, slices.Clone(e.Open)}
}

// ContextCompacted shortens what the model sees of the entries From to To. The
// results of the calls in Masked are left out. A Summary, if not empty,
// replaces all but the latest Kept replies and what follows each of them. Why
// is empty when the machine itself shortened a conversation that was too long.
type ContextCompacted struct {
	From    uint64   `wire:"from"`
	To      uint64   `wire:"to"`
	Masked  []string `wire:"masked,omit"` // calls whose results are shown as left out
	Summary string   `wire:"summary,omit"`
	Kept    int      `wire:"kept,omit"`
	Why     string   `wire:"why,omit"` // such as "price", "pause", "tools" or "limit"
}
