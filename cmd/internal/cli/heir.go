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
// the run is neither, or is to have another spec's agent. An *orphanError says that
// there is none of its callers any more to ask.
func (a *app) heirOf(ctx context.Context, j pawl.Journal, s *pawl.State, r remake) (*work, error) {
	if r.spec != "" {
		return nil, nil
	}
	child, err := childOf(ctx, j, s)
	if child == "" || err != nil {
		return nil, err
	}
	line, err := desk.Line(ctx, j, child)
	if errors.Is(err, pawl.ErrUnknownRun) {
		return nil, &orphanError{s.Run(), child}
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
func childOf(ctx context.Context, j pawl.Journal, s *pawl.State) (string, error) {
	start, _ := s.Start()
	switch {
	case start.Parent == "":
		return "", nil
	case engine.ParentOf(s) != "":
		return s.Run(), nil
	}
	return forkedFrom(ctx, j, s.Run())
}

// forkedFrom is the run that a run was forked from, by way of whatever other
// forks; empty: it was not.
func forkedFrom(ctx context.Context, j pawl.Journal, run string) (string, error) {
	for entry, err := range engine.Entries(ctx, j, run, 1) {
		if err != nil {
			return "", err
		}
		if forked, ok := entry.Event.(pawl.RunForked); ok {
			return forked.From, nil // the first is the one that left the first run
		}
	}
	return "", nil
}

// orphanError says of a run that a run it descends from is not there.
type orphanError struct{ run, child string }

func (o *orphanError) Error() string {
	of := "is a fork of run " + o.child + ", which was called by another run; one of the two"
	if o.run == o.child {
		of = "was called by another run, which"
	}
	return "run " + o.run + " " + of + " is not in this database, so what it inherited, such as gates, is not known here; " +
		"bring the agent that it is to have, by --spec: pawl fork makes a run of it, and pawl resume with --allow-change goes on with this one"
}

// bereft reports whether an agent that was made without its callers has other
// policies than the run began with: it had inherited some.
func bereft(s *pawl.State, agent pawl.Agent) bool {
	m, err := pawl.NewMachine(agent)
	return err == nil && m.Declaration().Digests["policies"] != s.Declaration().Digests["policies"]
}
