package runs

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/journal/seal"
)

// Head looks a run up by its whole id; [pawl.ErrUnknownRun] if there is none. A run that was
// claimed and has not begun has no Seq.
func Head(ctx context.Context, j pawl.Journal, run string) (pawl.Head, error) {
	for h, err := range j.List(ctx, pawl.Query{Run: run}) {
		if err != nil {
			return pawl.Head{}, err
		}
		if h.Run == run {
			return h, nil
		}
	}
	return pawl.Head{}, pawl.ErrUnknownRun
}

// Owned reports whether a process drives the run now. A lease whose owner is known to be gone
// does not count.
func Owned(l pawl.Lease) bool {
	return l.Until.After(time.Now()) && !engine.ParseOwner(l.Owner).Gone()
}

// EffectiveStatus returns the status of a run as a caller sees it: interrupted if its owner is
// gone, and expired if its request has expired. The log alone cannot tell either. A log that is
// sealed with a key that is not given does not tell that a request has expired.
func EffectiveStatus(ctx context.Context, j pawl.Journal, h pawl.Head) (pawl.Status, error) {
	switch {
	case h.Status == pawl.StatusRunning && !Owned(h.Lease):
		return pawl.StatusInterrupted, nil
	case h.Status.Waiting():
		pending, err := pendingOf(ctx, j, h.Run)
		switch {
		case errors.As(err, new(*seal.KeyError)): // a list needs no key
		case err != nil:
			return 0, err
		case explain.Expired(pending, time.Now()):
			return pawl.StatusExpired, nil
		}
	}
	return h.Status, nil
}

// Report explains a run as it is now; the report includes the run's result. What looks like a
// secret is removed. Its advice is commands to type at place.
func Report(ctx context.Context, j pawl.Journal, h pawl.Head, place explain.Place) (explain.Report, error) {
	for {
		r, err := report(ctx, j, h, place)
		if err != nil || !h.Status.Waiting() && !r.Status.Waiting() && h.Status.Ended() == r.Status.Ended() {
			return r, err
		}
		// Head, log and inbox are read one after the other. If the run went on in
		// between, an answer to what it waits for may be in none of them, and the run
		// that it handed over to was not looked for.
		now, err := Head(ctx, j, h.Run)
		if err != nil || now.Seq == h.Seq {
			return r, err
		}
		h = now
	}
}

func report(ctx context.Context, j pawl.Journal, h pawl.Head, place explain.Place) (explain.Report, error) {
	o := &explain.Options{Now: time.Now(), Place: place}
	if h.Status == pawl.StatusRunning && !Owned(h.Lease) {
		o.Status = pawl.StatusInterrupted
	}
	if IsChild(h) {
		root, err := Root(ctx, j, h)
		if err != nil {
			return explain.Report{}, err
		}
		o.Root, o.Orphan = root.Run, IsChild(root)
	}
	next, err := continued(ctx, j, h)
	if err != nil {
		return explain.Report{}, err
	}
	o.Continued = next
	if h.Status.Waiting() || h.Status == pawl.StatusPaused {
		if o.Waits, err = pendingOf(ctx, j, h.Run); err != nil {
			return explain.Report{}, err
		}
	}
	r, err := explain.Of(Entries(ctx, j, h.Run), o)
	for _, p := range Redacted(o.Waits) {
		if p.Run != h.Run {
			r.Pending = append(r.Pending, p)
		}
	}
	if err == nil {
		r.Conversation, err = conversation(ctx, j, h, &r)
	}
	return r, err
}

// A waiter is a journal at a distance that says itself what a run waits for.
type waiter interface {
	Waits(ctx context.Context, run string) ([]pawl.Pending, error)
}

// pendingOf is what waits says of a run that is not loaded.
func pendingOf(ctx context.Context, j pawl.Journal, run string) ([]pawl.Pending, error) {
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return nil, err
	}
	return waits(ctx, j, s)
}

// waits is what a run and its children wait for, and what of it has been answered.
func waits(ctx context.Context, j pawl.Journal, s *pawl.State) ([]pawl.Pending, error) {
	if far, ok := j.(waiter); ok {
		return far.Waits(ctx, s.Run())
	}
	list, err := engine.Pending(ctx, j, s)
	if err == nil {
		err = engine.MarkAnswered(ctx, j, s, list)
	}
	for i := range list {
		list[i].AnsweredBy = redact.Text(list[i].AnsweredBy)
	}
	return list, err
}

// Redacted returns what runs wait for as it may be shown.
func Redacted(pending []pawl.Pending) []pawl.Pending {
	shown := slices.Clone(pending)
	for i, p := range shown {
		shown[i].Args, shown[i].Reason, shown[i].Token = redact.JSON(p.Args), redact.Text(p.Reason), ""
	}
	return shown
}

// LastReport returns the Report of a run as of its last end or pause. A caller that waited for
// that gets it even if the run has been resumed since.
func LastReport(ctx context.Context, j pawl.Journal, run string, place explain.Place) (explain.Report, error) {
	var rest uint64
	for e, err := range engine.Entries(ctx, j, run, 1) {
		if err != nil {
			return explain.Report{}, err
		}
		switch e.Event.(type) {
		case pawl.RunPaused, pawl.RunStopped:
			rest = e.Seq
		}
	}
	upTo := func(yield func(pawl.Entry, error) bool) {
		for e, err := range Entries(ctx, j, run) {
			if !yield(e, err) || e.Seq == rest {
				return
			}
		}
	}
	return explain.Of(upTo, &explain.Options{Place: place})
}

// continued is the run that goes on with the conversation of one that ended, after handoffs
// the one that has it now; empty: none does.
func continued(ctx context.Context, j pawl.Journal, h pawl.Head) (string, error) {
	if !h.Status.Ended() || h.Thread == "" && h.Status != pawl.StatusSuccess {
		return "", nil
	}
	next, err := Head(ctx, j, engine.NextLeg(h.Thread, h.Run))
	if errors.Is(err, pawl.ErrUnknownRun) || err == nil && next.Seq == 0 {
		return "", nil
	}
	if err == nil && h.Status == pawl.StatusSuccess {
		var from *pawl.Continues
		if from, err = Handed(ctx, j, next.Run); err == nil && from != nil {
			next, err = Leg(ctx, j, next)
		}
	}
	return next.Run, err
}

// OwnerText describes the owner of a lease to a person.
func OwnerText(owner string) string { return display.Holder(owner) }

// shown is a journal as it may be shown: it has what was said and done, and who
// reads about it need not have the keys.
type shown struct{ pawl.Journal }

// Read yields rows without what looks like a secret.
func (j shown) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	return func(yield func(pawl.Row, error) bool) {
		for row, err := range j.Journal.Read(ctx, run, from) {
			row.Data = redact.JSON(row.Data)
			if !yield(row, err) {
				return
			}
		}
	}
}

// Entries yields a run's entries as they may be shown: without what looks like a secret.
func Entries(ctx context.Context, j pawl.Journal, run string) iter.Seq2[pawl.Entry, error] {
	return engine.Entries(ctx, shown{j}, run, 1)
}
