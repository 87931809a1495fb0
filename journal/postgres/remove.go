package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl/journal/internal/shared"
)

// Remove deletes a run with its signals; see [pawl.Remover]. The server reuses the space itself. A
// repeated call, after a lost answer, succeeds.
func (j *Journal) Remove(ctx context.Context, run string, epoch uint64) error {
	return j.write(ctx, func(ctx context.Context, c *pgx.Conn, again bool) (refusal, broken error) {
		for {
			var ref int64
			var held uint64
			err := c.QueryRow(ctx, `SELECT ref, epoch FROM runs WHERE id = $1`, []byte(run)).Scan(&ref, &held)
			switch {
			case errors.Is(err, pgx.ErrNoRows) && again:
				return nil, nil // only this call can have removed it
			case errors.Is(err, pgx.ErrNoRows):
				return shared.Unknown(run), nil
			case err != nil:
				return nil, err
			case held != epoch:
				return shared.Fenced(run, epoch, held), nil
			}
			// One transaction. Who holds the row of the mailbox is the only sender. The run goes
			// next, which waits for concurrent appends, so that the following statements see what
			// was added.
			removed := false
			err = pgx.BeginFunc(ctx, c, func(pgx.Tx) error {
				if _, err := c.Exec(ctx, `SELECT FROM mailbox FOR UPDATE`); err != nil {
					return err
				}
				done, err := c.Exec(ctx, `DELETE FROM runs WHERE ref = $1 AND epoch = $2`, ref, epoch)
				if removed = done.RowsAffected() == 1; err != nil || !removed {
					return err
				}
				for _, sql := range []string{
					`DELETE FROM signals WHERE run = $1`, `DELETE FROM batches WHERE run = $1`, `DELETE FROM texts WHERE run = $1`, settleRemoved,
				} {
					if _, err := c.Exec(ctx, sql, ref); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil || removed {
				return nil, err
			}
		}
	})
}

// RemoveBlobs deletes blobs; see [pawl.Remover].
func (j *Journal) RemoveBlobs(ctx context.Context, before time.Time, keep func(digest string) bool) (int, error) {
	cutoff, err := j.serverTime(ctx, before)
	if err != nil {
		return 0, err
	}
	n := 0
	for from := []byte{}; ; {
		old, err := j.oldBlobs(ctx, from, cutoff)
		if err != nil || len(old) == 0 {
			return n, err
		}
		from = old[len(old)-1]
		var gone [][]byte
		for _, digest := range old {
			if !keep(hex.EncodeToString(digest)) {
				gone = append(gone, digest)
			}
		}
		if len(gone) == 0 {
			continue
		}
		err = j.write(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
			done, err := c.Exec(ctx, `DELETE FROM blobs WHERE digest = ANY($1) AND stored < $2`, gone, cutoff)
			n += int(done.RowsAffected())
			return nil, err
		})
		if err != nil {
			return n, err
		}
	}
}

// serverTime converts a time of this machine to the server's clock, or slightly earlier.
func (j *Journal) serverTime(ctx context.Context, t time.Time) (out time.Time, err error) {
	err = j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		var now time.Time
		err := c.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&now)
		out = now.Add(-time.Since(t))
		return nil, err
	})
	return out, err
}

// oldBlobs lists some digests after from, in order.
func (j *Journal) oldBlobs(ctx context.Context, from []byte, cutoff time.Time) (out [][]byte, err error) {
	err = j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		out, broken = collect(ctx, c, func(r pgx.Row) (digest []byte, err error) {
			err = r.Scan(&digest)
			return digest, err
		}, `SELECT digest FROM blobs WHERE digest > $1 AND stored < $2 ORDER BY digest LIMIT $3`, from, cutoff, portionRows)
		return nil, broken
	})
	return out, err
}
