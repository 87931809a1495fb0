package pawl

// A Loop decides the course of a run: what to do when nothing is in the way.
//
// Next is pure and total: the same State always gives the same Step, whatever
// the state is. What it wants to remember it records as [Noted] and reads back
// with [State.Note]. The State belongs to the caller: a loop may not change it,
// nor keep it after Next returns; [State.Clone] makes a copy to keep. It need not think of budgets, retries, rejected replies,
// doubts, observations or cancellation: the machine has dealt with them before
// it asks, and puts an [Act] in the way of any Think while calls are open.
// Name is recorded in the log and must be the same for the same behaviour. One
// whose behaviour depends on more than its name has a method
// Steps() json.RawMessage, which is declared and digested beside it.
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
	case s.Done():
		return Finish{Verdict: doneVerdict()}
	}
	return Think{Purpose: PurposeTurn}
}

// SingleCall asks the model once, without tools, for an answer: a classifier,
// an extractor. A reply that calls a tool is rejected.
type SingleCall struct{}

// Name returns "single".
func (SingleCall) Name() string { return "single" }

// Next thinks once and finishes.
func (SingleCall) Next(s *State) Step {
	switch {
	case s.Done():
		return Finish{Verdict: doneVerdict()}
	case s.RejectedIterations() > 0:
		return Finish{Verdict: verdict(StatusPlanFailed, "plan_failed", "the model gave no usable answer: "+s.LastRejection())}
	}
	return Think{Purpose: PurposeTurn, View: View{Bare: true}}
}

func doneVerdict() Verdict {
	return verdict(StatusSuccess, "done", "the model answered without calling a tool")
}

// A Policy reviews every step before it is taken. It is pure, and it may only
// tighten: move a call's classification rightwards, lower a clamp, put a Think or
// a Record before the step, reject the reply ([State.Reject]), or finish the run, also one that was to end as a
// success or exhausted, with an answer that may not be given. Anything looser is
// ignored and ends the run as failed, naming the policy. Review is asked again,
// after every other policy, until nobody changes anything; a fact once recorded
// must therefore be looked for in the State and not be recorded twice. String
// names the policy with its parameters, as in no_progress(3), and is digested: a
// run does not resume under weaker policies. For programs that read the log, a
// policy may also declare its parameters as data; see [PolicyInfo]. One with a method
// Inherited() bool that says so also reviews the runs of the agents that are
// tools of its own; see [Delegate]. One with a method LeavesActs() bool that says so
// is not asked about an [Act]. The State belongs to the caller, as in [Loop].
type Policy interface {
	Review(*State, Step) Step
	String() string
}
