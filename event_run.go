package pawl

import (
	"time"

	"github.com/pawl-run/pawl/internal/wire"
)

// RunStarted begins every log. It holds the agent's whole declaration, so that
// the log can be read, explained and decided again without the program.
type RunStarted struct {
	Declaration Declaration
	Input       string
	Labels      map[string]string
	Thread      string
	Parent      string
	Owner       string
	Epoch       uint64
	Continues   *Continues // nil: the conversation begins here
	Key         string     // under which it was asked for; see engine.StartOptions
	Nonce       string     // keeps the keys of its calls apart from those of another run by the same id
	Untrusted   bool       // the input is not that of somebody who is trusted; see [State.Tainted]
	Traceparent string     // the place in a distributed trace of whoever asked, as W3C Trace Context writes it; empty: unknown
}

// RunPaused parks a run: nothing is in flight and nobody owns it.
type RunPaused struct {
	Status Status // a waiting status, or Paused
	Reason string
	WakeAt time.Time // when it wants to be resumed; zero: when somebody says so
}

// RunResumed is appended by each new owner. Whatever was in flight is lost
// from here on. Counters that ended the run start afresh. Changed is the
// declaration from here on, when somebody allowed it to differ.
type RunResumed struct {
	Owner   string
	Epoch   uint64
	Changed *Declaration
}

// RunExtended changes what bounds the run. Zero fields of Limits stay as they are.
type RunExtended struct {
	Limits Limits
	Stop   string // replaces the stop condition when not empty
	By     string
	Letter int64
}

// RunForked follows the entries that a fork shares with the run it came from.
type RunForked struct {
	From   string // the run that wrote the last shared entry; a fork may share those of a run it never saw
	Seq    uint64 // the last shared entry
	Input  string // said in addition, when not empty
	Owner  string
	Epoch  uint64
	Labels map[string]string // in place of those of the shared entries; none: those
}

// PanicLeaf is the stop reason of a run that ended because code of its agent
// panicked. The engine writes it in place of what could not be decided.
const PanicLeaf = "panic"

// RunStopped ends a run, until it is resumed.
type RunStopped struct {
	Status    Status
	Condition string
	Leaf      string
	Detail    string
	Answer    string // of the loop's own; empty: what the model said
}

// CancelRequested asks the run to end.
type CancelRequested struct {
	By     string
	Reason string
	Letter int64
}

// ChildStarted has a call go on as a run of its own, which begins or is taken up
// again, and reserves its limits.
type ChildStarted struct {
	Call   string
	Child  string
	Agent  string
	Limits Limits
}

// ChildStopped settles what a child has used, all told. Its run has ended,
// waits, or, when it is interrupted, was found so by a new owner of the parent.
type ChildStopped struct {
	Call   string
	Child  string
	Status Status
	Usage  Usage
	Cost   float64
	// Unpriced says that it used what has no price.
	Unpriced bool
	WakeAt   time.Time // when a child that is paused wants to go on; zero: when somebody says so
	// ModelCalls is how often it reached a provider.
	ModelCalls int
}

// HookDirected records what a hook made of an entry. A retry withdraws the
// reply, or opens the call again, whose entry it names; a refused one changes
// nothing. [State.Retry] makes one.
type HookDirected struct {
	Hook      string
	Direction string // cancel, retry, or retry refused
	Reason    string
	Entry     uint64 // what it is about; zero: not said
	Call      string // the call whose result that entry is
	Refused   string // why a retry is refused
}

// Type returns "run.started".
func (RunStarted) Type() string { return "run.started" }

// Type returns "run.paused".
func (RunPaused) Type() string { return "run.paused" }

// Type returns "run.resumed".
func (RunResumed) Type() string { return "run.resumed" }

// Type returns "run.extended".
func (RunExtended) Type() string { return "run.extended" }

// Type returns "run.forked".
func (RunForked) Type() string { return "run.forked" }

// Type returns "run.stopped".
func (RunStopped) Type() string { return "run.stopped" }

