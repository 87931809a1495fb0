// Package testfix makes an agent that mends the failing tests of a project.
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
// The agent works in a copy of the project. It looks at the world by running
// the tests, and its goal is that none is open: an open test is one that fails,
// or one that failed or passed before the first edit and has no verdict any
// more. So a test is mended by passing and not by vanishing, and a model cannot
// declare success. The project itself is touched once, at the end, by
// [Fix.Apply], and only in files that the agent edited.
//
// # What the model can do
//
// It can read, list and search files, replace a piece of text that occurs
// exactly once in a file, write whole files, see what it changed, and run the
// tests or some of them; in a Go module it can also see which lines the failing
// tests execute, and try small edits without making them. Every path is resolved
// beneath the copy, whatever links stand in the way. Test files, test data, what
// the test command itself names and files that decide which tests run are
// read-only unless [Options.AllowTestEdits] says otherwise.
//
// That is confinement of the tools, not of the tests: these are programs, run
// as the present user, and with them whatever code the model wrote. Run them
// where you would run the project's tests after a stranger's pull request.
//
// # Across processes
//
// The copy and what is known of it live in a state directory, which stands with
// the options in Agent.Source. [ParseSource] and [Open] bring a run's agent back
// in another process.
package testfix
