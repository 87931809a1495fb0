package pawl

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/wire"
)

// CallState is what the log says of one call so far. It is a copy.
type CallState struct {
	Call
	Iteration     int
	Step          string // the loop's label, if the loop made the call; see [State.Step]
	Phase         Phase
	Attempt       int // tool.started entries so far
	Effect        Effect
	Key           string
	Started       time.Time // of the latest attempt
	Supervised    string    // where it is recorded, see [ToolStarted]
	Status        ToolStatus
	Result        json.RawMessage
	Error         string            // what the model reads instead of a result
	Of            string            // the call whose result this one reuses
	Reason        string            // why it waits: the question, the approval's reason, or why its outcome is unknown
	Answers       map[string]string // see [Invocation]
	Edited        json.RawMessage
	By            string // who decided or answered
	Expires       time.Time
	WakeAt        time.Time         // when it is over without an answer; see [Waiter]
	Requested     uint64            // seq of the latest request about it
	Preconditions map[string]string // what its approver relied on
	Changed       []string          // what changed under its last approval
	TokenHash     string            // of the request's token
	Ran           bool              // it ran, rather than being refused, reused or answered by a person or client
	Retries       int               // times a hook had it run again
	Child         string            // the id of its child run, when its tool is an agent
	Trust         Trust             // what its tool was labelled when it was answered; zero: Trusted
	Blob          string            // digest of the whole result, when Result is an excerpt of it
}

// call is a call as State keeps it. An open call is edited in place, for no other State
// has it. One that is over may be shared and is copied before it changes.
type call struct {
	CallState // of which Preconditions are those of the first arguments; see relied

	child    *childRun // of a call that is a run of its own; nil: it is none, or has not begun
	rejected bool      // its reply was rejected
	omitted  bool      // the model reads of it only why the reply was rejected
	notRun   bool      // the run's time was over before its turn came
	hosted   bool      // the provider ran it, and the reply has its result
	finished uint64    // seq of the tool.finished with its result
	images   []File
	masked   bool // the model does not see the result any more

	question string    // the key of the latest question; empty: the answer is the result
	until    time.Time // Expires of the approval, while a question has one of its own

	decided             uint64            // seq of the approval, if it was waited for
	approved            bool              // it was approved, and still is
	digest              string            // what the request was bound to
	editedPreconditions map[string]string // of the arguments the approver made of them
	basis               *look             // what the run had seen when it was asked for; nil: nothing
	voided              int               // approvals that a change made void
}

// ending is the answer of a call.
type ending struct {
	Status    ToolStatus
	Ran       bool
	Result    json.RawMessage
	Error     string
	untrusted bool
	rejected  bool
	omitted   bool
	notRun    bool
	finished  uint64
}

// end gives the call an answer, or takes it back with the zero ending.
func (c *call) end(with ending) {
	c.Status, c.Ran, c.Result, c.Error, c.Trust = with.Status, with.Ran, with.Result, with.Error, 0
	if with.untrusted {
		c.Trust = Untrusted
	}
	c.rejected, c.omitted, c.notRun, c.finished = with.rejected, with.omitted, with.notRun, with.finished
}

func newCall(c Call, iteration int) *call {
	return &call{CallState: CallState{Call: c, Iteration: iteration, Phase: PhaseUndecided}}
}

// state is the call as others see it: a copy, which they may change.
func (c *call) state() CallState {
	s := c.CallState
	s.Args, s.Result, s.Edited = bytes.Clone(s.Args), bytes.Clone(s.Result), bytes.Clone(s.Edited)
	s.Answers, s.Preconditions, s.Changed = maps.Clone(s.Answers), maps.Clone(c.relied()), slices.Clone(s.Changed)
	return s
}

// Phase is the state of a call.
type Phase int

// The phases. A call is open until it is Answered.
const (
	PhaseUndecided        Phase = 1 + iota // nothing has been done about it
	PhaseStarted                           // it runs
	PhaseLost                              // it ran when the run lost its owner
	PhaseAwaitingApproval                  // a person must approve it
	PhaseApproved                          // a person has approved it; it runs next
	PhaseAwaitingInput                     // a person must answer it
	PhaseAwaitingClient                    // the client must return its result
	PhaseInDoubt                           // its outcome is unknown
	PhaseAwaitingChild                     // it is a run of its own, which waits or is paused
	PhaseAnswered                          // it has its result
)

var phases = naming.NewEnum[Phase]("phase", []string{
	"undecided", "started", "lost", "awaiting_approval", "approved", "awaiting_input", "awaiting_client", "doubted", "awaiting_child", "answered",
})

// String returns the phase's name.
func (p Phase) String() string { return phases.String(p) }

// waiting says of phases in which a call waits for somebody what kind of [Pending]
// it is, and the status of a run that can do nothing but wait for it.
var waiting = map[Phase]struct {
	kind   string
	status Status
}{
	PhaseAwaitingApproval: {"approval", StatusWaitingApproval},
	PhaseAwaitingInput:    {"input", StatusWaitingInput},
	PhaseAwaitingClient:   {"client_tool", StatusWaitingClientTool},
	PhaseInDoubt:          {"doubt", StatusWaitingDoubt},
}

// ready reports whether the machine may classify the call now.
func (p Phase) ready() bool { return p == PhaseUndecided || p == PhaseLost || p == PhaseApproved }

// wakes reports whether the call is one of a [Waiter] that waits.
func (c *call) wakes() bool { return c.Phase == PhaseAwaitingInput && !c.WakeAt.IsZero() }

// args are the arguments to run: the approver's, if edited.
func (c *call) args() json.RawMessage {
	if c.Edited != nil {
		return c.Edited
	}
	return c.Call.Args
}

// relied is what the approver of the arguments to run relied on.
func (c *call) relied() map[string]string {
	if c.Edited != nil {
		return c.editedPreconditions
	}
	return c.Preconditions
}

// OK reports whether the call was answered with a result rather than an error.
func (c CallState) OK() bool { return c.Phase == PhaseAnswered && c.Status == ToolOK }

// A Turn is one model turn that is over.
type Turn struct {
	Iteration int
	Thought   string // the text of the reply, or its thinking when there is no text
	Answer    bool   // it called nothing
}

// said is the thought without the call that the JSON strategy puts beside it.
func (t *Turn) said(by Strategy) string {
	if by == StrategyJSON {
		return wire.Thought(t.Thought)
	}
	return t.Thought
}

// A Track describes one finished turn by digests, which suffice to tell whether a run repeats
// itself. Zero is the digest of nothing. Calls of exempt tools do not count.
type Track struct {
	Iteration int
	Thought   uint64    // the text of the reply, or its thinking
	Calls     uint64    // the tools and their canonical arguments
	Outcome   uint64    // the calls and their results
	Fault     uint64    // the tools and what went wrong with them, when no call succeeded; numbers and quoted words apart
	Exempt    bool      // it called exempt tools only
	Changed   bool      // a call that is no Read succeeded
	Measure   *Measured // the goal after it, before the next turn; nil: not measured
	Drift     *Measured // the goal when measured again, the run having done nothing since; nil: it was not
}

// Answer reports whether the turn called nothing.
func (t Track) Answer() bool { return t.Calls == 0 && !t.Exempt }
