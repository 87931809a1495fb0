package pawl

import (
	"strings"
	"time"
)

// RunStarted is the first event of every log. It holds the agent's whole declaration, so that
// the log can be read, explained and replayed without the program that wrote it.
type RunStarted struct {
	Declaration
	Input       string            `json:"input"`
	Files       []File            `json:"files,omitzero"` // attached to the input
	Labels      map[string]string `json:"labels,omitzero"`
	Thread      string            `json:"thread,omitzero"`
	Parent      string            `json:"parent,omitzero"`
	Owner       string            `json:"owner,omitzero"`
	Epoch       uint64            `json:"epoch,omitzero"`
	Continues   *Continues        `json:"continues,omitzero"`   // nil: the conversation begins here
	Key         string            `json:"key,omitzero"`         // the idempotency key of its start; see engine.StartOptions
	Nonce       string            `json:"nonce,omitzero"`       // separates the keys of its calls from those of another run with the same id
	Untrusted   bool              `json:"untrusted,omitzero"`   // the input comes from an untrusted party; see [State.Tainted]
	Traceparent string            `json:"traceparent,omitzero"` // the caller's place in a distributed trace, in the form of W3C Trace Context; empty: unknown
}

// RunPaused suspends a run: no effect is in progress, and the run has no owner.
type RunPaused struct {
	Status Status    `json:"status,omitzero"` // a waiting status, or Paused
	Reason string    `json:"reason,omitzero"`
	WakeAt time.Time `json:"wake_at,omitzero"` // when to resume it; zero: only on request
	Rate   string    `json:"rate,omitzero"`    // the provider whose rate it waits for; empty: none
}

// RunResumed is appended by each new owner. From here on, effects that were in progress count
// as lost, and the counters that ended the run are reset. Changed is the new declaration, if it
// may differ.
type RunResumed struct {
	Owner   string       `json:"owner"`
	Epoch   uint64       `json:"epoch"`
	Changed *Declaration `json:"changed,omitzero"`
}

// RunExtended changes the limits or the stop condition of the run. Zero fields
// of Limits stay as they are.
type RunExtended struct {
	Limits Limits `json:"limits"`
	Stop   string `json:"stop,omitzero"` // replaces the stop condition when not empty
	By     string `json:"by,omitzero"`
	Signal int64  `json:"signal,omitzero"`
}

// RunForked follows the entries that a fork shares with the run it was forked from.
type RunForked struct {
	From   string            `json:"from"`            // the run that wrote the last shared entry
	Seq    uint64            `json:"seq"`             // the last shared entry
	Digest string            `json:"digest,omitzero"` // the digest of the log of From at that entry
	Input  string            `json:"input,omitzero"`  // additional input; empty: none
	Owner  string            `json:"owner,omitzero"`
	Epoch  uint64            `json:"epoch,omitzero"`
	Labels map[string]string `json:"labels,omitzero"` // in place of those of the shared entries; none: those
	By     string            `json:"by,omitzero"`
}

// RunStopped ends a run. If its status is resumable, the run may go on later. Leaf is panic if
// code of the agent panicked, so that nothing could be decided.
type RunStopped struct {
	Status    Status `json:"status,omitzero"`
	Condition string `json:"condition"`
	Leaf      string `json:"leaf"`
	Detail    string `json:"detail"`
	Answer    string `json:"answer,omitzero"`   // the loop's own answer; empty: the model's
	Withheld  bool   `json:"withheld,omitzero"` // a policy kept the model's answer back
}

// CancelRequested asks the run to end, or one of its calls.
type CancelRequested struct {
	Call   string `json:"call,omitzero"` // empty: the run
	By     string `json:"by"`
	Reason string `json:"reason"`
	Signal int64  `json:"signal,omitzero"`
}

// ChildStarted says that a call runs as a child run, which starts or resumes
// with these limits.
type ChildStarted struct {
	Call   string `json:"call"`
	Child  string `json:"child"`
	Agent  string `json:"agent"`
	Limits Limits `json:"limits"`
}

// ChildStopped books what a child has used in total. The child has ended, waits or is
// paused; interrupted means that a new owner of the parent found it so.
type ChildStopped struct {
	Call   string  `json:"call"`
	Child  string  `json:"child"`
	Status Status  `json:"status,omitzero"`
	Usage  Usage   `json:"usage"`
	Cost   float64 `json:"cost_usd"`
	// Unpriced says that the child used a model without a price, so Cost is too low.
	Unpriced bool      `json:"unpriced,omitzero"`
	WakeAt   time.Time `json:"wake_at,omitzero"` // when to resume a paused child; zero: only on request
	// ModelCalls is how many model calls reached a provider.
	ModelCalls int `json:"model_calls,omitzero"`
}

// InstructionsGiven is what Agent.Instruct returned, when it differs from what the model has read. The
// model reads it before its next turn, and at the beginning of each step.
type InstructionsGiven struct {
	Text string `json:"text"`
}

// Says is what the model reads.
func (e InstructionsGiven) Says() string {
	if e.Text == "" {
		return "Instructions as of now: none."
	}
	return "Instructions as of now:\n" + e.Text
}

// NoticeGiven says that most of a limit or a budget is used. About names the limit as specs do, or
// the account of a budget; with "instructions", it says that these could not be computed. Used and
// Most are in the limit's unit: seconds for time, dollars for cost. Text says the same in words; the
// model reads it before its next turn if Told is set.
type NoticeGiven struct {
	About string  `json:"about"`
	Used  float64 `json:"used"`
	Most  float64 `json:"most"`
	Text  string  `json:"text"`
	Told  bool    `json:"told,omitzero"`
}

// Given reports whether the notice comes from the engine, not from a step: it is about a budget or
// instructions.
func (e NoticeGiven) Given() bool {
	return strings.HasPrefix(e.About, "budget ") || e.About == "instructions"
}

// Says is what the model reads; empty: nothing.
func (e NoticeGiven) Says() string {
	if !e.Told {
		return ""
	}
	return "Notice: " + e.Text + " Finish within what is left."
}

// HookDirected records what a hook directed after an entry. A retry withdraws the reply, or
// reopens the call, whose entry it names. A refused retry changes nothing. [Internals.Retry] makes
// one.
type HookDirected struct {
	Hook      string `json:"hook"`
	Direction string `json:"direction"` // cancel, retry, or retry refused
	Reason    string `json:"reason,omitzero"`
	Entry     uint64 `json:"entry,omitzero"`   // what it is about; zero: no entry
	Call      string `json:"call,omitzero"`    // the call whose result that entry is
	Refused   string `json:"refused,omitzero"` // why a retry is refused
}
