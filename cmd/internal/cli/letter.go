package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/desk"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/spec"
)

// A post is what the commands have in common that say something to a run.
type post struct {
	driving
	goOn, stay bool
	by         string
}

func (p *post) flags(c *cobra.Command) {
	c.Flags().BoolVar(&p.goOn, "continue", false, "go on with the run at once, whoever parked it")
	c.Flags().BoolVar(&p.stay, "no-continue", false, "leave the run parked")
	c.MarkFlagsMutuallyExclusive("continue", "no-continue")
	c.Flags().StringVar(&p.by, "by", "", "who says so (default: the present user)")
	p.eventsFlag(c)
	p.approvalsFlag(c)
}

// An addressee is a run that is about to be told something.
type addressee struct {
	mailer

	journal pawl.Journal
	run     string
	state   *pawl.State
	by      string         // who tells it
	pending []pawl.Pending // what it waits for, and what its children wait for
	news    *bool          // it waits for what it is told; false: it knows that already
}

// mail says something to a run and goes on with it where that is due.
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

// after goes on with a run that has got a letter, if this user parked it in
// this directory and nobody drives it, or if that is asked for. A child goes on
// with the run it descends from. A run that was told no news waits for something
// else, which going on would ask for again, and make its tokens worthless.
func (a *app) after(ctx context.Context, j store, run string, p *post, news bool) (int, error) {
	h, err := desk.Head(ctx, j, run)
	if err != nil {
		return 0, err
	}
	if h, err = desk.Root(ctx, j, h); err != nil {
		return 0, err
	}
	run = h.Run
	taken := h.Lease.Owner != "" && desk.Owned(h.Lease)
	parked := h.Status.Waiting() && news || h.Status == pawl.Paused
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return 0, err
	}
	if p.goOn && (taken || s.Status() != pawl.Success) || !p.stay && !taken && parked && ours(s.Owner()) && ofPawl(s) {
		code, err := a.resume(ctx, j, h, &resuming{driving: p.driving})
		if err == nil {
			return code, nil
		}
		if h, err = a.stuck(ctx, j, h, p, err); err != nil {
			return 0, err
		}
		taken = desk.Owned(h.Lease)
	}
	report, err := desk.Report(ctx, j, h, a.place())
	if err != nil {
		return 0, err
	}
	if taken && !a.quiet {
		a.sayf("run %s has it; it is driven by %s", run, desk.OwnerText(h.Lease.Owner))
	} else {
		a.recorded(report, news)
	}
	if !a.json {
		return 0, nil
	}
	return 0, printJSON(a.out, report.Result)
}

// ofPawl reports whether a command can make the agent of a run: one that a program
// brought, only that program can.
func ofPawl(s *pawl.State) bool {
	source := s.Declaration().Source
	_, isFix, err := testfix.ParseSource(source)
	return isFix || err != nil || spec.IsSource(source)
}

// stuck makes sense of not being able to go on with a run that has its letter.
// That somebody was quicker is no error: the letter is with him.
func (a *app) stuck(ctx context.Context, j pawl.Journal, h pawl.Head, p *post, err error) (pawl.Head, error) {
	_, held := errors.AsType[*pawl.HeldError](err)
	now, looking := desk.Head(ctx, j, h.Run)
	if looking != nil {
		return h, errors.Join(err, looking)
	}
	if !p.goOn && (held || now.Status == pawl.Success || now.Lease.Epoch > h.Lease.Epoch && desk.Owned(now.Lease)) {
		return now, nil
	}
	if held {
		return now, err
	}
	if changed, ok := errors.AsType[*changedError](err); ok {
		return now, misuse("run %s has it, it is recorded; but it began with another agent: %s changed since; go on with: %s",
			h.Run, strings.Join(changed.Parts, ", "), changed.command)
	}
	if errors.As(err, new(*orphanError)) && !p.goOn { // it goes on with an agent that somebody names
		return now, nil
	}
	report, reading := desk.Report(ctx, j, now, a.place())
	if reading != nil {
		return now, errors.Join(err, reading)
	}
	a.sayf("pawl: run %s has it, it is recorded; what keeps it from going on is said below; once that is fixed, %s", h.Run, onward(report))
	return now, err
}

// ours reports whether an owner was this user in this directory.
func ours(owner string) bool {
	was, now := engine.ParseOwner(owner), engine.Self()
	return was.User == now.User && was.Dir == now.Dir && was.Host == now.Host
}

// waitsFor lists what the run and its children wait for of one kind.
func (to addressee) waitsFor(kind string) []pawl.Pending { return desk.Waiting(to.pending, kind) }

// owner is the run whose call is meant by its id: the addressee or the one of
// its children whose call of that id waits for that kind of letter.
func (to addressee) owner(kind, call string) (string, error) {
	switch list := desk.Meant(to.pending, to.run, kind, call); len(list) {
	case 0:
		return to.run, nil // which says what is wrong
	case 1:
		*to.news = true
		return list[0].Run, nil
	default:
		return "", listing(list, "several runs that descend from %s have a call %s that waits; name one of them instead of %s:", to.run, call, to.run)
	}
}

// posted makes sense of the error of a letter. What the run does not wait for
// is bad usage; so is another answer than the first.
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

// decided makes sense of the error of a decision: while the run can be read, it
// is the decision that is at fault.
func (to addressee) decided(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, broken := engine.Load(ctx, to.journal, to.run); broken != nil {
		return err
	}
	return refused(err)
}

// listing is a refusal that lists what there is to choose from.
func listing(list []pawl.Pending, format string, args ...any) error {
	lines := make([]string, len(list))
	for i, p := range list {
		lines[i] = "\n  " + pendingText(p)
	}
	return misuse(format+"%s", append(args, strings.Join(lines, ""))...)
}
