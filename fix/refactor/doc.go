// Package refactor makes an agent that changes the form of a project's code and not what it does.
//
//	r, err := refactor.New(ctx, "path/to/module", "shorten the parser", model, nil)
//	…
//	defer r.Close()
//	before, err := r.Check(ctx, nil)
//	…
//	result, err := engine.Run(ctx, r.Agent(), r.Input())
//	…
//	diff, err := r.Diff(ctx)
//	…
//	err = r.Apply(diff)
//
// The agent works in a copy of the project. Its tests are the evidence that behaviour is kept, so they
// must pass before. The run is a success when every test that passed before exists and passes, a metric is
// strictly better, and the model has said that it is done. So a model cannot declare success. What no test
// executes is not checked.
package refactor
