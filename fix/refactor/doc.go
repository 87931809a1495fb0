// Package refactor makes an agent that changes the form of a project's code and not what it does.
//
//	r, err := refactor.New(ctx, "path/to/module", "shorten the parser", refactor.Metric{}, model, nil)
//	…
//	defer r.Close()
//	result, err := engine.Run(ctx, r.Agent(), r.Input())
//	…
//	outcome, err := r.Finish(ctx, result.Status)
//	…
//	err = r.Apply(outcome.Diff)
//
// The agent works in a copy of the project, whose tests must pass before. The run is a success when every test
// that passed before passes, a metric is strictly better, and the model has said that it is done. What no test
// executes is not checked.
package refactor
