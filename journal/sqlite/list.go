package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// List yields the heads of runs, the last claimed first; see [pawl.Journal].
func (j *Journal) List(ctx context.Context, q pawl.Query) iter.Seq2[pawl.Head, error] {
	return j.list(ctx, q, nil)
}

// list yields the heads of runs that have the words.
func (j *Journal) list(ctx context.Context, q pawl.Query, words []string) iter.Seq2[pawl.Head, error] {
	return func(yield func(pawl.Head, error) bool) {
		sql, args := selection(q, words)
		before, left := int64(math.MaxInt64), q.Max
		if q.Before != "" {
			var err error
			if before, err = j.ref(ctx, q.Before); err != nil {
				yield(pawl.Head{}, err)
				return
			}
		}
		for rows := 32; ; rows = min(2*rows, portionRows) { // most callers want only the first
			heads, next, err := j.heads(ctx, sql, append([]any{before}, args...), q, rows)
			for _, h := range heads {
				if !yield(h, nil) {
					return
				}
				if left--; left == 0 {
					return
				}
			}
			if err != nil {
				yield(pawl.Head{}, j.err(err))
				return
			}
			if next == 0 {
				return
			}
			before = next
		}
	}
}

// heads reads a portion of a list and returns the ref to continue from, zero at the end.
func (j *Journal) heads(ctx context.Context, sql string, args []any, q pawl.Query, most int) (out []pawl.Head, next int64, err error) {
	rows := 0
	err = j.pool.read(ctx, func(r *reader) error {
		return r.query(sql, func(s *sqlite3.Stmt) (bool, error) {
			h, err := head(s)
			if err != nil {
				return false, err
			}
			if shared.HasLabels(h.Labels, q.Labels) {
				out = append(out, h)
			}
			if rows++; rows < most && (q.Max == 0 || len(out) < q.Max) {
				return true, nil
			}
			next = s.ColumnInt64(0)
			return false, nil
		}, args...)
	})
	return out, next, err
}

// selection translates a query to SQL. It follows one index, in the order of the list: that
// of the filter that probably selects least. Other filters are applied to the rows, with a
// plus before the column, which keeps SQLite from using another index; matches checks a
// second label.
func selection(q pawl.Query, words []string) (sql string, args []any) {
	from, order, where, followed := `runs`, `ref`, []string{`ref < ?`}, ""
	add := func(column, value string) {
		if value == "" {
			return
		}
		if followed == "" {
			followed = column
			where = append(where, column+` = ?`, column+` <> ''`) // as in the index
		} else {
			where = append(where, `+`+column+` = ?`)
		}
		args = append(args, value)
	}
	switch {
	case len(words) > 0:
		followed, order = "words", `texts.rowid`
		from = `texts CROSS JOIN runs ON ref = texts.rowid` // cross: texts first
		where = []string{`texts.rowid < ?`, `texts MATCH ?`}
		args = append(args, match(words))
	case q.Run != "":
		followed, where[0] = "id", `+ref < ?`
	case !q.Due.IsZero():
		followed, where[0] = "ref", `+ref < ?` // without the plus SQLite scans all runs, to have them in order
	case len(q.Labels) > 0:
		followed, order = "label", `run`
		from = `labels CROSS JOIN runs ON ref = run` // cross: labels first
		name := slices.Min(slices.Collect(maps.Keys(q.Labels)))
		where = []string{`run < ?`, `name = ?`, `value = ?`}
		args = append(args, name, q.Labels[name])
	}
	if q.Run != "" {
		where, args = append(where, `runs.id >= ?`), append(args, q.Run)
		if end := shared.AfterPrefix(q.Run); end != "" {
			where, args = append(where, `runs.id < ?`), append(args, end)
		}
	}
	if !q.Due.IsZero() {
		where = append(where, `ref IN (SELECT ref FROM runs INDEXED BY runs_wake_at WHERE wake_at <= ? UNION ALL
			SELECT ref FROM runs INDEXED BY runs_status WHERE status = 'running' AND status <> '' AND (until IS NULL OR until <= ?))`)
		args = append(args, q.Due, time.Now())
	}
	add(`thread`, q.Thread)
	status := ""
	if q.Status != 0 {
		status = q.Status.String()
	}
	if q.Status != pawl.StatusSuccess { // most are
		add(`status`, status)
	}
	add(`agent`, q.Agent)
	add(`loop`, q.Loop)
	if q.Status == pawl.StatusSuccess {
		add(`status`, status)
	}
	if !q.Since.IsZero() || !q.Until.IsZero() {
		if followed == "" {
			where = append(where, `ref IN (SELECT ref FROM runs INDEXED BY runs_created WHERE created >= ? AND created < ?)`)
		} else {
			where = append(where, `created >= ?`, `created < ?`)
		}
		args = append(args, first64(q.Since, math.MinInt64), first64(q.Until, math.MaxInt64))
	}
	return `SELECT ` + columns + ` FROM ` + from + figures + ` WHERE ` + strings.Join(where, ` AND `) + ` ORDER BY ` + order + ` DESC`, args
}

// The columns that head reads, and the join that they need.
const (
	columns = `ref, runs.id, owner, epoch, until, status, agent, loop, labels, thread, parent, origin, created, wake_at,
		coalesce(batches.id, 0) & 4294967295, iterations, cost, priced, updated`
	figures = ` LEFT JOIN batches ON batches.id =
		(SELECT max(b.id) FROM batches b WHERE b.id > ref << 32 AND b.id <= (ref << 32) + 4294967295)`
)

// first64 is a time as the database keeps it, or a bound for the zero time.
func first64(t time.Time, bound int64) int64 {
	if t.IsZero() {
		return bound
	}
	return nanos(t)
}

func head(s *sqlite3.Stmt) (pawl.Head, error) {
	id := s.ColumnText(1)
	h := pawl.Head{
		Run: id, Agent: s.ColumnText(6), Loop: s.ColumnText(7),
		Thread: s.ColumnText(9), Parent: s.ColumnText(10), Origin: s.ColumnText(11),
		Created: instant(s, 12), WakeAt: instant(s, 13),
		Seq: uint64(s.ColumnInt64(14)), Iterations: s.ColumnInt(15), Cost: s.ColumnFloat(16), Priced: s.ColumnBool(17),
		Updated: instant(s, 18),
		Lease:   pawl.Lease{Run: id, Owner: s.ColumnText(2), Epoch: uint64(s.ColumnInt64(3)), Until: instant(s, 4)},
	}
	if status := s.ColumnRawText(5); len(status) > 0 {
		if err := h.Status.UnmarshalText(status); err != nil {
			return h, fmt.Errorf("run %s: %w", id, err)
		}
	}
	if labels := s.ColumnRawText(8); len(labels) > 0 {
		if err := json.Unmarshal(labels, &h.Labels); err != nil {
			return h, fmt.Errorf("run %s: labels: %w", id, err)
		}
	}
	return h, nil
}
