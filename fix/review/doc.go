// Package review finds faults in a change and says where they are.
//
//	change, err := review.Open(ctx, "path/to/project", "main..HEAD", nil)
//	…
//	defer change.Close()
//	report := review.New(change)
//	err = change.Rules(ctx, report, os.Environ())
//	…
//	result, err := engine.Run(ctx, review.Agent(model, pawl.Limits{}), review.Input(report.Open()))
//
// [Open] reads a change from git and writes nothing to the repository: what is not committed
// is stored in a directory of its own. [Change.Rules] are programs that need no model.
// [Agent] asks a model, in one child run for each file, and asks it again about each finding,
// in a run that is to refute it. Both may only name lines of the difference.
//
// What the model reads of a file depends only on the two contents of that file. So [Cache]
// keeps results by their digests.
package review
