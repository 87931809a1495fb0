package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// Send makes a signal durable; see [pawl.Inbox]. Signals are sent one after the other, so
// that no reader sees one before all with a lower ID: an ID from a sequence is assigned on
// request but visible when its transaction ends, which may be in another order.
func (j *Journal) Send(ctx context.Context, l pawl.Signal) (pawl.Signal, error) {
	kind, err := shared.CheckSignal(&l)
	if err != nil {
		return pawl.Signal{}, err
	}
	p := &sending{box: j.box, signal: l, kind: kind, channel: j.signals.channel}
	if p.body, err = p.box.Seal(l.Body, l.Run, kind, l.Request); err != nil {
		return pawl.Signal{}, j.err(err)
	}
	if err := j.write(ctx, p.send); err != nil {
		return pawl.Signal{}, err
	}
	return p.out, nil
}

type sending struct {
	box     shared.Box
	body    []byte // as it is stored
	signal  pawl.Signal
	kind    string
	channel string
	out     pawl.Signal
}

// send finds the signal or inserts it. It may safely run twice.
func (p *sending) send(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
	l := p.signal
	for {
		if found, refusal, err := p.look(ctx, c); found || refusal != nil || err != nil {
			return refusal, err
		}
		// The signal and its notification are one commit. No row is returned if another
		// process has inserted the signal, or removed the run, meanwhile. The row of the mailbox
		// comes first, as in Remove: a lock for a key alone does not keep the run, since an append
		// that moves its row to another page forgets that lock (seen with PostgreSQL 15).
		var id int64
		err := c.QueryRow(ctx, `WITH next AS (UPDATE mailbox SET last = last + 1 RETURNING last),
				run AS (SELECT last, ref FROM next, runs WHERE id = $1 FOR KEY SHARE OF runs)
			INSERT INTO signals (id, run, kind, request, sender, body, time)
			SELECT last, ref, $2, $3, $4, $5, $6 FROM run
			ON CONFLICT (run, kind, sha256(request)) DO NOTHING RETURNING id, pg_notify($7, $8)::text`,
			[]byte(l.Run), p.kind, []byte(l.Request), []byte(l.By), p.body, instant(l.Time), p.channel, payload(l.Run)).Scan(&id, nil)
		if err == nil {
			p.out = l
			p.out.ID, p.out.Body = id, bytes.Clone(l.Body)
			p.out.Time = moment(instant(l.Time))
			return nil, nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return nil, err
		}
	}
}

// look finds the existing signal and compares it.
func (p *sending) look(ctx context.Context, c *pgx.Conn) (found bool, refusal, broken error) {
	var id *int64
	var by, body []byte
	var at *time.Time
	err := c.QueryRow(ctx, `SELECT l.id, l.sender, l.body, l.time FROM runs r
		LEFT JOIN signals l ON l.run = r.ref AND l.kind = $2 AND sha256(l.request) = sha256($3) WHERE r.id = $1`,
		[]byte(p.signal.Run), p.kind, []byte(p.signal.Request)).Scan(&id, &by, &body, &at)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, shared.Unknown(p.signal.Run), nil
	case err != nil || id == nil:
		return false, nil, err
	}
	if body, err = p.box.Open(body, p.signal.Run, p.kind, p.signal.Request); err != nil {
		return true, fmt.Errorf("run %s, a signal: %w", p.signal.Run, err), nil
	}
	p.out = p.signal
	p.out.ID, p.out.By, p.out.Body, p.out.Time = *id, string(by), body, moment(at)
	if !bytes.Equal(body, p.signal.Body) {
		return true, &pawl.SignalConflictError{First: p.out}, nil
	}
	return true, nil, nil
}

// Signals yields signals in order of ID; see [pawl.Inbox].
func (j *Journal) Signals(ctx context.Context, run string, after int64) iter.Seq2[pawl.Signal, error] {
	return shared.Signals(after, func(after int64) ([]pawl.Signal, error) { return j.some(ctx, run, after) })
}

// some reads signals with an ID above after; none if there are none.
func (j *Journal) some(ctx context.Context, run string, after int64) (out []pawl.Signal, err error) {
	where, args := ``, []any{after, portionRows, portionBytes}
	if run != "" {
		where, args = ` AND run = (SELECT ref FROM runs WHERE id = $4)`, append(args, []byte(run))
	}
	err = j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		out, broken = collect(ctx, c, func(r pgx.Row) (l pawl.Signal, err error) {
			var run, request, by, body []byte
			var kind string
			var at *time.Time
			if err := r.Scan(&l.ID, &run, &kind, &request, &by, &body, &at); err != nil {
				return l, err
			}
			if err := l.Kind.UnmarshalText([]byte(kind)); err != nil {
				return l, fmt.Errorf("signal %d: %w", l.ID, err)
			}
			l.Run, l.Request, l.By, l.Time = string(run), string(request), string(by), moment(at)
			body, err = j.box.Open(body, l.Run, kind, l.Request)
			if l.Body = body; err != nil {
				err = fmt.Errorf("run %s, signal %d: %w", l.Run, l.ID, err)
			}
			return l, err
		}, `SELECT l.id, r.id, kind, request, sender, body, time FROM
			(SELECT id, run, kind, request, sender, body, time, sum(size) OVER (ORDER BY id) - size AS before FROM
				(SELECT id, run, kind, request, sender, body, time, coalesce(octet_length(body), 0) AS size
				FROM signals WHERE id > $1`+where+` ORDER BY id LIMIT $2) AS rows) AS l
			JOIN runs r ON r.ref = l.run WHERE before < $3 ORDER BY l.id`, args...)
		return nil, broken
	})
	return out, err
}
