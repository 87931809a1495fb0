package cli

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/review"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
)

// work is an agent with what to do before and after its run.
type work struct {
	agent  pawl.Agent
	limits pawl.Limits          // of the resumed run or the fork; zero: those of the agent
	how    engine.ResumeOptions // of the same
	// policy also constrains the agent; nil: none.
	policy *spec.Policy
	// upgrade is the rule of the agent's spec.
	upgrade engine.Upgrade
	// begun is called when the run has begun or resumed; may be nil.
	begun func()
	// conclude prints the result of the run and returns the exit code.
	conclude func(context.Context, pawl.Result) (int, error)
	// drop releases what the agent holds if nothing was run.
	drop func()
}

// remake says how to rebuild the agent of a run.
type remake struct {
	spec   string // a file that replaces the source; empty: the source
	model  string // replaces the model; empty: the original one
	effort string // replaces the model's effort; empty: the original one
	// prompt replaces the prompt; empty: the original one.
	prompt string
	plan   *bool // whether the agent plans first in addition to its spec; nil: as it did
	// policy replaces the recorded policy; nil: the recorded one. It must be at least as
	// strict unless loosen.
	policy *spec.Policy
	loosen bool
	// asWas uses the spec as recorded, not the current file.
	asWas bool
	// declared is for an agent that only decides, such as for replay, or whose children
	// do: agents from the run's own child on.
	declared bool
	children []pawl.Declaration
}

// workOf rebuilds the agent of a run, under the policy that applies.
func (a *app) workOf(ctx context.Context, j pawl.Journal, s *pawl.State, r remake) (*work, error) {
	policy, err := policyFor(s, r.policy, r.loosen)
	if err != nil {
		return nil, err
	}
	w, err := childWork(ctx, a, j, s, r)
	orphan, alone := errors.AsType[*orphanError](err)
	if w == nil && (err == nil || alone) {
		w, err = reworkOf(ctx, a, s, r)
	}
	if err != nil {
		return w, err
	}
	if w.policy = policy; policy != nil {
		w.agent, err = under(policy, w.agent)
	}
	if err == nil && alone && bereft(s, w.agent) {
		err = refused(orphan)
	}
	if err != nil {
		w.drop()
		return nil, err
	}
	return w, nil
}

// reworkOf rebuilds the agent of a run.
func reworkOf(ctx context.Context, a *app, s *pawl.State, r remake) (*work, error) {
	source := s.Declaration().Source
	switch from, is, err := copyOf(source); {
	case err != nil:
		return nil, err
	case is && r.prompt != "":
		return nil, misuse("run %s works in a copy of a project, and its prompt cannot be replaced; fork it without --prompt", s.Run())
	case is && r.spec == "":
		return reopenCopy(a, from, s, r)
	}
	switch from, isReview, err := review.ParseSource(source); {
	case err != nil:
		return nil, err
	case isReview && r.prompt != "":
		return nil, misuse("run %s reviews a change, and its prompt cannot be replaced; fork it without --prompt", s.Run())
	case isReview && r.spec == "":
		return reopenReview(a, from, s, r)
	}
	registry := a.registry()
	if !spec.IsSource(source) {
		if r.declared {
			return nil, misuse("run %s was not started from a spec, so its agent is not known here; replay it in the program that started it, with Engine.Replay", s.Run())
		}
		if r.spec == "" {
			return nil, misuse("run %s was not started from a spec, so its agent is not known here; resume it with the program that started it, or give --spec", s.Run())
		}
		made, err := loadSpec(r.spec, &spec.Options{Registry: registry, Model: r.model, Prompt: r.prompt})
		if err != nil {
			return nil, err
		}
		return workFor(ctx, a, made, registry, s, r)
	}
	source, err := r.renew(source)
	if err != nil {
		return nil, err
	}
	playing(registry, modelIn(source))
	made, err := parseSource(source, registry)
	if err != nil {
		return nil, err
	}
	return workFor(ctx, a, made, registry, s, r)
}

func workFor(ctx context.Context, a *app, made *spec.Spec, registry *spec.Registry, s *pawl.State, r remake) (*work, error) {
	var agent pawl.Agent
	var err error
	if r.declared { // nothing is called
		agent, err = made.AgentAs(registry, s.Declaration(), r.children...)
	} else if err = ready(made, registry); err == nil {
		agent, err = a.agentOf(ctx, made, registry)
	}
	if err != nil {
		return nil, err
	}
	// A call by a client over MCP can only resume as such a call.
	if tool, ok := runs.Called(s.Declaration().Source); ok && r.spec == "" {
		if agent, err = runs.Calling(agent, tool); err != nil {
			return nil, err
		}
	}
	return &work{agent: agent, upgrade: made.Upgrade, conclude: a.conclude, drop: func() {}}, nil
}

// modelIn is the model that a command line gave a spec, from its source.
func modelIn(source string) string {
	var from struct {
		Model string `json:"model"`
	}
	_ = json.Unmarshal([]byte(source), &from) // spec reports what is wrong with it
	return from.Model
}

// renew returns the source of a spec as its files are now, with the settings of this command line.
// Those of the command line that started the run stay.
func (r remake) renew(source string) (string, error) {
	source, err := spec.Renew(source, spec.Renewal{File: r.spec, Current: !r.asWas, Model: r.model, Effort: r.effort, Prompt: r.prompt, Plan: r.plan})
	return source, refused(err)
}

// parseSource reads the spec of a source. Problems with values from a command line name the flag.
func parseSource(source string, registry *spec.Registry) (*spec.Spec, error) {
	made, err := spec.ParseSource(source, &spec.Options{Registry: registry})
	if problems, ok := errors.AsType[spec.Problems](err); ok {
		return nil, flagged(problems)
	}
	return made, err
}

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
