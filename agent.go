package pawl

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
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
	TTL        time.Duration `json:"ttl,omitzero"`          // how long a request waits, and a decision stays valid; zero: 24 hours
	StopOnDeny bool          `json:"stop_on_deny,omitzero"` // a denial ends the run; otherwise the model reads it
	// IgnoreObservation keeps an approval valid when an observation or a measure
	// differs between the request and the call.
	IgnoreObservation bool `json:"ignore_observation,omitzero"`
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

// Limits are the limits of a run. A zero field takes its default; there is
// no way to have none of iterations, tokens and time.
type Limits struct {
	Iterations int           `json:"iterations,omitzero" max:"10000" usual:"20" about:"model turns"`
	Tokens     int           `json:"tokens,omitzero" usual:"500000" about:"input and output tokens of all model calls"`
	Time       time.Duration `json:"time,omitzero" usual:"30m" about:"running time; waiting does not count"`
	Cost       float64       `json:"cost,omitzero" above:"0" such:"2.00" usual:"no limit" about:"dollars; the model must have a price"`
	ToolErrors int           `json:"tool_errors,omitzero" usual:"3" about:"consecutive turns in which every call failed"`
	Attempts   int           `json:"attempts,omitzero" usual:"4" about:"failures of one kind that a model call may have"`
	Margin     float64       `json:"margin,omitzero" above:"0" max:"10" such:"0.1" usual:"0.1" about:"addition to the estimated tokens of a request, as a fraction of the estimate; 3 reserves one token a byte"`
	Depth      int           `json:"depth,omitzero" usual:"10" about:"nesting of child runs"` // negative: no child runs
	Handoffs   int           `json:"handoffs,omitzero" usual:"5" about:"handoffs of a [conversation](command.md#conversations)"`
	Rounds     int           `json:"rounds,omitzero" usual:"no cycles" about:"runs of each node of a [graph](workflow.md#graphs)"`
}

const maxIterations = 10_000

func (l Limits) withDefaults() Limits {
	l.Iterations, l.Tokens, l.Time = cmp.Or(l.Iterations, 20), cmp.Or(l.Tokens, 500_000), cmp.Or(l.Time, 30*time.Minute)
	l.ToolErrors, l.Attempts, l.Margin, l.Depth = cmp.Or(l.ToolErrors, 3), cmp.Or(l.Attempts, 4), cmp.Or(l.Margin, 0.1), cmp.Or(l.Depth, 10)
	return l
}

// Merge returns l with every field of m that is set.
func (l Limits) Merge(m Limits) Limits {
	return l.Combine(m, func(_ string, l, m float64) float64 { return cmp.Or(m, l) })
}

// Combine returns the limits that f makes of each limit of l and m. Name is that of specs and logs,
// and times are in nanoseconds.
func (l Limits) Combine(m Limits, f func(name string, l, m float64) float64) Limits {
	mine, other := reflect.ValueOf(&l).Elem(), reflect.ValueOf(m)
	for i := range mine.NumField() {
		was, is := amount(mine.Field(i)), amount(other.Field(i))
		switch v := f(limitNames[i], was, is); v {
		case was:
		case is:
			mine.Field(i).Set(other.Field(i)) // exactly
		default:
			mine.Field(i).Set(reflect.ValueOf(v).Convert(mine.Field(i).Type()))
		}
	}
	return l
}

// limitNames are the names of the limits in specs and logs.
var limitNames = func() (names []string) {
	for f := range reflect.TypeFor[Limits]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}()

func amount(limit reflect.Value) float64 {
	if limit.CanInt() {
		return float64(limit.Int())
	}
	return limit.Float()
}

// The limits as the conditions they are.
func tokensLeaf(l Limits) string { return fmt.Sprintf("tokens >= %d", l.Tokens) }
func timeLeaf(l Limits) string   { return "elapsed >= " + display.Duration(l.Time) }
