package pawl

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/pawl-run/pawl/internal/names"
)

// An Agent is a value: everything a run needs to know, nothing of it running.
// The zero value of every field but Name and Model is right.
type Agent struct {
	Name        string // [a-z0-9-]+
	Description string
	Prompt      string // the system prompt
	Model       Model
	Fallback    []Model // asked in turn when the one before cannot serve; see [Class.Elsewhere]
	Tools       []Tool

	Loop      Loop      // nil: ReAct
	Strategy  Strategy  // zero: Native
	Stop      Condition // further reasons to end; nil: none
	Limits    Limits
	Policies  []Policy
	Observer  Observer        // nil: the agent does not observe
	Goal      *Goal           // nil: none
	Output    json.RawMessage // JSON Schema of the answer; nil: free text
	Sampling  Sampling
	Approvals Approvals
	Trust     map[string]Trust // labels of tools, by name, in place of those that they give themselves
	Serial    bool             // one call at a time
	// MaxParallel is how many calls of a run may be in flight at once; all runs of
	// one process together may have four times as many. The others wait, in call
	// order. Zero: 10 calls of tools that are External, and 256 of others.
	MaxParallel int
	Builtins    bool // offer __complete__, __pause_for_human__, __store_memory__, __retrieve_memory__, __log_progress__

	Trace     bool   // whoever shows the result adds the reasoning trace
	ResultKey string // what the result's context knows the answer by; empty: it has no context

	Labels map[string]string // free words to find the agent's runs by
	Source string            // where the agent came from, opaque; recorded, not digested

	inherited int // how many of the first policies are a parent's, which has checked them
}

// An Observer looks at the world: before the first turn, after every action and
// resumption, and when success is claimed against a goal. Observe is called from one
// goroutine of the run; an error is told to the model in place of what was seen.
type Observer interface {
	Observe(ctx context.Context) (Observation, error)
}

// ObserverFunc makes an Observer of a function.
type ObserverFunc func(context.Context) (Observation, error)

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context) (Observation, error) { return f(ctx) }

// An Observation is what an [Observer] saw: Text for the model, Data for the metric.
type Observation struct {
	Text string
	Data json.RawMessage
}

// A Goal says by a number whether the work is done. A model cannot declare
// success against it: its "done" is sent back with the evidence.
type Goal struct {
	Metric  Metric
	Success Condition // such as stop.Metric(">=", 0)
}

// A Metric measures the goal after each observation. An error leaves the goal
// unmeasured, and so unmet, until the next one; before the first model call it
// ends the run as failed, and so does an error of the Observer there.
type Metric interface {
	Measure(ctx context.Context, o Observation) (Measure, error)
}

// MetricFunc makes a Metric of a function.
type MetricFunc func(context.Context, Observation) (Measure, error)

// Measure calls f.
func (f MetricFunc) Measure(ctx context.Context, o Observation) (Measure, error) { return f(ctx, o) }

// A Measure is one reading of a [Metric]. Open names what is still wrong.
type Measure struct {
	Value float64
	Open  []string
}

func (m Measure) clone() *Measure { return &Measure{m.Value, slices.Clone(m.Open)} }

// Approvals says how requests for approval are treated. Which calls need one is
// for policies to say.
type Approvals struct {
	TTL        time.Duration `wire:"ttl,omit"`          // how long a decision may take, and be used; zero: 24 hours
	StopOnDeny bool          `wire:"stop_on_deny,omit"` // a denial ends the run instead of being told to the model
	// IgnoreObservation lets an approval stand although the agent, which has an
	// Observer or a Goal, has seen the world change between the request and the call.
	IgnoreObservation bool `wire:"ignore_observation,omit"`
}

// A Checker is a part of an agent (a tool, loop, policy or condition) that can
// tell what is wrong with it, or with the agent it stands in.
// [NewMachine] asks every part and reports all answers together.
type Checker interface {
	Check(Agent) error
}

// An Auxiliary is a policy or a loop that asks models of its own: it names
// one of them in [Think.Model], as the model describes itself. These models are
// declared, priced and held to the run's ceilings like the agent's model.
type Auxiliary interface {
	AuxiliaryModels() []Model
}

// Strategy is how a model is told to call tools.
type Strategy int

// The strategies.
const (
	StrategyNative Strategy = 1 + iota // the provider's own tool calls
	StrategyJSON                       // one JSON object a turn: thought, action, action_input
)

var strategies = names.Make[Strategy]("strategy", []string{"native", "json"})

// String returns the strategy's name.
func (s Strategy) String() string                { return strategies.String(s) }
func (s Strategy) MarshalText() ([]byte, error)  { return strategies.Marshal(s) }
func (s *Strategy) UnmarshalText(b []byte) error { return strategies.Unmarshal(s, b) }

// observes reports whether an Observe step does anything.
func (a *Agent) observes() bool { return a.Observer != nil || a.Goal != nil }
