package pawl

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/pawl-run/pawl/internal/naming"
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
	Cancelled     string            // who asked it to end, and why; empty: nobody
	Error         string            // what the model reads instead of a result
	Of            string            // the call whose result this one reuses
	Reason        string            // why it waits: the question, the approval's reason, or why its outcome is unknown
	Answers       map[string]string // see [Invocation]
	Edited        json.RawMessage
	By            string // who decided or answered
	Expires       time.Time
	WakeAt        time.Time         // when it is over without an answer; see [Waiter]
	Awaits        string            // the name of the signal that ends it before that
	Requested     uint64            // seq of the latest request about it
	Preconditions map[string]string // what its approver relied on
	Changed       []string          // what changed under its last approval
	TokenHash     string            // of the request's token
	Ran           bool              // it ran, rather than being refused, reused or answered by a person or client
	Retries       int               // times a hook had it run again
	Child         string            // the id of its child run, when its tool is an agent
	Trust         Trust             // what its tool was labelled when it was answered; zero: Trusted
	Rejected      bool              // its reply was rejected
	Omitted       bool              // the model reads of it only why the reply was rejected
	NotRun        bool              // the run's time was over before its turn came
	Files         []File            // of its result
	Blob          string            // digest of the whole result, when Result is an excerpt of it
}

// call is a call as State keeps it. An open call is edited in place, for no other State
// has it. One that is over may be shared and is copied before it changes.
type call struct {
	CallState // of which Preconditions are those of the first arguments; see relied

	batch    uint64    // the seq at which it was opened, with the others of its batch; zero: the provider ran it
	byLoop   bool      // the loop made it, not the model
	child    *childRun // of a call that is a run of its own; nil: it is none, or has not begun
	hosted   bool      // the provider ran it, and the reply has its result
	finished uint64    // seq of the tool.finished with its result
	masked   bool      // the model does not see the result any more

	question string    // the key of the latest question; empty: the answer is the result
	until    time.Time // Expires of the approval, while a question has one of its own

	decided             uint64            // seq of the approval, if it was waited for
	approved            bool              // it was approved, and still is
	digest              string            // what the request was bound to
	editedPreconditions map[string]string // of the arguments the approver made of them
	basis               *look             // what the run had seen when it was asked for; nil: nothing
	voided              int               // approvals that a change made void
	denial              *ApprovalDecided  // since the run was resumed; nil: it was not denied
}

// end gives the call an answer, or takes it back with the zero CallState.
func (c *call) end(with *CallState) {
	c.Status, c.Ran, c.Result, c.Error, c.Trust = with.Status, with.Ran, with.Result, with.Error, with.Trust
	c.Rejected, c.Omitted, c.NotRun, c.finished = with.Rejected, with.Omitted, with.NotRun, 0
}

func newCall(c Call, iteration int) *call {
	return &call{CallState: CallState{Call: c, Iteration: iteration, Phase: PhaseUndecided}}
}

// state is the call as others see it: a copy, which they may change.
func (c *call) state() CallState {
	s := c.CallState
	s.Args, s.Result, s.Edited = bytes.Clone(s.Args), bytes.Clone(s.Result), bytes.Clone(s.Edited)
	s.Files = slices.Clone(s.Files)
	for i := range s.Files {
		s.Files[i].Data = bytes.Clone(s.Files[i].Data)
	}
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

// Unclear reports whether an open call may have taken place.
func (p Phase) Unclear() bool {
	return p == PhaseInDoubt || p == PhaseLost || p == PhaseStarted || p == PhaseAwaitingChild
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

// unapprove takes an approval back, with what the approver made of the arguments.
func (c *call) unapprove() {
	c.Reason, c.Edited, c.approved, c.decided, c.digest, c.TokenHash, c.Preconditions = "", nil, false, 0, "", "", nil
	c.editedPreconditions, c.basis, c.Expires = nil, nil, time.Time{}
}
