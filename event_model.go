package pawl

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/pawl-run/pawl/internal/naming"
)

// ModelCalled is the intent to send a request. It is durable before the request
// leaves, and reserves the most that the call may cost. View says by reference
// what the model sees, so that the request can be rebuilt from the log.
type ModelCalled struct {
	Purpose   Purpose `json:"purpose"`
	Attempt   int     `json:"attempt"`
	Reserved  int     `json:"reserved_tokens"`       // tokens: estimated input plus MaxTokens
	Cost      float64 `json:"reserved_usd,omitzero"` // dollars reserved; zero without a price
	MaxTokens int     `json:"max_tokens"`
	Bytes     int     `json:"bytes,omitzero"`    // of the request, as they are counted for an estimate
	Fallback  int     `json:"fallback,omitzero"` // which of the agent's fallbacks is asked; zero: its model
	Model     string  `json:"model,omitzero"`    // the name of the auxiliary model that is asked; empty: none is
	Effort    string  `json:"effort,omitzero"`   // how much the model is to think, in place of what the agent declares; empty: as it declares
	View
	Long   bool          `json:"cache_long,omitzero"` // the provider was asked to keep the request in its cache for long
	Waited time.Duration `json:"waited_ms,omitzero"`  // for the rate of the provider, since the last entry; not counted as the run's time
}

// Says reports whether the prompt of the view becomes part of the conversation,
// as it must when the reply does. Only the first attempt adds it.
func (e *ModelCalled) Says() bool {
	return e.View.Prompt != "" && e.Purpose == PurposeTurn && e.Attempt == 1 && !e.View.Alone
}

// reserved is the tokens that are set aside for the call.
func (e *ModelCalled) reserved() Usage {
	return Usage{Input: e.Reserved - e.MaxTokens, Output: e.MaxTokens}
}

// talks reports whether the next request of the conversation begins with this one.
func (e *ModelCalled) talks() bool {
	return e.Purpose == PurposeTurn && !e.View.Alone && !e.View.Bare && e.View.System == ""
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
	Purpose Purpose   `json:"purpose,omitzero"`
	Class   Class     `json:"class,omitzero"`
	Message string    `json:"message"`
	Attempt int       `json:"attempt"`
	RetryAt time.Time `json:"retry_at"`
	Usage   Usage     `json:"usage,omitzero"`
	Cost    float64   `json:"cost_usd,omitzero"`
}

// PlanRejected rejects a reply: none of its calls is valid, it was cut off, or
// it does not follow the output schema. The model reads Feedback and replies
// again.
type PlanRejected struct {
	Reasons   []string `json:"reasons"`
	Feedback  string   `json:"feedback"`
	Rejection int      `json:"rejection"` // how many replies of this iteration were rejected, from 1
}

// Observed is what the agent's observer saw.
type Observed struct {
	Text   string          `json:"text"`
	Data   json.RawMessage `json:"data,omitzero"`
	Failed bool            `json:"failed,omitzero"` // nothing was seen or measured; Text says why
}

// Measured is a value of the goal's metric. Open names what is still wrong, such
// as failing tests, so that fixing one thing and breaking another shows.
type Measured struct {
	Value float64  `json:"value"`
	Open  []string `json:"open,omitzero"`
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
	From    uint64   `json:"from"`
	To      uint64   `json:"to"`
	Masked  []string `json:"masked,omitzero"` // calls whose results are shown as left out
	Summary string   `json:"summary,omitzero"`
	Kept    int      `json:"kept,omitzero"`
	Why     string   `json:"why,omitzero"` // such as "price", "pause", "tools" or "limit"
}

// Reflected is a judgement of how the run is going. Confidence is between 0 and
// 1. If Hint is not empty, the model reads it before its next turn.
type Reflected struct {
	Text       string  `json:"text"`
	Confidence float64 `json:"confidence"`
	By         string  `json:"by,omitzero"`
	Hint       string  `json:"hint,omitzero"`
}

// Grounded says whether an answer is supported by the run's inputs and results. A rejected
// answer does not end the run: the model reads Hint and goes on. An accepted answer may also
// have a Hint, which asks the model to check the Claims once more.
type Grounded struct {
	OK     bool     `json:"ok"`
	Claims []string `json:"claims,omitzero"` // what is not supported
	By     string   `json:"by,omitzero"`
	Hint   string   `json:"hint,omitzero"`
}

// CausesFound is a graph of the tool calls that says which led to which.
type CausesFound struct {
	Graph json.RawMessage `json:"graph"`
}

// Judgement is what a [ProgressJudged] found.
type Judgement int

// The judgements.
const (
	JudgedRefuted   Judgement = 1 + iota // the model called it done, the goal says it is not
	JudgedRepeating                      // the run is stuck: its latest turns follow a pattern
	JudgedHinted                         // a hint was put before the model
	JudgedRegressed                      // the last turn made the goal's measure worse
)

var judgements = naming.NewEnum[Judgement]("judgement", []string{"refuted", "repeating", "hinted", "regressed"})

// String returns the judgement's name in the log.
func (j Judgement) String() string                { return judgements.String(j) }
func (j Judgement) MarshalText() ([]byte, error)  { return judgements.Marshal(j) }
func (j *Judgement) UnmarshalText(b []byte) error { return judgements.Unmarshal(j, b) }

// ProgressJudged says whether the run makes progress. Streak is how often the
// pattern repeated or, for a regression, the turn that caused it. If Hint is
// not empty, the model reads it before its next turn.
type ProgressJudged struct {
	Judgement Judgement `json:"judgement,omitzero"`
	Detail    string    `json:"detail"`
	Streak    int       `json:"streak,omitzero"`
	Hint      string    `json:"hint,omitzero"`
}

// ProgressLogged is a message by the model about its own progress.
type ProgressLogged struct {
	Call    string `json:"call"`
	Message string `json:"message"`
}

// MemoryStored keeps a value under a key until the end of the run.
type MemoryStored struct {
	Call  string          `json:"call"`
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}
