package pawl

import (
	"time"

	"github.com/pawl-run/pawl/internal/names"
)

// A Step is what must happen next. The pure part returns it, the engine
// performs it, and the entries it appends change the state. The set is closed.
type Step interface {
	step()
}

// Observe looks at the world through the agent's [Observer] and measures its goal.
type Observe struct{}

// Think calls the model. A loop sets Purpose and, if it wants to, View. A loop or
// policy may also name an auxiliary model and lower MaxTokens.
type Think struct {
	Purpose   Purpose
	View      View
	Model     string // the name of an auxiliary model; empty: the agent's model. See [Auxiliary]
	MaxTokens int    // the most tokens of output; the machine lowers it to what the limits leave

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
}

// A View says by reference what a Think shows the model. The zero View is the
// conversation so far with the agent's prompt and tools.
type View struct {
	System string `wire:"system,omit"` // replaces the agent's prompt
	Prompt string `wire:"prompt,omit"` // said by the user after everything else
	Alone  bool   `wire:"alone,omit"`  // without the conversation
	Bare   bool   `wire:"bare,omit"`   // without tools

	// Step makes a turn a step of a loop, by this label, which [State.Step]
	// finds it under. The conversation begins afresh with Prompt, and the reply is
	// no final answer: it takes the loop to end the run. Output is the JSON Schema
	// the reply must follow; empty: any text will do.
	Step   string `wire:"step,omit"`
	Output string `wire:"output,omit"`
}

// Act settles open calls. A loop returns it empty, meaning all of them; the
// machine classifies each. While none is open, a loop may return the
// calls that it makes itself, of which it says Tool, Args and Step: they are
// opened, and no model is told of them.
type Act struct{ Calls []Classified }

// Classified is a call with what is to become of it.
type Classified struct {
	Call Call
	Do   Classification
	Why  string // for Ask: what the approver is told; for Refuse: what the model is told
	Of   string // for Reuse: the earlier call
	Key  string // for Run: the idempotency key
	Step string // of a call that a loop makes: what the loop calls it; see [State.Step]

	// Child is the run that a call to an agent is, and Limits what that may use.
	Child  string
	Limits Limits

	// Approved says that a decision lets the call run. Whether it still holds
	// is looked at just before it starts.
	Approved bool

	info  *ToolInfo // what the tool declares; never nil
	facts *Record   // for Reuse of a pure tool: its answer
}

// NotRun is the entry for a call whose turn came when the run's time was over.
func (d Classified) NotRun() Event { return notRun(&d.Call, "") }

// Info is what the call's tool declares; the zero ToolInfo for an unknown one.
func (d Classified) Info() ToolInfo {
	if d.info == nil {
		return ToolInfo{}
	}
	return *d.info
}

// Classification is what becomes of a call. A policy may only move it rightwards.
type Classification int

// The classes, from the freest to the strictest.
const (
	CallRun    Classification = 1 + iota // the engine runs it
	CallReuse                            // it is answered from the log
	CallHand                             // a client or a person answers it
	CallAsk                              // somebody must approve it first
	CallRefuse                           // it is not run
)

var classifications = names.Make[Classification]("classification", []string{"run", "reuse", "hand", "ask", "refuse"})

// String returns the classification's name.
func (d Classification) String() string { return classifications.String(d) }

// Record appends facts that the pure part decided.
type Record struct{ Events []Event }

// Await parks the run until a signal comes or Until passes.
type Await struct {
	Status Status
	Reason string
	Until  time.Time // zero: only a signal helps
}

// Finish ends the run. Answer is what it has to say when that is not what the
// model said last: a decision that was counted, a text that was put together.
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
