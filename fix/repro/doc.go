// Package repro makes an agent that turns the description of a bug into a failing test.
//
//	r, err := repro.New(ctx, "path/to/module", model, nil)
//	…
//	defer r.Close()
//	before, err := r.Check(ctx, nil)
//	…
//	result, err := engine.Run(ctx, r.Agent(), repro.Input(text))
//	…
//	found, err := r.Finish(ctx)
//	…
//	fmt.Print(found.Diff)
//	err = r.Apply(found.Diff)
//
// The agent works in a copy of the project and may only add tests. It observes by running them, and
// its goal is a new test that fails by an assertion, the same way in five of five runs, while every
// other test does what it did before. A test that does not build, panics, does not end, or fails by
// chance shows nothing; so a model cannot declare success.
//
// [Repro.Finish] removes what the test does not need to fail, and searches the project's git history
// for the commit since which it fails. Whether the test is about the bug that was described, only a
// reader of the test can say.
package repro
