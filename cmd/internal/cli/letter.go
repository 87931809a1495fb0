package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/testfix"
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

// An addressee is a run that is about to get a signal.
type addressee struct {
	mailer

	journal pawl.Journal
	run     string
	state   *pawl.State
	by      string         // the sender
	pending []pawl.Pending // what the run and its children wait for
	news    *bool          // whether the run waits for the signal; false: it has it already
}

// mail sends a signal to a run and resumes the run if it should.
func (a *app) mail(ctx context.Context, ref string, p *post, say func(to addressee) error) (int, error) {
	return a.onRun(ctx, ref, func(j store, h pawl.Head) (int, error) {
		s, err := engine.Load(ctx, j, h.Run)
		if err != nil {
			return 0, err
		}
		pending, err := engine.Pending(ctx, j, s)
		if err != nil {
			return 0, err
		}
		to := addressee{nil, j, h.Run, s, p.by, pending, new(bool)}
		if to.by == "" {
			to.by = engine.Self().User
		}
		if r, ok := j.(*remote); ok {
			return a.mailRemote(ctx, r, to, p, h, say)
		}
		to.mailer = engine.New(j, a.options(s.Declaration().Source))
		if err := say(to); err != nil {
			return 0, err
		}
		return a.after(ctx, j, h.Run, p, *to.news)
	})
}

// after resumes a run that got a signal, if this user suspended it in this directory
// and it has no owner, or if the user asks for it. A child resumes with its root. A
// run that got nothing new still waits for something else: resuming would request
// that again and invalidate its tokens.
func (a *app) after(ctx context.Context, j store, run string, p *post, news bool) (int, error) {
	h, err := runs.Head(ctx, j, run)
	if err != nil {
		return 0, err
	}
	if h, err = runs.Root(ctx, j, h); err != nil {
		return 0, err
	}
	run = h.Run
	taken := h.Lease.Owner != "" && runs.Owned(h.Lease)
	parked := h.Status.Waiting() && news || h.Status == pawl.StatusPaused
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return 0, err
	}
	if p.goOn && (taken || s.Status() != pawl.StatusSuccess) || !p.stay && !taken && parked && ours(s.Owner()) && ofPawl(s) {
		code, err := a.resume(ctx, j, h, &resuming{driving: p.driving})
		if err == nil {
			return code, nil
		}
		if h, err = a.stuck(ctx, j, h, p, err); err != nil {
			return 0, err
		}
		taken = runs.Owned(h.Lease)
	}
	report, err := runs.Report(ctx, j, h, a.place())
	if err != nil {
		return 0, err
	}
	if taken && !a.quiet {
		a.sayf("recorded for run %s, which is driven by %s", run, runs.OwnerText(h.Lease.Owner))
	} else {
		a.recorded(report, news)
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
	_, isFix, err := testfix.ParseSource(source)
	return isFix || err != nil || spec.IsSource(source)
}

// stuck explains why a run that has its signal cannot resume. Losing the race to
// another process is no error: that one has the signal.
func (a *app) stuck(ctx context.Context, j pawl.Journal, h pawl.Head, p *post, err error) (pawl.Head, error) {
	_, held := errors.AsType[*pawl.HeldError](err)
	now, looking := runs.Head(ctx, j, h.Run)
	if looking != nil {
		return h, errors.Join(err, looking)
	}
	if !p.goOn && (held || now.Status == pawl.StatusSuccess || now.Lease.Epoch > h.Lease.Epoch && runs.Owned(now.Lease)) {
		return now, nil
	}
	if held {
		return now, err
	}
	if changed, ok := errors.AsType[*changedError](err); ok {
		return now, misuse("recorded for run %s, but its agent has changed: %s; resume it with: %s",
			h.Run, strings.Join(changed.Parts, ", "), changed.command)
	}
	if errors.As(err, new(*orphanError)) && !p.goOn { // it needs an agent that the user names
		return now, nil
	}
	report, reading := runs.Report(ctx, j, now, a.place())
	if reading != nil {
		return now, errors.Join(err, reading)
	}
	a.sayf("pawl: recorded for run %s, which cannot resume because of the error below; once that is fixed, %s", h.Run, onward(report))
	return now, err
}

// ours reports whether an owner was this user in this directory.
func ours(owner string) bool {
	was, now := engine.ParseOwner(owner), engine.Self()
	return was.User == now.User && was.Dir == now.Dir && was.Host == now.Host
}

// waitsFor lists the requests of one kind that the run and its children wait for.
func (to addressee) waitsFor(kind string) []pawl.Pending { return runs.Waiting(to.pending, kind) }

// owner returns the run that a call belongs to: the addressee, or the child whose
// call with that id waits for that kind of signal.
func (to addressee) owner(kind, call string) (string, error) {
	switch list := runs.Meant(to.pending, to.run, kind, call); len(list) {
	case 0:
		return to.run, nil // the caller then reports what is wrong
	case 1:
		*to.news = true
		return list[0].Run, nil
	default:
		return "", listing(list, "several runs under %s have a waiting call %s; name one of them instead of %s:", to.run, call, to.run)
	}
}

// posted explains the error of a signal. A signal that the run does not wait for, and
// an answer that differs from the first, are bad usage.
func (to addressee) posted(kind, call string, err error) error {
	if err == nil {
		return nil
	}
	for _, p := range to.waitsFor(kind) {
		if p.Call == call {
			return err
		}
	}
	return refused(err)
}

// decided explains the error of a decision: if the run can be read, the decision is
// invalid.
func (to addressee) decided(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, broken := engine.Load(ctx, to.journal, to.run); broken != nil {
		return err
	}
	return refused(err)
}

// listing is a usage error that lists the candidates.
func listing(list []pawl.Pending, format string, args ...any) error {
	lines := make([]string, len(list))
	for i, p := range list {
		lines[i] = "\n  " + pendingText(p)
	}
	return misuse(format+"%s", append(args, strings.Join(lines, ""))...)
}
