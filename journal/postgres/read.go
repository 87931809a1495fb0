package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// A portion bounds what is read before the caller sees it, in bytes or rows, so that a slow
// caller does not hold a connection.
const (
	portionBytes = 1 << 20
	portionRows  = 512
)

// Read yields a run's records from seq on; see [pawl.Journal].
func (j *Journal) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	return func(yield func(pawl.Row, error) bool) {
		from := max(from, 1)
		var ref int64
		var end uint64
		err := j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
			err := c.QueryRow(ctx, `SELECT ref, seq FROM runs WHERE id = $1`, []byte(run)).Scan(&ref, &end)
			if errors.Is(err, pgx.ErrNoRows) {
				return shared.Unknown(run), nil
			}
			return nil, err
		})
		if err != nil {
			yield(pawl.Row{}, err)
			return
		}
		for from <= end {
			rows, err := j.portion(ctx, ref, run, from, end)
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if err != nil {
				yield(pawl.Row{}, err)
				return
			}
			from = rows[len(rows)-1].Seq + 1
		}
	}
}

// portion reads some records from seq on, at least one of those up to end.
func (j *Journal) portion(ctx context.Context, ref int64, run string, from, end uint64) (out []pawl.Row, err error) {
	err = j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		out = nil
		// The server knows the lengths without reading the bytes, so it stops where the
		// portion is full; bytes that it has begun to send must be received.
		rows, err := c.Query(ctx, `SELECT seq, sizes, crc, data FROM
			(SELECT seq, sizes, crc, data, sum(octet_length(data)) OVER (ORDER BY seq) - octet_length(data) AS before FROM
				(SELECT seq, sizes, crc, data FROM batches WHERE run = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT $4) AS rows) AS summed
			WHERE before < $5 ORDER BY seq`, ref, from, end, portionRows, portionBytes)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		next := from
		for rows.Next() {
			var last uint64
			var crc uint32
			var sizes, data []byte
			if err := rows.Scan(&last, &sizes, &crc, &data); err != nil {
				return nil, err
			}
			if checksum([]byte(run), last, sizes, data) != crc {
				return damaged(run, "the records up to %d have changed since they were written", last), nil
			}
			records, err := shared.Split(data, sizes)
			if err != nil {
				return damaged(run, "the records up to %d: %w", last, err), nil
			}
			seq := last - uint64(len(records)) + 1
			if seq > next || seq < next && next != from {
				return damaged(run, "record %d is followed by %d", next-1, seq), nil
			}
			for _, data := range records {
				if seq >= from {
					out = append(out, pawl.Row{Seq: seq, Data: data})
				}
				seq++
			}
			next = seq
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		if len(out) > 0 {
			return nil, nil
		}
		rows.Close()
		var there bool
		if err := c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM runs WHERE ref = $1)`, ref).Scan(&there); err != nil {
			return nil, err
		}
		if !there { // the run was removed meanwhile
			return shared.Unknown(run), nil
		}
		return damaged(run, "it ends at %d, but should at %d", from-1, end), nil
	})
	if errors.As(err, new(*damage)) {
		err = j.err(err)
	}
	return out, err
}

// collect reads the rows of a query.
func collect[T any](ctx context.Context, c *pgx.Conn, of func(pgx.Row) (T, error), sql string, args ...any) ([]T, error) {
	rows, err := c.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (T, error) { return of(r) })
}

// listed yields what a query finds, once all is read. what names that in errors.
func listed[T any](ctx context.Context, j *Journal, what string, of func(pgx.Row) (T, error), sql string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var all []T
		err := j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
			all, broken = collect(ctx, c, of, sql)
			return nil, broken
		})
		if err != nil {
			var none T
			yield(none, fmt.Errorf("list %s: %w", what, err))
			return
		}
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// A damage is an error about a log that appending cannot have produced.
type damage struct{ err error }

func (e *damage) Error() string { return e.err.Error() }
func (e *damage) Unwrap() error { return e.err }

func damaged(run, format string, args ...any) error {
	return &damage{fmt.Errorf("run %s: the log is damaged: "+format, append([]any{run}, args...)...)}
}
