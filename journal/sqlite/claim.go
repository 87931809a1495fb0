package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// Claim acquires, renews or releases a lease; see [pawl.Claim].
func (j *Journal) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	switch {
	case c.Run == "":
		return pawl.Lease{}, errors.New("a claim needs the id of a run")
	case c.Epoch == 0 && c.TTL <= 0:
		return pawl.Lease{}, fmt.Errorf("run %s: a lease needs a time to live above zero", c.Run)
	}
	var l pawl.Lease
	err := j.write(ctx, func(w *writer) (refusal, broken error) {
		l, refusal, broken = w.claim(c)
		return refusal, broken
	})
	if err != nil {
		return pawl.Lease{}, err
	}
	return l, nil
}

func (w *writer) claim(c pawl.Claim) (l pawl.Lease, refusal, broken error) {
	var ref int64
	found, err := w.first(`SELECT ref, owner, epoch, until FROM runs WHERE id = ?`, func(s *sqlite3.Stmt) {
		ref = s.ColumnInt64(0)
		l = pawl.Lease{Run: c.Run, Owner: s.ColumnText(1), Epoch: uint64(s.ColumnInt64(2)), Until: instant(s, 3)}
	}, c.Run)
	if err != nil {
		return l, nil, err
	}
	// Read the clock under the lock, so that waiting for it does not shorten the lease.
	now := time.Now().UTC().Round(0)
	create := c.Epoch == 0 && c.New
	switch {
	case create && found:
		return l, fmt.Errorf("run %s: %w", c.Run, pawl.ErrRunExists), nil
	case create:
		l = pawl.Lease{Run: c.Run, Owner: c.Owner, Epoch: 1, Until: now.Add(c.TTL)}
		return l, nil, w.exec(`INSERT INTO runs (ref, id, owner, epoch, until) VALUES
			((SELECT max(run, coalesce((SELECT max(ref) FROM runs), 0)) + 1 FROM removed), ?, ?, ?, ?)`, l.Run, l.Owner, l.Epoch, l.Until)
	case !found:
		return l, shared.Unknown(c.Run), nil
	case c.Epoch == 0 && l.Until.After(now) && c.Over != l.Epoch:
		return l, &pawl.HeldError{Lease: l}, nil
	case c.Epoch == 0:
		l.Owner, l.Epoch, l.Until = c.Owner, l.Epoch+1, now.Add(c.TTL)
	case c.Epoch != l.Epoch:
		return l, shared.Fenced(c.Run, c.Epoch, l.Epoch), nil
	case c.TTL > 0:
		l.Until = now.Add(c.TTL)
	default:
		l.Owner, l.Until = "", time.Time{}
	}
	return l, nil, w.setLease(ref, l)
}

func (w *writer) setLease(ref int64, l pawl.Lease) error {
	return w.exec(`UPDATE runs SET owner = ?2, epoch = ?3, until = ?4 WHERE ref = ?1`, ref, l.Owner, l.Epoch, l.Until)
}
