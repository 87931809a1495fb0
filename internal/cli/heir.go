package cli

import (
	"context"
	"errors"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/desk"
)

// heirOf makes the agent of a child run again, or of a fork of one, under what it
// inherited: a gate of its caller's does not fall because the run was forked. Nil:
// the run is neither, is to have another spec's agent, or its caller is gone.
func (a *app) heirOf(ctx context.Context, j pawl.Journal, s pawl.State, r remake) (*work, error) {
	if r.spec != "" {
		return nil, nil
	}
	child, err := childOf(ctx, j, s)
	if child == "" || err != nil {
		return nil, err
	}
	line, err := desk.Line(ctx, j, child)
	if errors.Is(err, pawl.ErrUnknownRun) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	from := remake{asWas: r.asWas, declared: r.declared}
	for i := range line[1:] {
		from.children = append(from.children, line[1+i].Declaration())
	}
	above, err := a.workOf(ctx, j, line[0], from)
	if err != nil {
		return nil, err
	}
	above.drop()
	agent, err := engine.New(j, nil).AgentOf(ctx, above.agent, child)
	if err != nil {
		return nil, err
	}
	if r.model != "" {
		mine, err := a.reworkOf(ctx, s, r)
		if err != nil {
			return nil, err
		}
		mine.drop()
		agent.Model, agent.Fallback, agent.Source = mine.agent.Model, mine.agent.Fallback, mine.agent.Source
	}
	return &work{agent: agent, conclude: a.conclude, drop: func() {}}, nil
}

// childOf is the child run that a run is or was forked from, by way of whatever
// other forks; empty: there is none.
func childOf(ctx context.Context, j pawl.Journal, s pawl.State) (string, error) {
	start, _ := s.Start()
	switch {
	case start.Parent == "":
		return "", nil
	case engine.ParentOf(&s) != "":
		return s.Run(), nil
	}
	for entry, err := range engine.Entries(ctx, j, s.Run(), 1) {
		if err != nil {
			return "", err
		}
		if forked, ok := entry.Event.(pawl.RunForked); ok {
			return forked.From, nil // the first is the one that left the child
		}
	}
	return "", nil
}
