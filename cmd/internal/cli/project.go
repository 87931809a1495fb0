package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/workspace"
)

// projecting holds the options of pawl fix and its sisters, which work in a copy of a project.
type projecting struct {
	driving
	test   string
	env    []string
	dryRun bool
}

// flags adds the flags. kinds says which test commands there may be, if not any.
func (p *projecting) flags(c *cobra.Command, kinds string) {
	c.Flags().StringVar(&p.test, "test", "", "the command that runs the tests, "+kinds+"without a shell (default: go test ./... for a Go module, pytest for a Python project)")
	c.Flags().StringArrayVar(&p.env, "env", nil, "a variable for the tests: `NAME` to pass it on, or NAME=VALUE, which is recorded with the run; may be repeated")
	c.Flags().BoolVar(&p.dryRun, "dry-run", false, "print the diff without applying it")
	p.flag(c, "model", "limit", "stop", "label", "events", "policy", "approvals")
}

// inProject is what the flags say of a run in a copy of a project.
type inProject struct {
	settings

	test  []string
	state string // the directory for copies
	stop  pawl.Condition
}

// read checks the flags and the project's directory.
func (p *projecting) read(a *app, dir string) (in inProject, err error) {
	if err := isProject(dir); err != nil {
		return in, err
	}
	in.state = a.fixState(dir)
	if in.settings, err = p.settings(); err != nil {
		return in, err
	}
	if p.test != "" {
		if in.test, err = words(p.test); err != nil {
			return in, misuse("--test: %w", err)
		}
	}
	if p.driving.stop != "" {
		if in.stop, err = stop.Parse(p.driving.stop, nil); err != nil {
			return in, misuse("--stop: %w", err)
		}
	}
	return in, nil
}

// copyAgent is an agent that works in a copy of a project.
type copyAgent interface {
	Agent() pawl.Agent
	Dir() string
	Release() error
	Close() error
}

// openCopy is such an agent and how its runs are concluded.
type openCopy struct {
	copyAgent

	state    string // the copy's
	input    string
	again    runAgain
	conclude func(context.Context, pawl.Result) (int, error)
}

// work is the agent with what to do before and after its run.
func (o *openCopy) work(a *app, condition pawl.Condition) *work {
	agent := o.Agent()
	agent.Stop = condition
	agent.Source = withMembers(agent.Source, o.again)
	return &work{
		agent: agent,
		begun: func() { now := time.Now(); _ = os.Chtimes(o.state, now, now) }, // so that the copy is kept longer
		conclude: func(ctx context.Context, r pawl.Result) (int, error) {
			code, err := o.conclude(ctx, r)
			return code, a.unapplied(err, o.Dir(), r.Run)
		},
		drop: func() { _ = o.Release() }, // nothing was written
	}
}

// withMembers adds the members of a value to a JSON object.
func withMembers(source string, of any) string {
	fields := map[string]json.RawMessage{}
	more, err := json.Marshal(of)
	if err == nil {
		err = errors.Join(json.Unmarshal([]byte(source), &fields), json.Unmarshal(more, &fields))
	}
	if err == nil {
		more, err = json.Marshal(fields)
	}
	if err != nil {
		return source // both are JSON objects
	}
	return string(more)
}

// drive opens a copy of the project with a model, and drives a run there to its end.
func (p *projecting) drive(ctx context.Context, a *app, in inProject, name string, open func(context.Context, pawl.Model) (*openCopy, error)) (int, error) {
	model, err := a.model(name)
	if err == nil {
		err = readyModel(model)
	}
	if err != nil {
		return 0, err
	}
	return a.with(ctx, func(j store) (int, error) {
		if in.state != "" {
			if err := workspace.Prune(in.state, time.Now()); err != nil && !a.quiet {
				a.sayf("old working copies: %v", err)
			}
		}
		o, err := open(ctx, model)
		if err != nil {
			return 0, unlessStopped(ctx, err)
		}
		w := o.work(a, in.stop)
		if w.agent, err = under(in.policy, w.agent); err == nil {
			err = checkStop(w.agent)
		}
		if err == nil {
			w.limits, err = ceilings(w.agent)
		}
		if err != nil {
			return 0, errors.Join(err, o.Close())
		}
		return driveWork(ctx, a, &p.driving, w, 0, func(ctx context.Context) (*engine.Handle, error) {
			return a.engine(j, &p.driving, w.agent).Start(ctx, w.agent, o.input, &engine.StartOptions{Labels: in.labels})
		})
	})
}

// thinking is the name of the model of an agent that the mechanic cannot be, named by a flag or otherwise.
func (a *app) thinking(named, does string) (string, error) {
	name, err := a.modelFor(named, " or with --model")
	if err == nil && name == mechanic.Name {
		err = misuse("the mechanic repairs code and %s; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name another model with --model", does)
	}
	return name, err
}

// isProject refuses what is no directory.
func isProject(dir string) error {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return misuse("directory %s does not exist; name the project's directory", dir)
	case err != nil:
		return refused(err)
	case !info.IsDir():
		return misuse("%s is not a directory; name the project's directory", dir)
	}
	return nil
}

// runAgain is what resuming a run in a copy in another process needs besides the agent's own
// data. It is stored in the agent's source.
type runAgain struct {
	Model  string  `json:"model"`
	DryRun bool    `json:"dry_run"`
	Stop   string  `json:"stop,omitempty"`   // a condition that replaces the agent's own
	Before float64 `json:"before,omitempty"` // of a refactoring: the metric
	Typed  string  `json:"typed,omitempty"`  // of a reproduction: the project's directory, as the user named it
}

// reopenCopy opens the copy of an earlier process again.
func reopenCopy(a *app, from inCopy, s *pawl.State, r remake) (*work, error) {
	var again runAgain
	if err := json.Unmarshal([]byte(s.Declaration().Source), &again); err != nil {
		return nil, err
	}
	again.Model = cmp.Or(r.model, again.Model)
	model, err := from.model(a, again.Model)
	if err == nil && !r.declared {
		err = readyModel(model)
	}
	var condition pawl.Condition
	if err == nil && again.Stop != "" {
		condition, err = stop.Parse(again.Stop, nil)
	}
	if err != nil {
		return nil, err
	}
	if r.declared { // the copy is removed once a run has succeeded
		agent := from.recorded(model, s.Limits())
		agent.Stop = condition
		return &work{agent: agent, drop: func() {}}, nil
	}
	made, err := from.open(a, model, s.Limits(), again)
	if err != nil {
		return nil, goneCopy(err, s.Run(), a.typed(from.startOver...))
	}
	return made.work(a, condition), nil
}

// unfinished concludes a run in a copy that has not succeeded. whole is its result as JSON.
func unfinished(ctx context.Context, a *app, r *pawl.Result, whole func() any, release func() error) (int, error) {
	ending(ctx, a, r)
	if r.Status.Ended() {
		lastWords(ctx, a, r.Run)
	}
	var err error
	if a.json {
		err = printJSON(a.out, whole())
	} else if !a.quiet {
		a.sayf("the project is unchanged")
	}
	return exitCode(r.Status), errors.Join(err, release())
}

// settings are what flags say of the limits, labels and policy of a run.
type settings struct {
	limits pawl.Limits
	labels map[string]string
	policy *spec.Policy
}

// settings reads the flags.
func (d *driving) settings() (s settings, err error) {
	l, err := parseLimits(d.limit, false)
	if err != nil {
		return s, err
	}
	s.limits = l.Set
	if s.labels, err = parseLabels(d.label); err != nil {
		return s, err
	}
	s.policy, err = readPolicy(d.policy)
	return s, err
}
