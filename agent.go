package pawl

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl/internal/naming"
)

// An Agent is a value: everything a run needs to know. It holds no running
// parts, so one Agent may serve any number of runs. The zero value of every
// field but Name and Model is a good default.
type Agent struct {
	Name        string // [a-z0-9-]+
	Version     string // of the agent, such as "3"; recorded, and not a difference by itself
	Description string
	Prompt      string // the system prompt
	Model       Model
	Fallback    []Model // asked in turn when the one before cannot serve; see [Class.Elsewhere]
	Tools       []Tool

	Loop     Loop      // nil: ReAct
	Strategy Strategy  // zero: Native
	Stop     Condition // further reasons to end; nil: none
	Limits   Limits
	Policies []Policy
	// Observer looks at the world: before the first turn, after every action and
	// resumption, and when the model claims success against a goal. The engine
	// calls it from one goroutine of the run at a time. If it fails, the model
	// reads the error in place of the observation. Nil: the agent does not observe.
	Observer  func(context.Context) (Observation, error)
	Goal      *Goal           // nil: none
	Output    json.RawMessage // JSON Schema of the answer; nil: free text
	Sampling  Sampling
	Approvals Approvals
	Trust     map[string]Trust // labels by tool name; they override those of the tools
	Serial    bool             // one call at a time
	// MaxParallel is how many calls of a run may run at once. All runs of one
	// process together may have four times as many. Further calls wait, in call
	// order. Zero: 10 calls of tools that are External, and 256 of others.
	MaxParallel int
	// Core names the tools that the model is shown from the start, with * for any
	// characters. For the others it has the tool tool_search. Nil: it is shown all.
	Core     []string
	Builtins bool // offer __complete__, __pause_for_human__, __store_memory__, __retrieve_memory__, __log_progress__

	Trace     bool   // the command line adds the reasoning trace to the result
	ResultKey string // the key of the answer in the result's context; empty: the result has no context

	Labels map[string]string // names and values to find the agent's runs by
	Source string            // where the agent came from, opaque; recorded, not digested

	inherited int // how many of the first policies are a parent's, which has checked them
}

// An Observation is what an agent's Observer saw: Text for the model, Data for the metric.
type Observation struct {
	Text string
	Data json.RawMessage
}

// A Goal says by a number whether the work is done. A model cannot declare
// success against it: the machine sends its final answer back with the
// evidence.
type Goal struct {
	// Metric measures the goal after each observation. After an error the goal is
	// unmeasured, and so unmet, until the next observation. Before the first model
	// call, an error of the Metric or the Observer ends the run as failed.
	Metric  func(context.Context, Observation) (Measured, error)
	Success Condition // such as stop.Metric(">=", 0)
}

// Approvals configures requests for approval. Policies, such as those of package
// approval, decide which calls need one.
type Approvals struct {
	TTL        time.Duration `wire:"ttl,omit"`          // how long a request waits, and a decision stays valid; zero: 24 hours
	StopOnDeny bool          `wire:"stop_on_deny,omit"` // a denial ends the run; otherwise the model reads it
	// IgnoreObservation keeps an approval valid when an observation or a measure
	// differs between the request and the call.
	IgnoreObservation bool `wire:"ignore_observation,omit"`
}

// A Checker is a part of an agent (a tool, loop, policy or condition) that can
// report what is wrong with itself or with the agent it belongs to.
// [NewMachine] asks every part and reports all errors together.
type Checker interface {
	Check(Agent) error
}

// An Auxiliary is a policy or a loop that asks models of its own. It names one
// of them in [Think.Model], as the model describes itself. The agent's
// declaration lists these models; their calls count against the run's limits
// like those of the agent's model.
type Auxiliary interface {
	AuxiliaryModels() []Model
}

// Strategy is the way in which a model calls tools.
type Strategy int

// The strategies.
const (
	StrategyNative Strategy = 1 + iota // the provider's own tool calls
	StrategyJSON                       // one JSON object a turn: thought, action, action_input
)

var strategies = naming.NewEnum[Strategy]("strategy", []string{"native", "json"})

// String returns the strategy's name.
func (s Strategy) String() string                { return strategies.String(s) }
func (s Strategy) MarshalText() ([]byte, error)  { return strategies.Marshal(s) }
func (s *Strategy) UnmarshalText(b []byte) error { return strategies.Unmarshal(s, b) }

// observes reports whether an Observe step does anything.
func (a *Agent) observes() bool { return a.Observer != nil || a.Goal != nil }
