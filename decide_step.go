package pawl

import (
	"cmp"
	"time"

	"github.com/pawl-run/pawl/internal/naming"
)

// A Step is what must happen next. The pure part returns it, the engine
// performs it, and the entries that the engine appends change the state. The
// set is closed.
type Step interface {
	step()
}

// Observe looks at the world through the agent's Observer and measures its goal.
type Observe struct{}

// Think calls the model. A loop sets Purpose and, if it wants to, View. A loop or
// policy may also name an auxiliary model and lower MaxTokens.
type Think struct {
	Purpose   Purpose
	View      View
	Model     string // the name of an auxiliary model; empty: the agent's model. See [Auxiliary]
	MaxTokens int    // the most tokens of output; the machine lowers it to what the limits leave
	Long      bool   // the provider is to keep what it caches for long; see [Price]

	Prepared
}

// Prepared is what the machine adds to a [Think]. What a loop or a policy writes
// here has no effect.
type Prepared struct {
	Iteration int       // the turn that the request belongs to
	Attempt   int       // how often this turn was tried, from 1
	Estimate  int       // expected tokens of input
	Bytes     int       // of input, from which Estimate was computed
	Cost      float64   // reserved dollars
	NotBefore time.Time // when to send it; zero: at once
	Fallback  int       // which of the agent's fallbacks to ask; zero: its model
	Hosted    Usage     // the most that hosted tools may add
	Effort    string    // how much the model thinks, in place of the agent's [Sampling.Effort]; empty: as that says
}

// A View says by reference what a Think shows the model. The zero View is the
// conversation so far with the agent's prompt and tools.
type View struct {
	System string `wire:"system,omit"` // replaces the agent's prompt
	Prompt string `wire:"prompt,omit"` // said by the user after everything else
	Alone  bool   `wire:"alone,omit"`  // without the conversation
	Bare   bool   `wire:"bare,omit"`   // without tools

	// Step makes a turn a step of a loop under this label, by which [State.Step]
	// finds it. The conversation starts again with Prompt, and the reply is not a
	// final answer: only the loop ends the run. Output is the JSON Schema that the
	// reply must follow; empty: free text.
	Step   string `wire:"step,omit"`
	Output string `wire:"output,omit"`
}

// Act runs or otherwise answers open calls. A loop returns it empty, which
// means all open calls, and the machine classifies each. While no call is open,
// a loop may return calls of its own, with Tool, Args and Step set: the machine
// opens them, and no model sees them.
type Act struct{ Calls []Classified }

// Classified is a call with its classification.
type Classified struct {
	Call Call
	Do   Classification
	Why  string // for CallAsk: what the approver reads; for CallRefuse: what the model reads
	Of   string // for CallReuse: the earlier call
	Key  string // for CallRun: the idempotency key
	Step string // of a call that a loop makes: the loop's label; see [State.Step]

	// Child is the run that a call to an agent is, and Limits what that may use.
	Child  string
	Limits *Limits

	// Approved says that a decision lets the call run. The engine checks just
	// before the start that the decision is still valid.
	Approved bool

	info  *ToolInfo // what the tool declares; never nil
	facts *Record   // for Reuse of a pure tool: its answer
}

// NotRun returns the event for a call that did not start because the run's time was used up.
func (d Classified) NotRun() Event { return notRun(&d.Call, "") }

// Info is what the call's tool declares; the zero ToolInfo for an unknown one.
func (d Classified) Info() ToolInfo {
	return *cmp.Or(d.info, &noTool)
}

// Classification says what happens to a call. A policy may only make it
// stricter.
type Classification int

// The classifications, from the freest to the strictest.
const (
	CallRun    Classification = 1 + iota // the engine runs it
	CallReuse                            // it is answered from the log
	CallHand                             // a client or a person answers it
	CallAsk                              // a person must approve it first
	CallRefuse                           // it is not run
)

var classifications = naming.NewEnum[Classification]("classification", []string{"run", "reuse", "hand", "ask", "refuse"})

// String returns the classification's name.
func (d Classification) String() string { return classifications.String(d) }

// Record appends facts that the pure part decided.
type Record struct{ Events []Event }

// Await suspends the run until a signal comes or Until passes.
type Await struct {
	Status Status
	Reason string
	Until  time.Time // zero: only a signal helps
}

// Finish ends the run. Answer is the run's answer when that is not the model's
// last text, such as the outcome of a vote or a text composed of several
// replies.
type Finish struct {
	Verdict Verdict
	Answer  string
}

func (Observe) step() {}
func (Think) step()   {}
func (Act) step()     {}
func (Record) step()  {}
func (Await) step()   {}
func (Finish) step()  {}
