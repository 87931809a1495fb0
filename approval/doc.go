// Package approval says which calls a person must approve before they run, and
// which must not run at all.
//
//	agent.Policies = []pawl.Policy{
//		approval.For("delete_*"),
//		approval.ForEffect(pawl.Write),
//		approval.When("submit_po", "args.amount > 100"),
//		approval.Never("shell_*"),
//	}
//
// Each is a [pawl.Policy]. It only says what needs a decision: who decides, for
// how long a decision holds, and what it is bound to are the business of the
// machine and the engine, so a call that was approved is not asked about anew.
// Calls that no rule names are not held up by those that one does.
//
// # Patterns
//
// Tools are named by patterns in which * stands for any characters and ? for
// one. The tools that the machine adds to an agent's own, whose names begin
// with __, have no effect on the world and cannot be gated; [Never] takes those
// too from a pattern that begins with __ itself.
//
// # What is asked about
//
// A rule applies to a call that would run or be handed to the client. One that
// is answered from the log, because its equal has succeeded, does nothing that
// could be approved. Where several rules apply, the approver is told of each.
//
// # Failing closed
//
// A predicate that cannot be decided asks: see [When]. So does a function that
// panics.
//
// # Source
//
// A rule prints as its source, which is part of the agent's declaration and its
// digest: a run that began with a gate is not resumed without it.
//
//	approval("delete_*")
//	approval_effect(write)
//	approval_when("submit_po", args.amount > 100)
//	approval_func("big order")
//	never("shell_*")
package approval
