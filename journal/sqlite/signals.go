package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// Send makes a signal durable; see [pawl.Inbox].
func (j *Journal) Send(ctx context.Context, l pawl.Signal) (pawl.Signal, error) {
	kind, err := shared.CheckSignal(&l)
	if err != nil {
		return pawl.Signal{}, err
	}
	var out pawl.Signal
	err = j.write(ctx, func(w *writer) (refusal, broken error) {
		out, refusal, broken = w.send(l, kind)
		return refusal, broken
	})
	if err != nil {
		return pawl.Signal{}, err
	}
	return out, nil
}

func (w *writer) send(l pawl.Signal, kind string) (out pawl.Signal, refusal, broken error) {
	run, err := w.find(l.Run)
	switch {
	case err != nil:
		return out, nil, err
	case run == nil:
		return out, shared.Unknown(l.Run), nil
	}
	out = l
	found, err := w.first(`SELECT id, sender, body, time FROM signals WHERE run = ? AND kind = ? AND request = ?`, func(s *sqlite3.Stmt) {
		out.ID, out.By, out.Body, out.Time = s.ColumnInt64(0), s.ColumnText(1), s.ColumnBlob(2, nil), instant(s, 3)
	}, run.ref, kind, l.Request)
	switch {
	case err != nil:
		return out, nil, err
	case found:
		if out.Body, err = w.box.Open(out.Body, l.Run, kind, l.Request); err != nil {
			return out, nil, fmt.Errorf("run %s, a signal: %w", l.Run, err)
		}
	}
	switch {
	case found && !bytes.Equal(out.Body, l.Body):
		return out, &pawl.SignalConflictError{First: out}, nil
	case found:
		return out, nil, nil
	}
	body, err := w.box.Seal(l.Body, l.Run, kind, l.Request)
	if err != nil {
		return out, nil, err
	}
	err = w.exec(`INSERT INTO signals (id, run, kind, request, sender, body, time) VALUES
		((SELECT max(signal, coalesce((SELECT max(id) FROM signals), 0)) + 1 FROM removed), ?, ?, ?, ?, ?, ?)`,
		run.ref, kind, l.Request, l.By, body, l.Time)
	out.ID, out.Body = w.LastInsertRowID(), bytes.Clone(l.Body)
	return out, nil, err
}

// Signals yields signals in order of ID; see [pawl.Inbox].
func (j *Journal) Signals(ctx context.Context, run string, after int64) iter.Seq2[pawl.Signal, error] {
	return shared.Signals(after, func(after int64) ([]pawl.Signal, error) {
		out, err := j.signals(ctx, run, after)
		return out, j.err(err)
	})
}

func (j *Journal) signals(ctx context.Context, run string, after int64) ([]pawl.Signal, error) {
	sql := `SELECT l.id, r.id, kind, request, sender, body, time FROM signals l JOIN runs r ON r.ref = l.run WHERE l.id > ?`
	args := []any{after}
	if run != "" {
		sql += ` AND r.id = ?`
		args = append(args, run)
	}
	var out []pawl.Signal
	size := 0
	err := j.pool.read(ctx, func(r *reader) error {
		return r.query(sql+` ORDER BY l.id`, func(s *sqlite3.Stmt) (bool, error) {
			l := pawl.Signal{
				ID: s.ColumnInt64(0), Run: s.ColumnText(1), Request: s.ColumnText(3),
				By: s.ColumnText(4), Body: s.ColumnBlob(5, nil), Time: instant(s, 6),
			}
			if err := l.Kind.UnmarshalText(s.ColumnRawText(2)); err != nil {
				return false, fmt.Errorf("signal %d: %w", l.ID, err)
			}
			body, err := j.box.Open(l.Body, l.Run, s.ColumnText(2), l.Request)
			if err != nil {
				return false, fmt.Errorf("run %s, signal %d: %w", l.Run, l.ID, err)
			}
			l.Body = body
			out = append(out, l)
			size += len(l.Body)
			return len(out) < portionRows && size < portionBytes, nil
		}, args...)
	})
	return out, err
}
