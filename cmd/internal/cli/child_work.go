package cli

import (
	"context"
	"errors"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
)

// childWork rebuilds the agent of a child run, or of a fork of one, with what it
// inherited: a fork keeps the gates of its caller. Nil: the run is neither, or the
// user gave another spec. An *orphanError says that none of its callers exists.
func childWork(ctx context.Context, a *app, j pawl.Journal, s *pawl.State, r remake) (*work, error) {
	if r.spec != "" {
		return nil, nil
	}
	child, err := childOf(ctx, j, s)
	if child == "" || err != nil {
		return nil, err
	}
	line, err := runs.Lineage(ctx, j, child)
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
		mine, err := reworkOf(ctx, a, s, r)
		if err != nil {
			return nil, err
		}
		mine.drop()
		agent.Model, agent.Fallback, agent.Source = mine.agent.Model, mine.agent.Fallback, mine.agent.Source
	}
	return &work{agent: agent, conclude: a.conclude, drop: func() {}}, nil
}

// childOf returns the child run that a run is, or descends from by forks; empty: none.
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

// forkedFrom returns the run that a run was forked from, through any number of forks;
// empty: it is not a fork.
func forkedFrom(ctx context.Context, j pawl.Journal, run string) (string, error) {
	for entry, err := range engine.Entries(ctx, j, run, 1) {
		if err != nil {
			return "", err
		}
		if forked, ok := entry.Event.(pawl.RunForked); ok {
			return forked.From, nil // the first fork left the original run
		}
	}
	return "", nil
}

// orphanError says that an ancestor of a run does not exist.
type orphanError struct{ run, child string }

func (o *orphanError) Error() string {
	of := "is a fork of run " + o.child + ", which was called by another run; one of the two"
	if o.run == o.child {
		of = "was called by another run, which"
	}
	return "run " + o.run + " " + of + " is not in this database, so the policies that it inherited, such as gates, are unknown; " +
		"name its agent with --spec: pawl fork starts a run of it, and pawl resume with --allow-change continues this one"
}

// bereft reports whether an agent rebuilt without its callers lacks policies that the
// run began with.
func bereft(s *pawl.State, agent pawl.Agent) bool {
	m, err := pawl.NewMachine(agent)
	return err == nil && m.Declaration().Digests["policies"] != s.Declaration().Digests["policies"]
}
