package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/refactor"
	"github.com/pawl-run/pawl/fix/repro"
	"github.com/pawl-run/pawl/fix/review"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/tool/agentsmd"
	"github.com/pawl-run/pawl/workspace"
)

// projecting holds the options of pawl fix and its sisters, which work in a copy of a project.
type projecting struct {
	driving
	test   string
	env    []string
	dryRun bool
}

// knownTests says which commands may run the tests where not any may.
const knownTests = "go test or pytest, "

// command makes a command on the project in DIR, the last of its arguments after n others. tests
// says which test commands there may be.
func (p *projecting) command(a *app, use, short, tests string, n int, do func(ctx context.Context, args []string, dir string) (int, error)) *cobra.Command {
	c := a.command(use, short, cobra.RangeArgs(n, n+1), func(ctx context.Context, args []string) (int, error) {
		return do(ctx, args, append(args, ".")[n])
	})
	c.Flags().StringVar(&p.test, "test", "", "the command that runs the tests, "+tests+"without a shell (default: go test ./... for a Go module, pytest for a Python project)")
	c.Flags().StringArrayVar(&p.env, "env", nil, "a variable for the tests: `NAME` to pass it on, or NAME=VALUE, which is recorded with the run; may be repeated")
	c.Flags().BoolVar(&p.dryRun, "dry-run", false, "print the diff without applying it")
	p.flag(c, "model", "limit", "stop", "label", "events", "policy", "approvals")
	return c
}

// A blueprint is an agent that works in a copy of a project.
type blueprint interface { //nolint:interfacebloat // one method for each step of its life
	Agent() pawl.Agent
	Input() string
	Dir() string
	Check(ctx context.Context, seen func(packages, failed int)) (testfix.Checked, error)
	Finish(ctx context.Context, s pawl.Status) (testfix.Outcome, error)
	Apply(d testfix.Diff) error
	Release() error
	Close() error
}

// openCopy is a blueprint whose copy is open.
type openCopy struct {
	blueprint

	from  inCopy
	again runAgain
}

// check runs the tests of a project once, before a model is asked, and shows how far they are.
func (a *app) check(ctx context.Context, made blueprint) error {
	seen, stop := a.showCheck()
	checked, err := made.Check(ctx, seen)
	stop()
	for _, line := range checked.Says {
		if err == nil && !a.quiet {
			a.sayf("%s", line)
		}
	}
	return err
}

// conclude applies the diff that is to be kept to the project and prints it. The copy stays as long as
// the run can be resumed.
func (o *openCopy) conclude(ctx context.Context, a *app, r pawl.Result) (int, error) {
	ctx = context.WithoutCancel(ctx) // apply the diff even if ctx ends now
	leave := o.Release
	if r.Status == pawl.StatusSuccess {
		leave = o.Close
		endingSince(ctx, a, &r, o.from.success)
	} else if ending(ctx, a, &r); r.Status.Ended() {
		lastWords(ctx, a, r.Run)
	}
	out, err := o.Finish(ctx, r.Status)
	if err != nil {
		return 0, errors.Join(err, o.Release())
	}
	applied := !o.again.DryRun && !out.Diff.Empty()
	if applied {
		err = a.unapplied(o.Apply(out.Diff), o.Dir(), r.Run)
	}
	var printing error
	if a.json {
		printing = a.printOutcome(r, out, applied && err == nil)
	} else {
		_, printing = io.WriteString(a.out, out.Diff.String())
	}
	if err = errors.Join(err, printing); err != nil {
		return 0, errors.Join(err, o.Release())
	}
	if !a.quiet {
		o.say(a, out, applied)
	}
	return exitCode(r.Status), leave()
}

// say says what became of the diff.
func (o *openCopy) say(a *app, out testfix.Outcome, applied bool) {
	for _, line := range out.Says {
		a.sayf("%s", line)
	}
	switch {
	case applied:
		a.sayf("applied to %s", strings.Join(out.Diff.Files(), ", "))
	case !out.Diff.Empty():
		a.sayf("not applied: this is a dry run")
	default:
		a.sayf("%s", cmp.Or(out.Unchanged, "the project is unchanged"))
	}
	if found, is := out.Facts.(repro.Found); is && applied {
		fix := []string{"pawl", "fix", o.from.dir}
		for _, v := range o.from.env {
			fix = append(fix, "--env", v)
		}
		a.sayf("next: %s # to fix what it shows", a.typed(append(fix, "--test", found.Command)...))
	}
}

