// Package refactor makes an agent that changes the form of a project's code and not what it does.
//
//	r, err := refactor.New(ctx, "path/to/module", "early returns", model, nil)
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
// must pass before. The run is a success when something changed and
//
//   - every test that passed before exists and passes,
//   - the tests execute every changed line of the code as it was; where they do not, the model first adds
//     tests, which must pass on the code as it was,
//   - the exported API is the same, unless that is allowed,
//   - a metric is strictly better, and
//   - the model has said that it is done.
//
// So a model cannot declare success. Some refactorings are mechanical ([Kinds]): they keep what the
// code does by their form, and need no model; see [Mechanic]. They are held to the same.
package refactor
