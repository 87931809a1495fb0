package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"
)

// later is when to retry a hook that fails for a reason that time does not fix, such as a
// missing secret.
const later = 10 * time.Minute

// deliverTo delivers notices of a run to one hook, in order, until one has to wait. It
// returns until when, and how many are left.
func (o *Outbox) deliverTo(ctx context.Context, run string, h *Hook, list []due) (next time.Time, left int, err error) {
	name := h.name()
	list = slices.DeleteFunc(slices.Clone(list), func(d due) bool { return !h.wants(d.event) })
	for {
		if err := ctx.Err(); err != nil {
			return o.now(), len(list), err
		}
		books, err := o.readDeliveries(ctx, run, name)
		if err != nil {
			return o.now(), len(list), err
		}
		list = slices.DeleteFunc(list, func(d due) bool {
			t := books.tries[d.seq]
			return books.gone || d.seq <= books.after || t != nil && t.ended
		})
		if len(list) == 0 {
			return time.Time{}, 0, nil
		}
		log := o.opt.Log.With("run", run, "seq", list[0].seq, "event", list[0].event.String(), "host", h.host())
		key, err := []byte(nil), CheckURL(h.URL)
		if err == nil {
			key, err = keyOf(h.Secret)
			if h.Secret == "" && h.SecretName != "" {
				err = fmt.Errorf("%s, which has its secret, is not set here", h.SecretName)
			}
		}
		if err != nil {
			log.Warn("webhook cannot be called", "why", err.Error())
			return o.now().Add(later), len(list), nil
		}
		at, err := o.try(ctx, run, h, key, list[0], books.tries[list[0].seq], log)
		if err != nil || !at.IsZero() {
			return at, len(list), err
		}
	}
}

// try makes the next try of a notice if it is due and this process has claimed it. It returns when
// to call it again; zero: at once, since the notice's state has changed.
func (o *Outbox) try(ctx context.Context, run string, h *Hook, key []byte, d due, t *tries, log *slog.Logger) (time.Time, error) {
	now := o.now()
	if t == nil {
		t = &tries{first: now}
	}
	ours := t.last.By == o.owner && now.Before(t.last.Until)
	switch {
	case ours && now.Before(t.last.At):
		return t.last.At, nil
	case !ours && now.Before(t.last.Until): // another process has claimed it, and may be alive
		return t.last.Until, nil
	case !ours:
		if got, err := o.claim(ctx, run, h.name(), d.seq, t.n+1, now, t.last.Last); err != nil || !got {
			return time.Time{}, err // look again
		}
		t.n++
	}
	body, id, err := o.notice(ctx, run, d)
	if err != nil {
		return now, err
	}
	r := o.send(ctx, h, key, id, body)
	if ctx.Err() != nil && r.code == 0 { // interrupted: the outcome is unknown, so the try does not count
		return now, context.Cause(ctx)
	}
	// Record the result even after the deadline.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	done := ending{Status: r.text, Tries: t.n}
	switch {
	case r.code/100 == 2:
		done.Outcome = delivered
		log.Info("webhook delivered", "status", r.code, "tries", t.n)
	case r.code == http.StatusGone:
		done.Outcome = gone
		log.Warn("webhook is gone; it gets no more notices about this run", "status", r.code)
	case o.now().Sub(t.first) >= o.opt.Patience:
		done.Outcome = givenUp
		log.Error("webhook given up", "why", r.text, "tries", t.n)
	default:
		at := o.now().Add(o.wait(t.n, r.after))
		log.Warn("webhook not delivered", "why", r.text, "tries", t.n, "again", at)
		got, err := o.claim(ctx, run, h.name(), d.seq, t.n+1, at, r.text)
		if err != nil || !got {
			return time.Time{}, err
		}
		return at, nil
	}
	return time.Time{}, o.end(ctx, run, h.name(), d.seq, done)
}