// printOutcome prints a result with its diff and the facts of the kind of agent.
func (con *console) printOutcome(r pawl.Result, out testfix.Outcome, applied bool) error {
	head, err := wire.Marshal(struct {
		pawl.Result

		Diff    string `json:"diff"`
		Applied bool   `json:"applied"`
	}{r, out.Diff.String(), applied})
	if err != nil {
		return err
	}
	facts, err := wire.Marshal(out.Facts)
	if err != nil {
		return err
	}
	return printJSON(con.out, append(append(head[:len(head)-1], ','), facts[1:]...))
}

// work is the agent with what to do before and after its run.
func (o *openCopy) work(a *app, condition pawl.Condition) *work {
	agent := o.again.Notes.On(o.Agent())
	agent.Stop = condition
	agent.Source = withMembers(agent.Source, o.again)
	return &work{
		agent:    agent,
		begun:    func() { now := time.Now(); _ = os.Chtimes(o.from.state, now, now) }, // so that the copy is kept longer
		conclude: func(ctx context.Context, r pawl.Result) (int, error) { return o.conclude(ctx, a, r) },
		drop:     func() { _ = o.Release() }, // nothing was written
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

// drive has make make a copy of the project with a model, and drives a run there to its end. does
// says what the mechanic does in place of the agent's work; empty: the work.
func (p *projecting) drive(ctx context.Context, a *app, dir, does string, make func(pawl.Model, *testfix.Options) (blueprint, error)) (int, error) {
	if err := isProject(dir); err != nil {
		return 0, err
	}
	notes, err := a.notes(dir)
	if err != nil {
		return 0, err
	}
	set, err := p.settings()
	if err != nil {
		return 0, err
	}
	o := &testfix.Options{Limits: set.limits, Env: p.env, StateDir: a.fixState(dir)}
	if p.test != "" {
		if o.Test, err = words(p.test); err != nil {
			return 0, misuse("--test: %w", err)
		}
	}
	condition, err := stopGiven(p.stop, nil)
	if err != nil {
		return 0, err
	}
	name := ""
	if does == "" {
		name = a.fixModel(p.model)
	} else if name, err = a.thinking(p.model, does); err != nil {
		return 0, err
	}
	model, err := readyModel(a.model(name))
	if err != nil {
		return 0, err
	}
	return a.with(ctx, func(j store) (int, error) {
		if o.StateDir != "" {
			if err := workspace.Prune(o.StateDir, time.Now()); err != nil && !a.quiet {
				a.sayf("old working copies: %v", err)
			}
		}
		made, err := make(model, o)
		if err != nil {
			return 0, unlessStopped(ctx, err)
		}
		if err := a.check(ctx, made); err != nil {
			return 0, unlessStopped(ctx, errors.Join(err, made.Close()))
		}
		o := &openCopy{blueprint: made, again: runAgain{Model: name, DryRun: p.dryRun, Stop: p.stop, Notes: notes}}
		o.from, _, err = copyOf(made.Agent().Source)
		w := o.work(a, condition)
		if err == nil {
			w.agent, err = under(set.policy, w.agent)
		}
		if err == nil {
			err = checkStop(w.agent)
		}
		if err == nil {
			w.limits, err = ceilings(w.agent)
		}
		if err != nil {
			return 0, errors.Join(err, made.Close())
		}
		return driveNew(ctx, a, j, &p.driving, w, made.Input(), &engine.StartOptions{Labels: set.labels})
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
	Model  string `json:"model"`
	DryRun bool   `json:"dry_run"`
	Stop   string `json:"stop,omitempty"` // a condition that replaces the agent's own

	Notes *agentsmd.Notes `json:"notes,omitempty"` // the AGENTS.md of the project; nil: none
}

// reopenCopy opens the copy of an earlier process again.
func reopenCopy(a *app, from inCopy, s *pawl.State, r remake) (*work, error) {
	var again runAgain
	if err := json.Unmarshal([]byte(s.Declaration().Source), &again); err != nil {
		return nil, err
	}
	again.Model = cmp.Or(r.model, again.Model)
	model, err := from.model(a, again.Model)
	if !r.declared {
		model, err = readyModel(model, err)
	}
	if err != nil {
		return nil, err
	}
	condition, err := stopGiven(again.Stop, nil)
	if err != nil {
		return nil, err
	}
	if r.declared { // the copy is removed once a run has succeeded
		agent := again.Notes.On(from.recorded(model, s.Limits()))
		agent.Stop = condition
		return &work{agent: agent, drop: func() {}}, nil
	}
	made, err := from.open(model, s.Limits())
	if err != nil {
		return nil, goneCopy(err, s.Run(), a.typed(from.startOver...))
	}
	o := &openCopy{made, from, again}
	return o.work(a, condition), nil
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

// inCopy is an agent that works in a copy of a project, by the source that its runs record.
type inCopy struct {
	dir, state string
	test, env  []string
	startOver  []string                                 // the command that does so
	success    string                                   // why a run succeeded, in place of its condition
	recorded   func(pawl.Model, pawl.Limits) pawl.Agent // the agent without its copy
	open       func(pawl.Model, pawl.Limits) (blueprint, error)
}

// copyOf reads the source of such an agent. is is false for any other; the error is about a source
// of this kind.
func copyOf(source string) (c inCopy, is bool, err error) {
	if s, is, err := testfix.ParseSource(source); is {
		return inCopy{
			s.Dir, s.State, s.Test, s.Env, []string{"pawl", "fix", s.Dir}, "every test passes",
			func(m pawl.Model, l pawl.Limits) pawl.Agent { return testfix.Recorded(s, m, l) },
			func(m pawl.Model, l pawl.Limits) (blueprint, error) { return testfix.Open(s, m, l) },
		}, true, err
	}
	if s, is, err := refactor.ParseSource(source); is {
		return inCopy{
			s.Dir, s.State, s.Test, s.Env, []string{"pawl", "refactor", s.Goal, s.Dir}, "every test passes, as before",
			func(m pawl.Model, l pawl.Limits) pawl.Agent { return refactor.Recorded(s, m, l) },
			func(m pawl.Model, l pawl.Limits) (blueprint, error) { return refactor.Open(s, m, l) },
		}, true, err
	}
	s, is, err := repro.ParseSource(source)
	return inCopy{
		s.Dir, s.State, s.Test, s.Env, []string{"pawl", "repro", "TEXT", s.Dir}, "a new test fails because of the bug",
		func(m pawl.Model, l pawl.Limits) pawl.Agent { return repro.Recorded(s, m, l) },
		func(m pawl.Model, l pawl.Limits) (blueprint, error) { return repro.Open(s, m, l) },
	}, is, err
}

// model finds a model for the agent.
func (c inCopy) model(a *app, name string) (pawl.Model, error) {
	if name == mechanic.Name && c.startOver[1] != "fix" {
		return nil, misuse("the mechanic repairs code and does nothing else; name another model with --model")
	}
	return a.model(name)
}

// completeLate completes a run that succeeded but was killed before its diff was applied to the project, or its
// findings were printed. found is false for any other run, and what is wrong with a source is reported when the run is
// resumed.
func completeLate(ctx context.Context, a *app, s *pawl.State) (code int, found bool, err error) {
	var w *work
	source := s.Declaration().Source
	if from, is, wrong := copyOf(source); is && wrong == nil {
		if _, err = workspace.Open(from.state); errors.Is(err, fs.ErrNotExist) {
			return 0, false, nil // the diff was applied; the copy is removed or being removed
		}
		if err == nil {
			w, err = reopenCopy(a, from, s, remake{})
		}
	} else if of, is, wrong := review.ParseSource(source); is && wrong == nil {
		w, err = reopenReview(a, of, s, remake{declared: true})
	} else {
		return 0, false, nil
	}
	if err != nil {
		return 0, true, err
	}
	code, err = w.conclude(ctx, s.Result())
	return code, true, err
}

// unapplied says of a change that conflicts with the project where it is, and what applies it later.
func (a *app) unapplied(err error, dir, run string) error {
	if conflict := (*workspace.ConflictError)(nil); errors.As(err, &conflict) {
		return refused(fmt.Errorf("%w; the copy is %s; then complete it with: %s", err, dir, a.typed("pawl", "resume", run)))
	}
	return err
}

// goneCopy says why a working copy could not be opened, and which command starts over.
func goneCopy(err error, run, command string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return misuse("run %s cannot resume: its working copy is gone; start over with: %s", run, command)
	}
	return refused(err)
}

// reportOf is the report of a run. It says so if the run succeeded in a copy and the project does not have the change,
// which the log cannot know.
func (a *app) reportOf(ctx context.Context, j pawl.Journal, h pawl.Head) (explain.Report, error) {
	r, err := a.explained(ctx, j, h)
	if err != nil || a.far != nil || r.Status != pawl.StatusSuccess || runs.IsChild(h) || len(r.Next) > 0 && strings.HasPrefix(r.Next[0].Command, "pawl explain ") {
		return r, err // what works in the copy of another run, or goes on in one, is applied with that run
	}
	s, err := engine.Load(ctx, j, h.Run)
	if err != nil {
		return r, err
	}
	from, is, err := copyOf(s.Declaration().Source)
	if err != nil || !is {
		return r, nil //nolint:nilerr // it is reported when the run is resumed
	}
	if _, err := os.Stat(from.state); err == nil {
		r.Recommend(a.typed("pawl", "resume", r.Run), fmt.Sprintf("to apply its change to %s; it was not applied, and is in %s", from.dir, from.state))
	}
	return r, nil
}
