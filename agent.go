package pawl

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
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
	// Observer looks at the world: before the first turn, after every action and resumption, and when the
	// model claims success against a goal. The engine calls it from one goroutine of the run at a time. If it
	// fails, the model reads the error in place of the observation. Nil: the agent does not observe.
	Observer func(context.Context) (Observation, error)
	// Instruct returns instructions that hold now. The engine calls it before each new turn of the model, from
	// one goroutine of the run at a time, and records the text if it has changed. The State may be read. After
	// an error the earlier instructions hold. Nil: there are none.
	Instruct  func(context.Context, *State) (string, error)
	Goal      *Goal           // nil: none
	Output    json.RawMessage // JSON Schema of the answer; nil: free text
	Sampling  Sampling
	Approvals Approvals
	Trust     map[string]Trust // labels by tool name; they override those of the tools
	Serial    bool             // one call at a time
	// MaxParallel is how many calls of a run may run at once. All runs of one process together may have
	// four times as many. Further calls wait, in call order. Zero: 10 of tools that are External, 256 of others.
	MaxParallel int
	// Core names the tools that the model is shown from the start, with * for any
	// characters. For the others it has the tool tool_search. Nil: it is shown all.
	Core     []string
	Builtins bool // offer __complete__, __pause_for_human__, __store_memory__, __retrieve_memory__, __log_progress__

	Notices   bool   // the model reads it, once for each limit and budget, when 80 % are used
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
	TTL        time.Duration `json:"ttl,omitzero" usual:"24h" about:"time to decide on a call and use the decision"`
	StopOnDeny bool          `json:"stop_on_deny,omitzero" key:"on_deny" enum:"tell,stop" usual:"tell" about:"tell the model, or end the run as denied"`
	// IgnoreObservation keeps an approval valid when an observation or a measure
	// differs between the request and the call.
	IgnoreObservation bool `json:"ignore_observation,omitzero" key:"observation" usual:"true" about:"void an approval, and ask again, if 'observe' or 'goal' changed since the request"`
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
	return meter.Combine(l, m, func(_ string, l, m float64) float64 { return cmp.Or(m, l) })
}

// The limits as the conditions they are.
func tokensLeaf(l Limits) string { return fmt.Sprintf("tokens >= %d", l.Tokens) }
func timeLeaf(l Limits) string   { return "elapsed >= " + display.Duration(l.Time) }

// A Loop decides what a run does next when nothing else is due.
//
// Next is pure and total: the same State always gives the same Step, whatever
// the state is. A loop that must remember something records it as [Noted] and
// reads it back with [State.Note]. The State belongs to the caller: a loop must
// not change it, nor keep it after Next returns; [State.Clone] makes a copy to
// keep.
//
// A loop need not handle budgets, retries, rejected replies, unknown outcomes,
// observations or cancellation. The machine deals with them before it asks the
// loop, and puts an [Act] before any Think while calls are open.
//
// The log records Name, which must be the same for the same behaviour. A loop
// whose behaviour depends on more than its name has a method Steps()
// json.RawMessage, whose result is declared and digested too. One that makes calls
// may have a method Dropped(*State) []string, with the ids of those that it needs no
// longer: they are not run, and stopped if they are running.
type Loop interface {
	Name() string
	Next(*State) Step
}

// ReAct is the default loop: think, act, observe, until the model answers
// without calling a tool.
type ReAct struct{}

// Name returns "react".
func (ReAct) Name() string { return "react" }

// Next acts on open calls, finishes on a final answer, and thinks otherwise.
func (ReAct) Next(s *State) Step {
	switch {
	case s.HasOpen():
		return Act{}
	case s.Done() && s.complete != nil:
		return Finish{Verdict: verdict(StatusSuccess, fmt.Sprintf("tool_called(%q)", completeTool), "the model handed in its answer")}
	case s.Done():
		return Finish{Verdict: doneVerdict()}
	}
	return Think{Purpose: PurposeTurn}
}

// SingleCall asks the model once, without tools, for an answer, as a classifier
// or an extractor does. A reply that calls a tool fails the run.
type SingleCall struct{}

// Name returns "single".
func (SingleCall) Name() string { return "single" }

// Next thinks once and finishes.
func (SingleCall) Next(s *State) Step {
	switch {
	case s.Done():
		return Finish{Verdict: doneVerdict()}
	case s.rejection != nil && hasCalls(s.replied.Reply):
		return failed("loop single", "the model called a tool, and this loop offers none")
	case s.RejectedIterations() > 0:
		return Finish{Verdict: verdict(StatusPlanFailed, "plan_failed", "the model gave no usable answer: "+s.LastRejection())}
	}
	return Think{Purpose: PurposeTurn, View: View{Bare: true}}
}

func doneVerdict() Verdict {
	return verdict(StatusSuccess, "done", "the model answered without calling a tool")
}

// A Policy reviews every step before the engine takes it. Review is pure, and it may only
// tighten: move a call's classification to a stricter one, lower MaxTokens, put a Think or a
// Record before the step, reject the reply ([State.Reject]), or finish the run. It may also
// replace the end of a run that would succeed or exhaust a limit: the answer is then the
// [Finish].Answer of the policy, which withholds the model's if it is empty. Any other change is ignored and ends the run as failed, naming the policy.
//
// Review is called again, after every other policy, until no policy changes the step. A policy
// must therefore look for a fact in the State before it records it, or it would record it
// twice.
//
// String names the policy with its parameters, as in no_progress(3), and is digested: a run
// does not resume under weaker policies. For programs that read the log, a policy may also
// declare its parameters as data; see [PolicyInfo].
//
// A policy with a method Inherited(s *State, call string) bool that returns true also reviews
// the child run of that call; see [Delegate]. The State belongs to the caller, as in Loop.
type Policy interface {
	Review(*State, Step) Step
	String() string
}
