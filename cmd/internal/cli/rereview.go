package cli

import (
	"context"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/review"
)

// reopenReview makes the agent of a review again. The log has everything that it needs.
func reopenReview(a *app, source review.Source, s *pawl.State, r remake) (*work, error) {
	if r.model != "" {
		source.Model, source.Report.Model = r.model, r.model
		for i := range source.Files { // two models may have a part in each result
			source.Files[i].Key = ""
		}
	}
	model, err := a.model(source.Model)
	if err == nil && !r.declared {
		err = readyModel(model)
	}
	if err != nil {
		return nil, err
	}
	agent, err := reviewAgent(source, model, s.Limits(), nil)
	if err != nil {
		return nil, err
	}
	return reviewWork(a, source, agent), nil
}

// lateReview prints the report of a review that succeeded, for one that was killed before
// it was printed. late is false for any other run.
func lateReview(ctx context.Context, a *app, s *pawl.State) (code int, late bool, err error) {
	source, isReview, err := review.ParseSource(s.Declaration().Source)
	if err != nil || !isReview {
		return 0, false, nil
	}
	code, err = concludeReview(ctx, a, source, s.Result(), nil) // another model than the source says may have had a part in it
	return code, true, err
}
