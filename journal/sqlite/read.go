package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// A portion bounds what is read before the caller sees it, in bytes or rows. A connection,
// and with it a snapshot, that is held while the caller is busy would keep the write-ahead
// log from being emptied. The first portion is small, since the caller waits for it; each
// later one has twice the rows of the one before.
const (
	portionBytes = 256 << 10
	portionRows  = 512
	firstRows    = 64
)

// Read yields a run's records from seq on; see [pawl.Journal]. While the caller uses a
// portion, the next one is read: folding a log takes about as long as reading it.
func (j *Journal) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	return func(yield func(pawl.Row, error) bool) {
		ref, err := j.ref(ctx, run)
		if err != nil {
			yield(pawl.Row{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		var ahead chan portion
		defer func() {
			cancel()
			if ahead != nil { // all reading has ended when the loop is left
				<-ahead
			}
		}()
		rows := firstRows
		for p := j.portion(ctx, ref, run, max(from, 1), rows); ; {
			if !p.last {
				ahead = make(chan portion, 1)
				rows = min(2*rows, portionRows)
				go func(from uint64, rows int) { ahead <- j.portion(ctx, ref, run, from, rows) }(p.next, rows)
			}
			for _, row := range p.rows {
				if !yield(row, nil) {
					return
				}
			}
			if p.err != nil {
				yield(pawl.Row{}, j.err(p.err))
				return
			}
			if p.last {
				// A log that was removed meanwhile has not ended here.
				if now, err := j.ref(ctx, run); err != nil || now != ref {
					yield(pawl.Row{}, cmp.Or(err, shared.Unknown(run)))
				}
				return
			}
			p = <-ahead
			ahead = nil
		}
	}
}

// ref returns the row id of a run.
func (j *Journal) ref(ctx context.Context, run string) (ref int64, err error) {
	err = j.pool.read(ctx, func(r *reader) error {
		_, err := r.first(`SELECT ref FROM runs WHERE id = ?`, func(s *sqlite3.Stmt) { ref = s.ColumnInt64(0) }, run)
		return err
	})
	if err == nil && ref == 0 {
		return 0, shared.Unknown(run)
	}
	return ref, j.err(err)
}

// listed yields what a query finds, once all is read.
func listed[T any](ctx context.Context, j *Journal, of func(*sqlite3.Stmt) (T, error), sql string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var all []T
		err := j.pool.read(ctx, func(r *reader) error {
			return r.query(sql, func(s *sqlite3.Stmt) (bool, error) {
				one, err := of(s)
				all = append(all, one)
				return err == nil, err
			}, args...)
		})
		if err != nil {
			var none T
			yield(none, j.err(err))
			return
		}
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// A portion is a sequence of records.
type portion struct {
	rows []pawl.Row
	next uint64 // where the next portion begins
	last bool   // there is no next portion
	err  error  // why it is not longer
}

// portion reads some records from seq on, at most those of a number of rows.
func (j *Journal) portion(ctx context.Context, ref int64, run string, from uint64, rows int) portion {
	if from > math.MaxUint32 {
		return portion{last: true}
	}
	out, size, last := shared.NewPortion(run, from, nil), 0, true
	err := j.pool.read(ctx, func(r *reader) error {
		begin := ref<<32 | int64(from)
		if _, err := r.first(`SELECT substr(digests, -32) FROM batches WHERE id < ? AND id > ? ORDER BY id DESC LIMIT 1`,
			func(s *sqlite3.Stmt) { out = shared.NewPortion(run, from, s.ColumnRawBlob(0)) }, begin, ref<<32); err != nil {
			return err
		}
		if rows > firstRows { // the log has more than half of that, so allocate the whole
			out.Rows = make([]pawl.Row, 0, rows+8)
		}
		return r.query(`SELECT id, sizes, digests, data FROM batches WHERE id >= ? AND id <= ? ORDER BY id`,
			func(s *sqlite3.Stmt) (bool, error) {
				end := s.ColumnInt64(0) & math.MaxUint32
				data, err := j.box.Open(s.ColumnBlob(3, nil), shared.About(run, end)...)
				if err != nil {
					return false, fmt.Errorf("run %s, entry %d: %w", run, end, err)
				}
				if err := out.Add(uint64(end), s.ColumnRawBlob(1), s.ColumnRawBlob(2), data); err != nil {
					return false, fmt.Errorf("%w; %s", err, restore)
				}
				size += len(data)
				last = size < portionBytes && len(out.Rows) < rows
				return last, nil
			}, begin, ref<<32|math.MaxUint32)
	})
	if errors.Is(err, sqlite3.CORRUPT) {
		err = fmt.Errorf("run %s, after record %d: %w", run, out.Next-1, err)
	}
	return portion{out.Rows, out.Next, last || err != nil, err}
}
