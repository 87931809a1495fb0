// Package judge has policies that review a run while it executes, by rules or with
// a model as the judge:
//
//   - [Reflexion] reviews the progress of the run and gives it a confidence.
//   - [Grounding] compares the answer with the results of tools.
//   - [Steer] decides before each call whether it should run.
//   - [Causal] records which call led to which.
//
// Each is a pawl.Policy:
//
//	agent.Policies = []pawl.Policy{
//		judge.Reflexion(nil),
//		judge.Grounding(nil),
//		judge.Causal(),
//		judge.Steer("Never write to anybody outside the company.", &judge.SteerOptions{Model: small}),
//	}
//
// It records each finding once and shows it to the model before its next turn. To
// score finished runs against expected answers, use pawl eval instead.
//
// # Rules and judges
//
// A judge is the model that a policy asks. Reflexion uses rules, which cost
// nothing, unless it has a model. Grounding without a model checks the values of an
// answer; checking its claims needs a model. Steer always asks a model.
//
// A policy asks by a [pawl.Think] with a purpose of its own ("judge.reflexion",
// "judge.grounding", "judge.steer"). So its tokens and dollars are reserved, the
// call is retried when the provider is busy, and it is in the log like any other
// call. The judge gets one JSON document and answers in JSON. Text from a tool is a
// string in that document, so it cannot pass for an instruction of the policy.
//
// A missing judgement never ends a run. If the judge cannot be asked (its provider
// is down, or the remaining tokens, dollars or time do not suffice) or its answer
// is unusable (no JSON, two objects, a confidence of 7), Reflexion falls back to
// rules and Grounding to values, and the record gives the reason. Steer has no
// fallback and fails closed; see [Steer].
package judge
