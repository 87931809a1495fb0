// Package repro makes an agent that turns the description of a bug into a failing test.
//
//	r, err := repro.New(ctx, "path/to/module", text, model, nil)
//	…
//	defer r.Close()
//	result, err := engine.Run(ctx, r.Agent(), r.Input())
//	…
//	outcome, err := r.Finish(ctx, result.Status)
//	…
//	err = r.Apply(outcome.Diff)
//
// The agent works in a copy of the project and may only add tests. It observes by running them. Its goal is a
// new test that fails by an assertion, the same way in five of five runs, while the result of every other test
// stays the same. Only a reader of the test can say whether it is about the bug that was described.
package repro
