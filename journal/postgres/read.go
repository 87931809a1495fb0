package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
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
		ref, end, err := j.ref(ctx, run)
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

// ref returns the row id of a run, and its last record.
func (j *Journal) ref(ctx context.Context, run string) (ref int64, end uint64, err error) {
	err = j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		err := c.QueryRow(ctx, `SELECT ref, seq FROM runs WHERE id = $1`, []byte(run)).Scan(&ref, &end)
		if errors.Is(err, pgx.ErrNoRows) {
			return shared.Unknown(run), nil
		}
		return nil, err
	})
	return ref, end, err
}

// portion reads some records from seq on, at least one of those up to end.
func (j *Journal) portion(ctx context.Context, ref int64, run string, from, end uint64) (out []pawl.Row, err error) {
	err = j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		out = nil
		// The server knows the lengths without reading the bytes, so it stops where the
		// portion is full; bytes that it has begun to send must be received.
		rows, err := c.Query(ctx, `SELECT seq, sizes, digests, data,
				(SELECT `+lastDigest+` FROM batches WHERE run = $1 AND seq < $2 ORDER BY seq DESC LIMIT 1) FROM
			(SELECT seq, sizes, digests, data, sum(octet_length(data)) OVER (ORDER BY seq) - octet_length(data) AS before FROM
				(SELECT seq, sizes, digests, data FROM batches WHERE run = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT $4) AS rows) AS summed
			WHERE before < $5 ORDER BY seq`, ref, from, end, portionRows, portionBytes)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		var p *shared.Portion
		for rows.Next() {
			var last uint64
			var sizes, digests, data, before []byte
			if err := rows.Scan(&last, &sizes, &digests, &data, &before); err != nil {
				return nil, err
			}
			if p == nil {
				p = shared.NewPortion(run, from, before)
			}
			if data, err = j.box.Open(data, shared.About(run, int64(last))...); err != nil {
				return fmt.Errorf("run %s, entry %d: %w", run, last, err), nil
			}
			refusal := p.Add(last, sizes, digests, data)
			if out = p.Rows; refusal != nil {
				return refusal, nil
			}
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
		return &journals.DamageError{Run: run, Seq: from, Why: fmt.Sprintf("it ends at %d, but should at %d", from-1, end)}, nil
	})
	if errors.As(err, new(*journals.DamageError)) {
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
func listed[T any](ctx context.Context, j *Journal, what string, of func(pgx.Row) (T, error), sql string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var all []T
		err := j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
			all, broken = collect(ctx, c, of, sql, args...)
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
