// Package judge judges runs while they go on: how they are going, whether an
// answer agrees with what the tools said, whether a call should run, and what led to
// what.
//
//	agent.Policies = []pawl.Policy{
//		judge.Reflexion(nil),
//		judge.Grounding(nil),
//		judge.Causal(),
//		judge.Steer("Never write to anybody outside the company.", &judge.SteerOptions{Model: small}),
//	}
//
// Each is a [pawl.Policy]. What it finds is recorded once and told to the model
// before its next turn.
//
// # Rules and judges
//
// [Reflexion] goes by rules, which cost nothing, unless it is given a model.
// [Grounding] without a model checks the values of an answer; what the answer says
// about them takes a judge. [Steer] always asks one. A model is asked by a [pawl.Think] of
// the policy's own purpose ("judge.reflexion", "judge.grounding",
// "judge.steer"): its tokens and dollars are reserved, it is tried again when
// its provider is busy, and it stands in the log like every other call. It sees
// what it judges as one JSON document, in which nothing a tool said can pass
// for an instruction of ours, and answers in JSON.
//
// A judge that is missing never ends a run. Where it cannot be asked (its provider
// is down, or what is left of the run's tokens, dollars or time does not pay for
// it), and where its answer is not what was asked for (no JSON, two objects, a
// confidence of 7), the rules judge or the values are checked, and the record says
// so and why. Steer has nothing to fall back on, and so fails closed: see there.
package judge