// Type returns "cancel.requested".
func (CancelRequested) Type() string { return "cancel.requested" }

// Type returns "child.started".
func (ChildStarted) Type() string { return "child.started" }

// Type returns "child.stopped".
func (ChildStopped) Type() string { return "child.stopped" }

// Type returns "hook.directed".
func (HookDirected) Type() string { return "hook.directed" }

func (e *RunStarted) code(c *wire.Coder) {
	e.Declaration.code(c)
	c.String("input", &e.Input)
	c.OptStringMap("labels", &e.Labels)
	c.OptString("thread", &e.Thread)
	c.OptString("parent", &e.Parent)
	c.OptString("owner", &e.Owner)
	c.OptUint64("epoch", &e.Epoch)
	if c.Decoding() || e.Continues != nil {
		c.OptObject("continues", func(c *wire.Coder) {
			if e.Continues == nil {
				e.Continues = &Continues{}
			}
			c.String("run", &e.Continues.Run)
			c.Uint64("seq", &e.Continues.Seq)
			c.OptInt("bytes", &e.Continues.Bytes)
			c.OptInt("input_tokens", &e.Continues.Input)
			c.OptBool("untrusted", &e.Continues.Untrusted)
		})
	}
	c.OptString("key", &e.Key)
	c.OptString("nonce", &e.Nonce)
	c.OptBool("untrusted", &e.Untrusted)
	c.OptString("traceparent", &e.Traceparent)
}

func (e *RunPaused) code(c *wire.Coder) {
	wire.Enum(c, "status", &e.Status, statuses)
	c.OptString("reason", &e.Reason)
	c.OptTime("wake_at", &e.WakeAt)
}

func (e *RunResumed) code(c *wire.Coder) {
	c.String("owner", &e.Owner)
	c.Uint64("epoch", &e.Epoch)
	if c.Decoding() || e.Changed != nil {
		c.OptObject("changed", func(c *wire.Coder) {
			if e.Changed == nil {
				e.Changed = &Declaration{}
			}
			e.Changed.code(c)
		})
	}
}

func (e *RunExtended) code(c *wire.Coder) {
	c.Object("limits", e.Limits.code)
	c.OptString("stop", &e.Stop)
	c.OptString("by", &e.By)
	c.OptInt64("letter", &e.Letter)
}

func (e *RunForked) code(c *wire.Coder) {
	c.String("from", &e.From)
	c.Uint64("seq", &e.Seq)
	c.OptString("input", &e.Input)
	c.OptString("owner", &e.Owner)
	c.OptUint64("epoch", &e.Epoch)
	c.OptStringMap("labels", &e.Labels)
}

func (e *RunStopped) code(c *wire.Coder) {
	wire.Enum(c, "status", &e.Status, statuses)
	c.String("condition", &e.Condition)
	c.String("leaf", &e.Leaf)
	c.String("detail", &e.Detail)
	c.OptString("answer", &e.Answer)
}

func (e *CancelRequested) code(c *wire.Coder) {
	c.String("by", &e.By)
	c.String("reason", &e.Reason)
	c.OptInt64("letter", &e.Letter)
}

func (e *ChildStarted) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("child", &e.Child)
	c.String("agent", &e.Agent)
	c.Object("limits", e.Limits.code)
}

func (e *ChildStopped) code(c *wire.Coder) {
	c.String("call", &e.Call)
	c.String("child", &e.Child)
	wire.Enum(c, "status", &e.Status, statuses)
	c.Object("usage", e.Usage.code)
	c.Float("cost_usd", &e.Cost)
	c.OptBool("unpriced", &e.Unpriced)
	c.OptTime("wake_at", &e.WakeAt)
	c.OptInt("model_calls", &e.ModelCalls)
}

func (e *HookDirected) code(c *wire.Coder) {
	c.String("hook", &e.Hook)
	c.String("direction", &e.Direction)
	c.OptString("reason", &e.Reason)
	c.OptUint64("entry", &e.Entry)
	c.OptString("call", &e.Call)
	c.OptString("refused", &e.Refused)
}
