package cli

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
)

// fullResult is a result with the context and the trace that its agent asks for. It keeps
// what only this process knows, such as tokens.
func fullResult(ctx context.Context, a *app, r pawl.Result) (explain.Result, error) {
	whole := explain.Result{Result: r}
	j := a.current()
	if j == nil { // a second signal has closed it
		return whole, nil
	}
	ctx = context.WithoutCancel(ctx) // ctx may have ended, which suspended the run
	all, err := explain.ResultOf(engine.Entries(ctx, j, r.Run, 1))
	whole.Context, whole.Trace = all.Context, all.Trace
	return whole, err
}
