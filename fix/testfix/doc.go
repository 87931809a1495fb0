// Package testfix makes an agent that fixes the failing tests of a project.
//
//	fix, err := testfix.New(ctx, "path/to/module", model, testfix.Choices{}, nil)
//	…
//	defer fix.Close()
//	result, err := engine.Run(ctx, fix.Agent(), fix.Input())
//	…
//	outcome, err := fix.Finish(ctx, result.Status)
//	…
//	err = fix.Apply(outcome.Diff)
//
// The agent works in a copy of the project, and Fix.Apply changes the project once, at the end, in files that
// the agent edited. It observes by running the tests, and its goal is that no test is open: a test is open if
// it fails, or if it had a result before the first edit and has none now. So a test is fixed by passing and not
// by disappearing, and a model cannot declare success. Test files, test data, files that the test command names
// and files that decide which tests run are read-only unless [Choices.AllowTestEdits] is set.
//
// Every path that a tool takes is resolved below the copy, whatever links there are. The tests are not confined:
// they run as the present user, with whatever code the model wrote.
//
// [ParseSource] and [Open] restore a run's agent in another process, from Agent.Source and the copy.
package testfix
