// Package review makes an agent that finds faults in a change and says where they are.
//
//	change, err := review.Open(ctx, "path/to/project", "main..HEAD", nil, nil)
//	…
//	defer change.Close()
//	agent := review.Agent(change.Source("anthropic/claude-sonnet-5-5"), model, pawl.Limits{})
//	result, err := engine.Run(ctx, agent, change.Input())
//
// [Open] reads a change from git and writes nothing to the repository. The run is a success when the model
// has reported its findings, each of them in a file and a line of the change. [Source.Report] reads them from
// the state of the run.
package review
