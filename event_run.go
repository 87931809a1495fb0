package pawl

import (
	"time"
)

// RunStarted begins every log. It holds the agent's whole declaration, so that
// the log can be read, explained and decided again without the program.
type RunStarted struct {
	Declaration Declaration       `wire:",inline"`
	Input       string            `wire:"input"`
	Labels      map[string]string `wire:"labels,omit"`
	Thread      string            `wire:"thread,omit"`
	Parent      string            `wire:"parent,omit"`
	Owner       string            `wire:"owner,omit"`
	Epoch       uint64            `wire:"epoch,omit"`
	Continues   *Continues        `wire:"continues,omit"`   // nil: the conversation begins here
	Key         string            `wire:"key,omit"`         // under which it was asked for; see engine.StartOptions
	Nonce       string            `wire:"nonce,omit"`       // keeps the keys of its calls apart from those of another run by the same id
	Untrusted   bool              `wire:"untrusted,omit"`   // the input is not that of somebody who is trusted; see [State.Tainted]
	Traceparent string            `wire:"traceparent,omit"` // the place in a distributed trace of whoever asked, as W3C Trace Context writes it; empty: unknown
}

// RunPaused parks a run: nothing is in flight and nobody owns it.
type RunPaused struct {
	Status Status    `wire:"status,omit"` // a waiting status, or Paused
	Reason string    `wire:"reason,omit"`
	WakeAt time.Time `wire:"wake_at,omit"` // when it wants to be resumed; zero: when somebody says so
}

// RunResumed is appended by each new owner. Whatever was in flight is lost
// from here on. Counters that ended the run start afresh. Changed is the
// declaration from here on, when somebody allowed it to differ.
type RunResumed struct {
	Owner   string       `wire:"owner"`
	Epoch   uint64       `wire:"epoch"`
	Changed *Declaration `wire:"changed,omit"`
}

// RunExtended changes what bounds the run. Zero fields of Limits stay as they are.
type RunExtended struct {
	Limits Limits `wire:"limits"`
	Stop   string `wire:"stop,omit"` // replaces the stop condition when not empty
	By     string `wire:"by,omit"`
	Signal int64  `wire:"letter,omit"`
}

// RunForked follows the entries that a fork shares with the run it came from.
type RunForked struct {
	From   string            `wire:"from"`       // the run that wrote the last shared entry; a fork may share those of a run it never saw
	Seq    uint64            `wire:"seq"`        // the last shared entry
	Input  string            `wire:"input,omit"` // said in addition, when not empty
	Owner  string            `wire:"owner,omit"`
	Epoch  uint64            `wire:"epoch,omit"`
	Labels map[string]string `wire:"labels,omit"` // in place of those of the shared entries; none: those
}

// PanicLeaf is the stop reason of a run that ended because code of its agent
// panicked. The engine writes it in place of what could not be decided.
const PanicLeaf = "panic"

// RunStopped ends a run, until it is resumed.
type RunStopped struct {
	Status    Status `wire:"status,omit"`
	Condition string `wire:"condition"`
	Leaf      string `wire:"leaf"`
	Detail    string `wire:"detail"`
	Answer    string `wire:"answer,omit"` // of the loop's own; empty: what the model said
}

// CancelRequested asks the run to end.
type CancelRequested struct {
	By     string `wire:"by"`
	Reason string `wire:"reason"`
	Signal int64  `wire:"letter,omit"`
}

// ChildStarted has a call go on as a run of its own, which begins or is taken up
// again, and reserves its limits.
type ChildStarted struct {
	Call   string `wire:"call"`
	Child  string `wire:"child"`
	Agent  string `wire:"agent"`
	Limits Limits `wire:"limits"`
}

// ChildStopped settles what a child has used, all told. Its run has ended,
// waits, or, when it is interrupted, was found so by a new owner of the parent.
type ChildStopped struct {
	Call   string  `wire:"call"`
	Child  string  `wire:"child"`
	Status Status  `wire:"status,omit"`
	Usage  Usage   `wire:"usage"`
	Cost   float64 `wire:"cost_usd"`
	// Unpriced says that it used what has no price.
	Unpriced bool      `wire:"unpriced,omit"`
	WakeAt   time.Time `wire:"wake_at,omit"` // when a child that is paused wants to go on; zero: when somebody says so
	// ModelCalls is how often it reached a provider.
	ModelCalls int `wire:"model_calls,omit"`
}

// HookDirected records what a hook made of an entry. A retry withdraws the
// reply, or opens the call again, whose entry it names; a refused one changes
// nothing. [State.Retry] makes one.
type HookDirected struct {
	Hook      string `wire:"hook"`
	Direction string `wire:"direction"` // cancel, retry, or retry refused
	Reason    string `wire:"reason,omit"`
	Entry     uint64 `wire:"entry,omit"`   // what it is about; zero: not said
	Call      string `wire:"call,omit"`    // the call whose result that entry is
	Refused   string `wire:"refused,omit"` // why a retry is refused
}
