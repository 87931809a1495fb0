package pawl

import "time"

// RunStarted is the first event of every log. It holds the agent's whole declaration, so that
// the log can be read, explained and replayed without the program that wrote it.
type RunStarted struct {
	Declaration Declaration       `wire:",inline"`
	Input       string            `wire:"input"`
	Files       []File            `wire:"files,omit"` // attached to the input
	Labels      map[string]string `wire:"labels,omit"`
	Thread      string            `wire:"thread,omit"`
	Parent      string            `wire:"parent,omit"`
	Owner       string            `wire:"owner,omit"`
	Epoch       uint64            `wire:"epoch,omit"`
	Continues   *Continues        `wire:"continues,omit"`   // nil: the conversation begins here
	Key         string            `wire:"key,omit"`         // the idempotency key of its start; see engine.StartOptions
	Nonce       string            `wire:"nonce,omit"`       // separates the keys of its calls from those of another run with the same id
	Untrusted   bool              `wire:"untrusted,omit"`   // the input comes from an untrusted party; see [State.Tainted]
	Traceparent string            `wire:"traceparent,omit"` // the caller's place in a distributed trace, in the form of W3C Trace Context; empty: unknown
}

// RunPaused suspends a run: no effect is in progress, and the run has no owner.
type RunPaused struct {
	Status Status    `wire:"status,omit"` // a waiting status, or Paused
	Reason string    `wire:"reason,omit"`
	WakeAt time.Time `wire:"wake_at,omit"` // when to resume it; zero: only on request
	Rate   string    `wire:"rate,omit"`    // the provider whose rate it waits for; empty: none
}

// RunResumed is appended by each new owner. From here on, effects that were in progress count
// as lost, and the counters that ended the run are reset. Changed is the new declaration, if it
// may differ.
type RunResumed struct {
	Owner   string       `wire:"owner"`
	Epoch   uint64       `wire:"epoch"`
	Changed *Declaration `wire:"changed,omit"`
}

// RunExtended changes the limits or the stop condition of the run. Zero fields
// of Limits stay as they are.
type RunExtended struct {
	Limits Limits `wire:"limits"`
	Stop   string `wire:"stop,omit"` // replaces the stop condition when not empty
	By     string `wire:"by,omit"`
	Signal int64  `wire:"signal,omit"`
}

// RunForked follows the entries that a fork shares with the run it was forked from.
type RunForked struct {
	From   string            `wire:"from"`       // the run that wrote the last shared entry
	Seq    uint64            `wire:"seq"`        // the last shared entry
	Input  string            `wire:"input,omit"` // additional input; empty: none
	Owner  string            `wire:"owner,omit"`
	Epoch  uint64            `wire:"epoch,omit"`
	Labels map[string]string `wire:"labels,omit"` // in place of those of the shared entries; none: those
	By     string            `wire:"by,omit"`
	Edited bool              `wire:"edited,omit"` // By wrote the entry that follows, in place of entry Seq+1 of the other run
}

// RunStopped ends a run. If its status is resumable, the run may go on later. Leaf is panic if
// code of the agent panicked, so that nothing could be decided.
type RunStopped struct {
	Status    Status `wire:"status,omit"`
	Condition string `wire:"condition"`
	Leaf      string `wire:"leaf"`
	Detail    string `wire:"detail"`
	Answer    string `wire:"answer,omit"` // the loop's own answer; empty: the model's
}

// CancelRequested asks the run to end.
type CancelRequested struct {
	By     string `wire:"by"`
	Reason string `wire:"reason"`
	Signal int64  `wire:"signal,omit"`
}

// ChildStarted says that a call runs as a child run, which starts or resumes
// with these limits.
type ChildStarted struct {
	Call   string `wire:"call"`
	Child  string `wire:"child"`
	Agent  string `wire:"agent"`
	Limits Limits `wire:"limits"`
}

// ChildStopped books what a child has used in total. The child has ended, waits or is
// paused; interrupted means that a new owner of the parent found it so.
type ChildStopped struct {
	Call   string  `wire:"call"`
	Child  string  `wire:"child"`
	Status Status  `wire:"status,omit"`
	Usage  Usage   `wire:"usage"`
	Cost   float64 `wire:"cost_usd"`
	// Unpriced says that the child used a model without a price, so Cost is too low.
	Unpriced bool      `wire:"unpriced,omit"`
	WakeAt   time.Time `wire:"wake_at,omit"` // when to resume a paused child; zero: only on request
	// ModelCalls is how many model calls reached a provider.
	ModelCalls int `wire:"model_calls,omit"`
}

// HookDirected records what a hook directed after an entry. A retry withdraws the reply, or
// reopens the call, whose entry it names. A refused retry changes nothing. [State.Retry] makes
// one.
type HookDirected struct {
	Hook      string `wire:"hook"`
	Direction string `wire:"direction"` // cancel, retry, or retry refused
	Reason    string `wire:"reason,omit"`
	Entry     uint64 `wire:"entry,omit"`   // what it is about; zero: no entry
	Call      string `wire:"call,omit"`    // the call whose result that entry is
	Refused   string `wire:"refused,omit"` // why a retry is refused
}
