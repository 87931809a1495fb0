// Package testfix makes an agent that fixes the failing tests of a project.
//
//	fix, err := testfix.New(ctx, "path/to/module", model, nil)
//	…
//	defer fix.Close()
//	result, err := engine.Run(ctx, fix.Agent(), fix.Input())
//	…
//	diff, err := fix.Outcome(ctx, result.Status)
//	…
//	fmt.Print(diff)
//	err = fix.Apply(diff)
//
// The agent works in a copy of the project. It observes by running the tests, and its goal is
// that no test is open. A test is open if it fails, or if it had a result before the first edit
// and has none now. So a test is fixed by passing and not by
// disappearing, and a model cannot declare success. Fix.Apply changes the project itself
// once, at the end, and only in files that the agent edited.
//
// # What the model can do
//
// It can read, list and search files, replace a piece of text that occurs exactly once in a
// file, write whole files, see what it changed, and run the tests or some of them. Every path is resolved below the copy, whatever links there are. Test files,
// test data, files that the test command names and files that decide which tests run are
// read-only unless [Options.AllowTestEdits] is set.
//
// This confines the tools, not the tests: these are programs that run as the present user,
// with whatever code the model wrote. Run them where you would run the project's tests after
// a stranger's pull request.
//
// # Across processes
//
// The copy and its metadata are in a state directory, which is named with the options in
// Agent.Source. [ParseSource] and [Open] restore a run's agent in another process.
package testfix
