package sqlite

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// Remove deletes a run with its signals; see [pawl.Remover]. New data reuses its space;
// [Journal.Compact] returns it to the file system.
func (j *Journal) Remove(ctx context.Context, run string, epoch uint64) error {
	return j.write(ctx, func(w *writer) (refusal, broken error) { return w.remove(run, epoch) })
}

func (w *writer) remove(run string, epoch uint64) (refusal, broken error) {
	k, err := w.find(run)
	switch {
	case err != nil:
		return nil, err
	case k == nil:
		return shared.Unknown(run), nil
	case k.epoch != epoch:
		return shared.Fenced(run, epoch, k.epoch), nil
	}
	if err := w.setLabels(k, ""); err != nil {
		return nil, err
	}
	if _, err := w.spend(k.ref, budget.Change{Settle: budget.SettleReserved}); err != nil {
		return nil, err
	}
	for _, sql := range []string{
		`UPDATE removed SET run = max(run, ?1), signal = max(signal, coalesce((SELECT max(id) FROM signals WHERE run = ?1), 0))`,
		`DELETE FROM signals WHERE run = ?1`,
		`DELETE FROM batches WHERE id > ?1 << 32 AND id <= (?1 << 32) + 4294967295`,
		`DELETE FROM texts WHERE rowid = ?1`,
		`DELETE FROM runs WHERE ref = ?1`,
	} {
		if err := w.exec(sql, k.ref); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// RemoveBlobs deletes blobs; see [pawl.Remover].
func (j *Journal) RemoveBlobs(ctx context.Context, before time.Time, keep func(digest string) bool) (int, error) {
	const old = `FROM blobs JOIN stored ON blob = ref WHERE time < ?`
	refs := make(map[string]int64)
	err := j.pool.read(ctx, func(r *reader) error {
		return r.query(`SELECT ref, digest `+old, func(s *sqlite3.Stmt) (bool, error) {
			refs[hex.EncodeToString(s.ColumnRawBlob(1))] = s.ColumnInt64(0)
			return true, nil
		}, before)
	})
	if err != nil {
		return 0, j.err(err)
	}
	var gone []int64
	for digest, ref := range refs {
		if !keep(digest) {
			gone = append(gone, ref)
		}
	}
	slices.Sort(gone)
	n := 0
	for _, ref := range gone { // one transaction each, so that other writers do not wait for all
		err := j.write(ctx, func(w *writer) (refusal, broken error) {
			err := w.exec(`DELETE FROM blobs WHERE ref IN (SELECT ref `+old+` AND ref = ?)`, before, ref)
			if err == nil && w.Changes() > 0 {
				n++
				err = w.exec(`DELETE FROM stored WHERE blob = ?`, ref)
			}
			return nil, err
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Compact returns the space of removed runs to the file system, and returns the size of the file
// before and after. If there is any, it rewrites the whole database, and concurrent appends wait:
// call it while nothing is running.
func (j *Journal) Compact(ctx context.Context) (was, is int64, err error) {
	if j.writer == nil {
		return 0, 0, j.err(ErrReadOnly)
	}
	c, err := connect(ctx, j.path, j.pool.o, view{})
	if err != nil {
		return 0, 0, j.err(err)
	}
	err = func() error {
		if _, err := c.number(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
			return err
		}
		if was, err = size(j.path); err != nil {
			return err
		}
		free, err := c.number(`PRAGMA freelist_count`)
		if is = was; err != nil || free == 0 {
			return err
		}
		if err := c.Exec(`VACUUM`); err != nil {
			return err
		}
		if _, err := c.number(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
			return err
		}
		is, err = size(j.path)
		return err
	}()
	return was, is, j.err(errors.Join(err, c.close()))
}

// size returns the size of the database and its log.
func size(path string) (int64, error) {
	file, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	n := file.Size()
	if log, err := os.Stat(path + "-wal"); err == nil {
		n += log.Size()
	}
	return n, nil
}
