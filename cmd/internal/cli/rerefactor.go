package cli

import (
	"context"
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/refactor"
)

// refactorAgain is what resuming a refactoring in another process needs besides the agent's own data. It is
// stored in the agent's source.
type refactorAgain struct {
	fixAgain

	Before float64 `json:"before"` // the metric
}

func (r refactorAgain) into(source string) string {
	fields := map[string]any{}
	text := r.fixAgain.into(source)
	if json.Unmarshal([]byte(text), &fields) != nil {
		return text
	}
	fields["before"] = r.Before
	b, err := json.Marshal(fields)
	if err != nil {
		return text // it was read from JSON, so it marshals
	}
	return string(b)
}

// reopenRefactor reopens the working copy of an earlier process.
func reopenRefactor(a *app, from refactor.Source, source string, s *pawl.State, r remake) (*work, error) {
	var again refactorAgain
	if err := json.Unmarshal([]byte(source), &again); err != nil {
		return nil, err
	}
	model, condition, err := again.remade(a, r, a.refactorModel)
	if err != nil {
		return nil, err
	}
	if r.declared { // the copy is removed once a run has succeeded
		agent := refactor.Recorded(from, model, s.Limits())
		agent.Stop = condition
		return &work{agent: agent, drop: func() {}}, nil
	}
	if err := recoverCopy(from.State); err != nil {
		return nil, err
	}
	made, err := refactor.Open(from, model, s.Limits())
	if err != nil {
		return nil, goneCopy(err, s.Run(), a.typed("pawl", "refactor", from.Goal, from.Dir))
	}
	agent := made.Agent()
	agent.Stop = condition
	agent.Source = again.into(agent.Source)
	return refactorWork(a, made, agent, again), nil
}

func refactorWork(a *app, r *refactor.Refactor, agent pawl.Agent, again refactorAgain) *work {
	return &work{
		agent: agent,
		begun: func(run string) { a.claimCopy(r.Source().State, run) },
		conclude: func(ctx context.Context, result pawl.Result) (int, error) {
			return concludeRefactor(ctx, a, r, result, again)
		},
		drop: func() { _ = r.Release() }, // nothing was written
	}
}
