package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/stop"
)

// resuming holds the options of pawl resume.
type resuming struct {
	driving
	spec        string
	prompt      string // of a fork
	allowChange bool
}

func resumeCommand(a *app) *cobra.Command {
	r := &resuming{}
	c := oneRun(a, "resume RUN [flags]", "Resume a run that is suspended, ended without success, or was interrupted", func(ctx context.Context, j pawl.Journal, h pawl.Head) (int, error) {
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
		code, err := resumeRun(ctx, a, j, h, r)
		if changed, ok := errors.AsType[*engine.ChangedError](err); ok {
			err = misuse("the agent of run %s has changed: %s; resume it with: %s; or fork the run", h.Run, strings.Join(changed.Parts, ", "), r.allowing(a, h.Run))
		}
		return code, err
	})
	r.flag(c, "raise")
	c.Flags().StringVar(&r.spec, "spec", "", "resume with the agent of this spec instead of the original one")
	c.Flags().BoolVar(&r.allowChange, "allow-change", false, "resume although the agent has changed; the change is recorded")
	// A run keeps its labels, because people find it by them.
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedName() == "label" {
			return errors.New("a run keeps the labels it began with; pawl fork RUN --at SEQ --label KEY=VALUE makes one with others")
		}
		return err
	})
	r.flag(c, "model", "stop", "events", "policy", "approvals")
	return remotely(c, "spec", "allow-change", "model", "stop", "policy")
}

func resumeRun(ctx context.Context, a *app, j pawl.Journal, h pawl.Head, r *resuming) (int, error) {
	if a.far != nil {
		limits, err := sentLimits(r.limit, true)
		if err != nil {
			return 0, err
		}
		return a.driveFar(ctx, &r.driving, h.Seq, func(ctx context.Context) (pawl.Result, error) {
			return a.far.Resume(ctx, h.Run, client.ResumeRun{Limits: limits})
		})
	}
	s, err := runs.Resumable(ctx, j, h, 0)
	if s != nil && s.Status() == pawl.StatusSuccess {
		if code, late, err := completeLate(ctx, a, s); late {
			return code, err
		}
	}
	if err != nil {
		return 0, err
	}
	w, err := reopen(ctx, a, j, s, r, false)
	if err != nil {
		return 0, err
	}
	a.stillRuns(ctx, j, s)
	return driveWork(ctx, a, &r.driving, w, s.Seq(), func(ctx context.Context) (*engine.Handle, error) {
		return a.engine(j, &r.driving, w.agent).Resume(ctx, w.agent, h.Run, &w.how)
	})
}

// allowing is the command that resumes a run although its agent has changed.
func (r *resuming) allowing(a *app, run string) string {
	return a.typed(r.words("pawl", "resume", run, "--allow-change")...)
}

// words adds the flags of this resumption to a command.
func (r *resuming) words(command ...string) []string {
	option := func(name string, values ...string) {
		for _, value := range values {
			if value != "" {
				command = append(command, name, value)
			}
		}
	}
	option("--spec", r.spec)
	option("--prompt", r.prompt)
	option("--model", r.model)
	option("--limit", r.limit...)
	option("--stop", r.stop)
	option("--policy", r.policy)
	option("--label", r.label...)
	option("--events", r.events)
	option("--approvals", string(r.approvals))
	return command
}

// reopen rebuilds the agent of a run to be resumed or, asWas, forked.
func reopen(ctx context.Context, a *app, j pawl.Journal, s *pawl.State, r *resuming, asWas bool) (*work, error) {
	typed, err := parseLimits(r.limit, true)
	if err != nil {
		return nil, err
	}
	how := engine.ResumeOptions{AllowChange: r.allowChange, AllowSpent: typed == (runs.Limits{})} // a policy may lower limits that the user did not change
	if how.Stop, err = stopGiven(r.stop, &stop.Options{When: a.registry().When}); err != nil {
		return nil, err
	}
	policy, err := readPolicy(r.policy)
	if err != nil {
		return nil, err
	}
	w, err := a.workOf(ctx, j, s, remake{spec: r.spec, model: r.model, prompt: r.prompt, policy: policy, loosen: r.allowChange, asWas: asWas})
	if err != nil {
		return nil, err
	}
	agent := w.agent
	if how.Stop != nil {
		agent.Stop = how.Stop
		err = checkStop(agent)
	}
	if err == nil {
		_, err = ceilings(agent)
	}
	if err == nil {
		price := runs.PriceOf(agent.Model)
		how.Limits, err = over(typed, s.Limits(), price, nil)
		if asked := how.Limits; err == nil && w.policy != nil {
			how.Limits, err = over(typed, s.Limits(), price, w.policy.Lower)
			if list := lowered(asked, how.Limits); err == nil && list != nil {
				file, _ := w.policy.Source()
				a.sayf("--limit: %s allows no more than %s", file, strings.Join(list, ", "))
			}
		}
	}
	if err != nil {
		w.drop()
		return nil, err
	}
	how.Upgrade = w.upgrade
	w.how, w.limits = how, s.Limits().Merge(how.Limits)
	return w, nil
}

// begin starts or resumes a run in this process. It is called once the command line is known to be
// valid.
type begin func(ctx context.Context) (*engine.Handle, error)

// trip is how a run of an agent is driven in this process.
func (a *app) trip(d *driving, agent pawl.Agent, limits pawl.Limits, after uint64, begin begin) trip {
	j := a.current()
	return trip{
		begin: func(ctx context.Context) (ride, error) { return begin(ctx) },
		resume: func(ctx context.Context, run string, _ uint64) (ride, error) {
			return a.engine(j, d, agent).Resume(ctx, agent, run, nil)
		},
		announce: func(ctx context.Context, run string) {
			a.announceRun(ctx, agent, limits, run)
		},
		view:  func() screen.View { return a.liveView(a.progress) },
		after: after, source: agent.Source,
	}
}

// driveWork drives the run that begin begins, and concludes it.
func driveWork(ctx context.Context, a *app, d *driving, w *work, after uint64, begin begin) (int, error) {
	if w.limits == (pawl.Limits{}) { // the run is new
		limits, err := ceilings(w.agent)
		if err != nil {
			w.drop()
			return 0, err
		}
		w.limits = limits
	}
	result, err := a.drive(ctx, d, a.trip(d, w.agent, w.limits, after, func(ctx context.Context) (*engine.Handle, error) {
		run, err := begin(ctx)
		if err == nil && w.begun != nil {
			w.begun()
		}
		return run, err
	}))
	if err != nil {
		w.drop()
		return 0, w.spent(err)
	}
	return w.conclude(ctx, result)
}

// stopGiven is the condition of --stop; nil: the flag is not given.
func stopGiven(text string, o *stop.Options) (pawl.Condition, error) {
	if text == "" {
		return nil, nil
	}
	c, err := stop.Parse(text, o)
	if err != nil {
		return nil, misuse("--stop: %w", err)
	}
	return c, nil
}

// driveNew is [driveWork] for a run that starts here.
func driveNew(ctx context.Context, a *app, j store, d *driving, w *work, input string, o *engine.StartOptions) (int, error) {
	return driveWork(ctx, a, d, w, 0, func(ctx context.Context) (*engine.Handle, error) {
		return a.engine(j, d, w.agent).Start(ctx, w.agent, input, o)
	})
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
