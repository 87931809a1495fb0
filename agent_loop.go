package pawl

import "fmt"

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
	case s.rejections > 0 && hasCalls(s.reply):
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
