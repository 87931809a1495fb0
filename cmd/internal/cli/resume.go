package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/stop"
)

// resuming holds the options of pawl resume.
type resuming struct {
	driving
	spec        string
	allowChange bool
}

func (a *app) resumeCommand() *cobra.Command {
	r := &resuming{}
	c := a.command("resume RUN [flags]", "Resume a run that is suspended, ended without success, or was interrupted", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			return a.onRun(ctx, args[0], func(j store, h pawl.Head) (int, error) {
				root, err := runs.Root(ctx, j, h)
				switch {
				case err != nil:
					return 0, err
				case root.Run != h.Run && (r.limit != nil || r.spec != "" || r.model != "" || r.stop != ""):
					return 0, misuse("run %s is a child of run %s and resumes with it, unchanged; apply the flags to run %[2]s", h.Run, root.Run)
				case root.Run != h.Run:
					a.sayf("run %s is a child of run %s; resuming that one", h.Run, root.Run)
					h = root
				}
				return a.resume(ctx, j, h, r)
			})
		})
	r.limitFlag(c, true)
	c.Flags().StringVar(&r.spec, "spec", "", "resume with the agent of this spec instead of the original one")
	c.Flags().BoolVar(&r.allowChange, "allow-change", false, "resume although the agent has changed; the change is recorded")
	// A run keeps its labels, because people find it by them.
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedName() == "label" {
			return errors.New("a run keeps the labels it began with; pawl fork RUN --at SEQ --label KEY=VALUE makes one with others")
		}
		return err
	})
	r.modelFlag(c)
	r.stopFlag(c)
	r.eventsFlag(c)
	r.policyFlag(c)
	r.approvalsFlag(c)
	return remotely(a.runArgument(c), "spec", "allow-change", "model", "stop", "policy")
}

func (a *app) resume(ctx context.Context, j store, h pawl.Head, r *resuming) (int, error) {
	if at, ok := j.(*remote); ok {
		return a.resumeRemote(ctx, at, h, &r.driving)
	}
	typed, err := parseLimits(r.limit, true)
	if err != nil {
		return 0, err
	}
	o := &engine.ResumeOptions{AllowChange: r.allowChange}
	if r.stop != "" {
		if o.Stop, err = stop.Parse(r.stop, nil); err != nil {
			return 0, misuse("--stop: %w", err)
		}
	}
	if h.Status == pawl.StatusRunning && runs.Owned(h.Lease) {
		return 0, &pawl.HeldError{Lease: h.Lease}
	}
	s, err := engine.Load(ctx, j, h.Run)
	if err != nil {
		return 0, err
	}
	if s.Status() == pawl.StatusSuccess {
		if code, late, err := a.lateFix(ctx, s); late {
			return code, err
		}
		return 0, misuse("run %s has succeeded; fork it to continue differently", h.Run)
	}
	if s.Redacted() {
		return 0, fmt.Errorf("run %s: %w", h.Run, engine.ErrRedacted)
	}
	policy, err := readPolicy(r.policy)
	if err != nil {
		return 0, err
	}
	w, err := a.workOf(ctx, j, s, remake{spec: r.spec, model: r.model, policy: policy, loosen: r.allowChange})
	if err != nil {
		return 0, err
	}
	limits, err := a.raise(s, w, typed, o)
	if err != nil {
		w.drop()
		return 0, err
	}
	a.stillRuns(ctx, j, s)
	result, err := a.drive(ctx, &r.driving, w.agent, limits, s.Seq(), func(ctx context.Context) (*engine.Handle, error) {
		run, err := a.engine(j, &r.driving, w.agent).Resume(ctx, w.agent, h.Run, o)
		if err == nil && w.begun != nil {
			w.begun(run.ID())
		}
		return run, lost(err)
	})
	if err != nil {
		w.drop()
		if changed, ok := errors.AsType[*engine.ChangedError](err); ok {
			err = &changedError{changed, a.typed(r.words("pawl", "resume", h.Run, "--allow-change")...)}
		}
		return 0, err
	}
	return w.conclude(ctx, result)
}

// words adds the flags of this resumption to a command.
func (r *resuming) words(command ...string) []string {
	option := func(name, value string) {
		if value != "" {
			command = append(command, name, value)
		}
	}
	option("--spec", r.spec)
	option("--model", r.model)
	for _, limit := range r.limit {
		option("--limit", limit)
	}
	option("--stop", r.stop)
	option("--policy", r.policy)
	for _, label := range r.label {
		option("--label", label)
	}
	option("--events", r.events)
	option("--approvals", string(r.approvals))
	return command
}

// A changedError is an engine.ChangedError with the command that allows the change.
type changedError struct {
	*engine.ChangedError

	command string
}

func (e *changedError) Error() string {
	return fmt.Sprintf("the agent of run %s has changed: %s; resume it with: %s; or fork the run",
		e.Run, strings.Join(e.Parts, ", "), e.command)
}

func (e *changedError) Unwrap() error { return e.ChangedError }

// raise sets the limits of a resumption and returns the resulting limits.
func (a *app) raise(s *pawl.State, w *work, typed runs.Limits, o *engine.ResumeOptions) (pawl.Limits, error) {
	agent := w.agent
	if o.Stop != nil {
		agent.Stop = o.Stop
		if err := checkStop(agent); err != nil {
			return pawl.Limits{}, err
		}
	}
	if _, err := ceilings(agent); err != nil {
		return pawl.Limits{}, err
	}
	var err error
	if o.Limits, err = over(typed, s.Limits(), runs.PriceOf(w.agent.Model)); err != nil {
		return pawl.Limits{}, err
	}
	o.AllowSpent = o.Limits == (pawl.Limits{}) // a policy may lower limits that the user did not change
	o.Limits = a.hold(w.policy, s.Limits(), o.Limits)
	return s.Limits().Merge(o.Limits), nil
}

// checkStop reports what in a stop condition of the command line does not fit the agent.
func checkStop(agent pawl.Agent) error {
	c, ok := agent.Stop.(pawl.Checker)
	if !ok {
		return nil
	}
	if err := c.Check(agent); err != nil {
		return misuse("--stop: %w", err)
	}
	return nil
}

// lost turns losing the race for a run into a usage error.
func lost(err error) error {
	if errors.Is(err, pawl.ErrFenced) || errors.Is(err, pawl.ErrConflict) {
		return refused(err)
	}
	return err
}
