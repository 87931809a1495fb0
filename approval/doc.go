// Package approval declares which calls a person must approve before they run, and
// which must not run at all (human in the loop).
//
//	agent.Policies = []pawl.Policy{
//		approval.For("delete_*"),
//		approval.ForEffect(pawl.Write),
//		approval.When("submit_po", "args.amount > 100"),
//		approval.Never("shell_*"),
//	}
//
// [Plan] is another kind of rule: an agent only reads until a person has approved
// its plan.
//
// Each is a [pawl.Policy]. It only declares what needs a decision. The machine and
// the engine determine who decides, how long a decision is valid, and what it is
// bound to, so an approved call is not asked about again. Decisions come from
// engine.Engine.Approve and Deny, or from an engine.Approver in the process. Calls
// that match no rule run while others wait.
//
// # Patterns
//
// Patterns select tools by name: * matches any characters and ? one. A rule does not
// apply to the tools that the machine adds, whose names begin with __, because they
// have no effect outside the run. Only Never does, if its pattern begins with __.
//
// # What is asked about
//
// A rule applies to a call that would run or go to the client. A call that is
// answered from the log, because an equal one has succeeded, does nothing and needs
// no approval. If several rules apply, the approver sees the reason of each.
//
// # Failing closed
//
// A call is asked about if its predicate cannot be decided (see [When]) or its
// function panics.
//
// # Source
//
// A rule prints as its source, which is part of the agent's declaration and digest:
// a run that began with a rule cannot be resumed without it.
//
//	approval("delete_*")
//	approval_effect(write)
//	approval_when("submit_po", args.amount > 100)
//	approval_func("big order")
//	never("shell_*")
//	plan()
package approval
