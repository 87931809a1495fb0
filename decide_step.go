package pawl

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/usercode"
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
	System string `json:"system,omitzero"` // replaces the agent's prompt
	Prompt string `json:"prompt,omitzero"` // said by the user after everything else
	Alone  bool   `json:"alone,omitzero"`  // without the conversation
	Bare   bool   `json:"bare,omitzero"`   // without tools

	// ToolChoice makes the reply to a turn call a tool: "required" any, else the one of this name.
	// A reply that does not is rejected and asked for again. Empty: as the model likes.
	ToolChoice string `json:"tool_choice,omitzero"`

	// Step makes a turn a step of a loop under this label, by which [State.Step]
	// finds it. The conversation starts again with Prompt, without tools, and the
	// reply is not a final answer: only the loop ends the run. Output is the JSON
	// Schema that the reply must follow; empty: free text.
	Step   string `json:"step,omitzero"`
	Output string `json:"output,omitzero"`
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

	// Once and Named keep a CallAsk from standing permissions: with Once none covers it, and each
	// argument in Named must be one whose value the permission fixes. A policy can only add to them.
	Once  bool
	Named []string

	info  *ToolInfo // what the tool declares; never nil
	facts *Record   // for CallReuse of a pure tool and CallHand of a Waiter: what is recorded
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
// replies. A policy that ends the run gives out only this Answer: if it is empty,
// the run has none.
type Finish struct {
	Verdict Verdict
	Answer  string

	withheld bool // a policy keeps the model's answer back
}

// Stopped returns the event that records the end.
func (f Finish) Stopped() RunStopped {
	v := f.Verdict
	return RunStopped{Status: v.Status, Condition: v.Condition, Leaf: v.Leaf, Detail: v.Detail, Answer: f.Answer, Withheld: f.withheld}
}

// Success ends the run as a success. An empty answer leaves the model's last text as the answer.
func Success(answer string) Step {
	return Finish{Answer: answer, Verdict: verdict(StatusSuccess, "done", "the loop is done")}
}

func (Observe) step() {}
func (Think) step()   {}
func (Act) step()     {}
func (Record) step()  {}
func (Await) step()   {}
func (Finish) step()  {}

// unsound says why a step of a loop's or a policy's cannot be taken; empty: it can.
func unsound(step Step) string {
	switch step := step.(type) {
	case nil:
		return "returned no step"
	case Think:
		if step.Purpose == "" {
			return "wants to think for no purpose; PurposeTurn is a turn of the conversation"
		}
	case Record:
		if len(step.Events) == 0 {
			return "wants to record nothing"
		}
		for _, e := range step.Events {
			if why := unfit(e); why != "" {
				return "wants to record " + why
			}
		}
	case Await:
		if step.Status != StatusPaused && !step.Status.Waiting() {
			return fmt.Sprintf("wants to wait as %v, which is no way to wait", step.Status)
		}
	case Finish:
		if v := step.Verdict; !v.Status.Ended() {
			return fmt.Sprintf("ends the run as %v, which is no end", v.Status)
		}
	}
	return ""
}

// Given reports whether the note comes from a hook, a signal, a board, a budget or a model, not from a step.
func (n Noted) Given() bool {
	ours := n.By == "__board__" || n.By == "__budget__" || n.By == "__model__"
	return ours || n.Signal != 0 || strings.HasPrefix(n.By, "hook ")
}

// External reports whether an event comes from outside the run: from an owner, a person, a client, a hook or
// a limit. Every other event is decided by the machine, or recorded by the engine as it performs a step.
func External(event Event) bool {
	switch e := event.(type) {
	case RunStarted, RunResumed, RunExtended, RunForked, CancelRequested, HookDirected, InstructionsGiven, ClientToolReturned, ApprovalDecided, ToolSettled:
		return true
	case InputGiven:
		return e.Call != "" || e.Signal != 0 // a message for later is decided in its turn
	case NoticeGiven:
		return e.Given()
	case RunPaused: // a shutdown, queued, or by the engine for a rate
		return (e.Status == StatusPaused || e.Status == StatusQueued) && (e.WakeAt.IsZero() || e.Rate != "")
	case RunStopped:
		return e.Leaf == usercode.PanicLeaf // the machine could not decide
	}
	return false
}

// unfit says why only the engine may record an event; empty: a loop or policy may, too.
func unfit(e Event) string {
	switch e := e.(type) {
	case nil:
		return "an event that is nil"
	case Noted:
		if e.By == "" || strings.HasPrefix(e.By, "__") || e.Given() {
			return fmt.Sprintf("a note by %q; it is to name itself, and names that begin with __ or \"hook \" are reserved", e.By)
		}
		if e.Value != nil && !json.Valid(e.Value) {
			return fmt.Sprintf("the note %s.%s, whose value is not JSON", e.By, e.Name)
		}
		return ""
	case Reflected, Grounded, CausesFound, ProgressJudged, ContextCompacted, InputRequested:
		return ""
	}
	return e.event() + ", which only the machine and the engine may; a loop's own facts are Noted"
}
