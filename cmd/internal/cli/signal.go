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

func (p *post) flags(c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&p.goOn, "continue", false, "resume the run at once, regardless of who suspended it")
	c.Flags().BoolVar(&p.stay, "no-continue", false, "leave the run suspended")
	c.MarkFlagsMutuallyExclusive("continue", "no-continue")
	c.Flags().StringVar(&p.by, "by", "", "record the decision as this user (default: the current user)")
	p.flag(c, "events", "approvals")
	return remotely(c, "no-continue")
}

// sender is the user that a signal is recorded under.
func (p *post) sender() string { return cmp.Or(p.by, engine.Self().User) }

// signalRun signals a run and resumes the run if it should.
func signalRun(ctx context.Context, a *app, ref string, p *post, say func(to *runs.Addressee) error) (int, error) {
	return a.onRun(ctx, ref, func(j pawl.Journal, h pawl.Head) (int, error) {
		desk, err := a.deskOf(ctx, j, h.Run)
		if err != nil {
			return 0, err
		}
		to, err := runs.Address(ctx, j, h.Run, func(*pawl.State) runs.Sender { return desk })
		if err != nil {
			return 0, err
		}
		root, err := runs.Root(ctx, j, h)
		if err != nil {
			return 0, err
		}
		err = say(to)
		if several, ok := errors.AsType[*runs.AmbiguousError](err); ok {
			return 0, listing(several.Candidates, "several runs under %s have a waiting call %s; name one of them instead of %s:", several.Run, several.Call, several.Run)
		}
		if late, ok := errors.AsType[*runs.ConflictError](err); ok && late.Expired {
			if report, reading := runs.Report(ctx, j, h, a.place()); reading == nil && len(report.Next) > 0 {
				return 0, fmt.Errorf("%w: %s", err, report.Next[0].Command)
			}
		}
		if err != nil {
			return 0, err
		}
		return forward(ctx, a, j, p, to, root)
	})
}

// sendSignal is [signalRun] for one signal to one call.
func sendSignal(ctx context.Context, a *app, ref, call string, p *post, s runs.Signal) (int, error) {
	return signalRun(ctx, a, ref, p, func(to *runs.Addressee) error { return to.Signal(ctx, call, s) })
}

// forward resumes the root of a run that got a signal, if this user suspended it in this
// directory, or if the user asks for it; see [runs.Forward]. A server has resumed the root by
// itself, unless it is as it was: then there is nothing to watch.
func forward(ctx context.Context, a *app, j pawl.Journal, p *post, to *runs.Addressee, was pawl.Head) (int, error) {
	code, resumed, again := 0, false, &resuming{driving: p.driving}
	resume := func(ctx context.Context, root pawl.Head) error {
		s, err := engine.Load(ctx, j, root.Run)
		if err != nil {
			return err
		}
		if !p.goOn && (p.stay || !ours(s.Owner()) || !ofPawl(s)) {
			return runs.ErrElsewhere
		}
		code, err = resumeRun(ctx, a, j, root, again)
		if !p.goOn && errors.As(err, new(*orphanError)) { // it needs an agent that the user names
			return runs.ErrElsewhere
		}
		return err
	}
	root, err := runs.Head(ctx, j, was.Run)
	switch {
	case err != nil:
		return 0, err
	case a.far != nil && root.Seq == was.Seq && root.Status != pawl.StatusRunning && root.Status != pawl.StatusQueued:
	case a.far != nil:
		code, err = a.driveFar(ctx, &p.driving, was.Seq, func(ctx context.Context) (pawl.Result, error) { return a.far.Run(ctx, was.Run) })
		if err != nil {
			err = fmt.Errorf("recorded for run %s, which the server resumes; watching it failed: %w", was.Run, err)
		}
		return code, err
	case !p.goOn:
		root, resumed, err = runs.Forward(ctx, j, was.Run, to.Fresh, resume)
	case runs.Owned(root.Lease) || root.Status != pawl.StatusSuccess:
		err = resume(ctx, root)
		resumed = err == nil
	}
	if resumed && err == nil {
		return code, nil
	}
	report, reading := a.explained(ctx, j, root)
	if reading != nil {
		return 0, errors.Join(err, reading)
	}
	changed, hasChanged := errors.AsType[*engine.ChangedError](err)
	switch {
	case hasChanged: // it cannot go on by itself, but has what it waited for
		a.sayf("recorded for run %s, but its agent has changed: %s; resume it with: %s", root.Run, strings.Join(changed.Parts, ", "), again.allowing(a, root.Run))
	case err != nil:
		if !errors.As(err, new(*pawl.HeldError)) {
			a.sayf("pawl: recorded for run %s, but it cannot resume because of the error below; once that is fixed, %s", root.Run, onward(report))
		}
		return 0, err
	case runs.Owned(root.Lease) && !a.quiet:
		a.sayf("recorded for run %s, which is driven by %s", root.Run, runs.OwnerText(root.Lease.Owner))
	default:
		a.recorded(report, to.Fresh)
	}
	return 0, a.printReport(report)
}

// ofPawl reports whether a command can rebuild the agent of a run. Only the program
// that brought an agent as Go code can rebuild that one.
func ofPawl(s *pawl.State) bool {
	source := s.Declaration().Source
	_, is, err := copyOf(source)
	_, isReview, _ := review.ParseSource(source) // reworkOf says what is wrong with it
	return is || isReview || err != nil || spec.IsSource(source)
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
