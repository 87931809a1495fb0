package cli

import (
	"context"
	"encoding/json"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/stop"
)

// fixAgain is what resuming a fix in another process needs besides the blueprint's own
// data. It is stored in the agent's source.
type fixAgain struct {
	Model  string `json:"model"`
	DryRun bool   `json:"dry_run,omitempty"`
	Stop   string `json:"stop,omitempty"` // a condition that replaces the agent's own
}

func (f fixAgain) into(source string) string {
	fields := map[string]any{}
	if json.Unmarshal([]byte(source), &fields) != nil {
		return source
	}
	fields["model"], fields["dry_run"] = f.Model, f.DryRun
	if f.Stop != "" {
		fields["stop"] = f.Stop
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return source // it was read from JSON, so it marshals
	}
	return string(b)
}

// remade returns the model and the condition with which a fix, or one of its sisters, is
// made again. find gives a model by its name.
func (f *fixAgain) remade(a *app, r remake, find func(string) (pawl.Model, error)) (model pawl.Model, condition pawl.Condition, err error) {
	if r.model != "" {
		f.Model = r.model
	}
	model, err = find(f.Model)
	if err == nil && !r.declared {
		err = a.readyModel(f.Model, model)
	}
	if err == nil && f.Stop != "" {
		condition, err = stop.Parse(f.Stop, nil)
	}
	return model, condition, err
}

// reopenFix reopens the working copy of an earlier process.
func reopenFix(a *app, from testfix.Source, source string, s *pawl.State, r remake) (*work, error) {
	var again fixAgain
	if err := json.Unmarshal([]byte(source), &again); err != nil {
		return nil, err
	}
	model, condition, err := again.remade(a, r, a.model)
	if err != nil {
		return nil, err
	}
	if r.declared { // the copy is removed once a run has succeeded
		agent := testfix.Recorded(from, model, s.Limits())
		agent.Stop = condition
		return &work{agent: agent, drop: func() {}}, nil
	}
	if err := recoverCopy(from.State); err != nil {
		return nil, err
	}
	fix, err := testfix.Open(from, model, s.Limits())
	if err != nil {
		return nil, goneCopy(err, s.Run(), "pawl fix "+from.Dir)
	}
	agent := fix.Agent()
	agent.Stop = condition
	agent.Source = again.into(agent.Source)
	return fixWork(a, fix, agent, again.DryRun, survey{}), nil
}

func fixWork(a *app, fix *testfix.Fix, agent pawl.Agent, dryRun bool, seen survey) *work {
	return &work{
		agent: agent,
		begun: func(run string) { a.claimCopy(fix.Source().State, run) },
		conclude: func(ctx context.Context, r pawl.Result) (int, error) {
			return concludeFix(ctx, a, fix, r, dryRun, seen)
		},
		drop: func() { _ = fix.Release() }, // nothing was written
	}
}
