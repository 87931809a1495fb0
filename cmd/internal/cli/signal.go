package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/review"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
)

// A post holds the flags shared by the commands that signal a run.
type post struct {
	driving
	goOn, stay bool
	by         string
}

func (p *post) flags(c *cobra.Command) {
	c.Flags().BoolVar(&p.goOn, "continue", false, "resume the run at once, regardless of who suspended it")
	c.Flags().BoolVar(&p.stay, "no-continue", false, "leave the run suspended")
	c.MarkFlagsMutuallyExclusive("continue", "no-continue")
	c.Flags().StringVar(&p.by, "by", "", "record the decision as this user (default: the current user)")
	p.eventsFlag(c)
	p.approvalsFlag(c)
}

// sender is the user that a signal is recorded under.
func (p *post) sender() string { return cmp.Or(p.by, engine.Self().User) }

// signalRun signals a run and resumes the run if it should.
func signalRun(ctx context.Context, a *app, ref string, p *post, say func(j pawl.Journal, to *runs.Addressee) error) (int, error) {
	return a.onRun(ctx, ref, func(j store, h pawl.Head) (int, error) {
		said := func(to *runs.Addressee) error {
			err := say(j, to)
			if several, ok := errors.AsType[*runs.AmbiguousError](err); ok {
				return listing(several.Candidates, "several runs under %s have a waiting call %s; name one of them instead of %s:", several.Run, several.Call, several.Run)
			}
			if late, ok := errors.AsType[*runs.ConflictError](err); ok && late.Expired {
				if report, reading := runs.Report(ctx, j, h, a.place()); reading == nil && len(report.Next) > 0 {
					return fmt.Errorf("%w: %s", err, report.Next[0].Command)
				}
			}
			return err
		}
		if r, ok := j.(*remote); ok {
			return signalRemote(ctx, a, r, p, h, said)
		}
		to, err := runs.Address(ctx, j, h.Run, func(s *pawl.State) runs.Desk { return engine.New(j, a.options(s.Declaration().Source)) })
		if err == nil {
			err = engine.MarkAnswered(ctx, j, to.Pending)
		}
		if err == nil {
			err = said(to)
		}
		if err != nil {
			return 0, err
		}
		return forward(ctx, a, j, p, to)
	})
}

// sendSignal is [signalRun] for one signal to one call.
func sendSignal(ctx context.Context, a *app, ref, call string, p *post, s runs.Signal) (int, error) {
	return signalRun(ctx, a, ref, p, func(_ pawl.Journal, to *runs.Addressee) error { return to.Signal(ctx, call, s) })
}

// forward resumes the root of a run that got a signal, if this user suspended it in this
// directory, or if the user asks for it; see [runs.Forward].
func forward(ctx context.Context, a *app, j store, p *post, to *runs.Addressee) (int, error) {
	run, code, resumed := to.State.Run(), 0, false
	resume := func(ctx context.Context, root pawl.Head) error {
		s, err := engine.Load(ctx, j, root.Run)
		if err != nil {
			return err
		}
		if !p.goOn && (p.stay || !ours(s.Owner()) || !ofPawl(s)) {
			return runs.ErrElsewhere
		}
		code, err = resumeRun(ctx, a, j, root, &resuming{driving: p.driving})
		if !p.goOn && errors.As(err, new(*orphanError)) { // it needs an agent that the user names
			return runs.ErrElsewhere
		}
		return err
	}
	root, err := runs.RootOf(ctx, j, run)
	switch {
	case err != nil:
		return 0, err
	case !p.goOn:
		root, resumed, err = runs.Forward(ctx, j, run, to.Fresh, resume)
	case runs.Owned(root.Lease) || root.Status != pawl.StatusSuccess:
		err = resume(ctx, root)
		resumed = err == nil
	}
	if changed, ok := errors.AsType[*changedError](err); ok { // it cannot go on by itself, but has what it waited for
		has := "recorded for run " + root.Run
		if !to.New {
			has = fmt.Sprintf("run %s has it already", root.Run)
		}
		a.sayf("%s, but its agent has changed: %s; resume it with: %s", has, strings.Join(changed.Parts, ", "), changed.command)
		report, err := runs.Report(ctx, j, root, a.place())
		if err != nil || !a.json {
			return 0, err
		}
		return 0, printJSON(a.out, report.Result)
	}
	switch {
	case err != nil:
		return 0, stuck(ctx, a, j, root, to.New, err)
	case resumed:
		return code, nil
	}
	report, err := a.explained(ctx, j, root)
	if err != nil {
		return 0, err
	}
	if runs.Owned(root.Lease) && !a.quiet {
		a.sayf("recorded for run %s, which is driven by %s", root.Run, runs.OwnerText(root.Lease.Owner))
	} else {
		a.recorded(report, to.Fresh)
	}
	if !a.json {
		return 0, nil
	}
	return 0, printJSON(a.out, report.Result)
}

// ofPawl reports whether a command can rebuild the agent of a run. Only the program
// that brought an agent as Go code can rebuild that one.
func ofPawl(s *pawl.State) bool {
	source := s.Declaration().Source
	_, is, err := copyOf(source)
	_, isReview, _ := review.ParseSource(source) // reworkOf says what is wrong with it
	return is || isReview || err != nil || spec.IsSource(source)
}

// stuck explains why a run that has its signal cannot resume. news: it has it only now.
func stuck(ctx context.Context, a *app, j pawl.Journal, root pawl.Head, news bool, err error) error {
	if errors.As(err, new(*pawl.HeldError)) {
		return err
	}
	has := "recorded for run " + root.Run
	if !news {
		has = fmt.Sprintf("run %s has it already", root.Run)
	}
	report, reading := runs.Report(ctx, j, root, a.place())
	if reading != nil {
		return errors.Join(err, reading)
	}
	a.sayf("pawl: %s, but it cannot resume because of the error below; once that is fixed, %s", has, onward(report))
	return err
}

// ours reports whether an owner was this user in this directory.
func ours(owner string) bool {
	was, now := engine.ParseOwner(owner), engine.Self()
	return was.User == now.User && was.Dir == now.Dir && was.Host == now.Host
}

// listing is a usage error that lists the candidates.
func listing(list []pawl.Pending, format string, args ...any) error {
	lines := make([]string, len(list))
	for i, p := range list {
		lines[i] = "\n  " + pendingText(p)
	}
	return misuse(format+"%s", append(args, strings.Join(lines, ""))...)
}
