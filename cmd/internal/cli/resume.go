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
	"github.com/pawl-run/pawl/engine/desk"
	"github.com/pawl-run/pawl/stop"
)

// resuming is how a run is to go on.
type resuming struct {
	driving
	spec        string
	allowChange bool
}

func (a *app) resumeCommand() *cobra.Command {
	r := &resuming{}
	c := a.command("resume RUN [flags]", "Go on with a run that is parked, ended without success, or was interrupted", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			return a.onRun(ctx, args[0], func(j store, h pawl.Head) (int, error) {
				root, err := desk.Root(ctx, j, h)
				switch {
				case err != nil:
					return 0, err
				case root.Run != h.Run && (r.limit != nil || r.spec != "" || r.model != "" || r.stop != ""):
					return 0, misuse("run %s is a child of run %s, and goes on with it as it is; resume that one with other limits or another agent", h.Run, root.Run)
				case root.Run != h.Run:
					a.sayf("run %s is a child of run %s; going on with that", h.Run, root.Run)
					h = root
				}
				return a.resume(ctx, j, h, r)
			})
		})
	r.limitFlag(c, true)
	c.Flags().StringVar(&r.spec, "spec", "", "make the agent of this spec instead of the one it began with")
	c.Flags().BoolVar(&r.allowChange, "allow-change", false, "go on although the agent has changed; the change is recorded")
	// The labels of a run are those it was begun with: whoever looks for it by
	// them would not find it again.
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
	if h.Status == pawl.Running && desk.Owned(h.Lease) {
		return 0, &pawl.HeldError{Lease: h.Lease}
	}
	s, err := engine.Load(ctx, j, h.Run)
	if err != nil {
		return 0, err
	}
	if s.Status() == pawl.Success {
		if code, late, err := a.lateFix(ctx, s); late {
			return code, err
		}
		return 0, misuse("run %s is done; fork it to go another way", h.Run)
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

// words is a command that changes as much of a run as this one does.
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
	return fmt.Sprintf("run %s began with another agent: %s changed since; go on with: %s; or leave the run as it is and fork it",
		e.Run, strings.Join(e.Parts, ", "), e.command)
}

func (e *changedError) Unwrap() error { return e.ChangedError }

// raise fills in the limits of a resumption and returns what they come to.
func (a *app) raise(s *pawl.State, w *work, typed desk.Limits, o *engine.ResumeOptions) (pawl.Limits, error) {
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
	if o.Limits, err = over(typed, s.Limits(), desk.PriceOf(w.agent.Model)); err != nil {
		return pawl.Limits{}, err
	}
	o.AllowSpent = o.Limits == (pawl.Limits{}) // which a policy may lower without anybody asking for it
	o.Limits = a.hold(w.policy, s.Limits(), o.Limits)
	return s.Limits().Merge(o.Limits), nil
}

// checkStop says what of a stop condition from the command line does not fit
// the agent.
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

// lost makes bad usage of losing the race for a run to another process.
func lost(err error) error {
	if errors.Is(err, pawl.ErrFenced) || errors.Is(err, pawl.ErrConflict) {
		return refused(err)
	}
	return err
}
