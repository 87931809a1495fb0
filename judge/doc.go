// Package judge has policies that review a run while it executes. [Reflexion]
// reviews its progress, [Grounding] compares its answer with the results of
// tools, [Steer] decides whether a call should run, and [Causal] records which
// call led to which.
//
//	agent.Policies = []pawl.Policy{
//		judge.Reflexion(nil),
//		judge.Grounding(nil),
//		judge.Causal(),
//		judge.Steer("Never write to anybody outside the company.", &judge.SteerOptions{Model: small}),
//	}
//
// Each is a [pawl.Policy]. It records each finding once and shows it to the
// model before its next turn.
//
// # Rules and judges
//
// [Reflexion] uses rules, which cost nothing, unless it has a model.
// [Grounding] without a model checks the values of an answer; checking its
// claims needs a model. [Steer] always asks a model. A policy asks by a
// [pawl.Think] of its own purpose ("judge.reflexion", "judge.grounding",
// "judge.steer"), so its tokens and dollars are reserved, the call is retried
// when the provider is busy, and it is in the log like any other call. The
// model gets what it judges as one JSON document, in which text from a tool
// cannot pass for an instruction of the policy, and answers in JSON.
//
// A judge is the model that a policy asks. A missing judge never ends a run. If it cannot be asked (its provider is
// down, or the remaining tokens, dollars or time do not suffice) or its answer
// is unusable (no JSON, two objects, a confidence of 7), Reflexion falls back
// to rules and Grounding to values, and the record says so and why. Steer has
// no fallback and fails closed; see [Steer].
package judge
