// Package review finds faults in a change and says where they are.
//
//	change, err := review.Open(ctx, "path/to/project", "main..HEAD", nil)
//	…
//	defer change.Close()
//	report := review.New(change)
//	err = change.Rules(ctx, report)
//	…
//	input, err := review.Input(change.Ask(report))
//	…
//	result, err := engine.Run(ctx, review.Agent(model, pawl.Limits{}), input)
//
// [Open] reads a change from git and writes nothing to the repository: what is not committed is
// stored in a directory of its own. [Change.Rules] runs programs that need no model. [Agent] asks
// a model, in one child run for each file. A second run for each finding tries to refute it. Both
// may only name lines of the difference. [Collect] reads the findings from the state of the run.
//
// What the model reads of a file depends only on the two contents of that file. So [Cache] keeps
// results by their digests.
package review
