package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// List yields the heads of runs, the last created first; see [pawl.Journal].
func (j *Journal) List(ctx context.Context, q pawl.Query) iter.Seq2[pawl.Head, error] {
	return j.list(ctx, q, nil)
}

// list yields the heads of runs that have the words.
func (j *Journal) list(ctx context.Context, q pawl.Query, words []string) iter.Seq2[pawl.Head, error] {
	return func(yield func(pawl.Head, error) bool) {
		before, left := int64(math.MaxInt64), q.Max
		if q.Before != "" {
			var err error
			if before, _, err = j.ref(ctx, q.Before); err != nil {
				yield(pawl.Head{}, err)
				return
			}
		}
		for {
			most := portionRows
			if q.Max > 0 {
				most = min(most, left)
			}
			heads, last, err := j.heads(ctx, q, words, before, most)
			for _, h := range heads {
				if !yield(h, nil) {
					return
				}
			}
			if err != nil {
				yield(pawl.Head{}, err)
				return
			}
			left -= len(heads)
			if len(heads) < most || q.Max > 0 && left == 0 {
				return
			}
			before = last
		}
	}
}

// heads reads a portion of a list, and returns the position of its last run.
func (j *Journal) heads(ctx context.Context, q pawl.Query, words []string, before int64, most int) (out []pawl.Head, last int64, err error) {
	sql, args := selection(q, words, before, most)
	err = j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		out, broken = collect(ctx, c, func(r pgx.Row) (h pawl.Head, err error) {
			last, err = scan(r, &h)
			return h, err
		}, sql, args...)
		return nil, broken
	})
	return out, last, err
}

// selection translates a query to SQL.
func selection(q pawl.Query, words []string, before int64, most int) (sql string, args []any) {
	args = []any{before, most}
	where := `ref < $1`
	add := func(column, compare string, arg any) {
		args = append(args, arg)
		where += fmt.Sprintf(` AND %s %s $%d`, column, compare, len(args))
	}
	if q.Run != "" {
		add(`id`, `>=`, []byte(q.Run))
		if end := shared.AfterPrefix(q.Run); end != "" {
			add(`id`, `<`, []byte(end))
		}
	}
	if q.Status != 0 {
		add(`status`, `=`, q.Status.String())
	}
	if q.Loop != "" {
		add(`loop`, `=`, []byte(q.Loop))
		where += fmt.Sprintf(` AND sha256(loop) = sha256($%d) AND loop <> ''`, len(args)) // as in the index
	}
	if q.Thread != "" {
		add(`thread`, `=`, []byte(q.Thread))
		where += fmt.Sprintf(` AND sha256(thread) = sha256($%d) AND thread <> ''`, len(args))
	}
	if found := marks(q.Agent, q.Labels); len(found) > 0 {
		add(`marks`, `@>`, found)
	}
	if !q.Since.IsZero() {
		add(`created`, `>=`, q.Since)
	}
	if !q.Until.IsZero() {
		add(`created`, `<`, q.Until)
	}
	if len(words) > 0 {
		args = append(args, match(words))
		where += fmt.Sprintf(` AND ref IN (SELECT run FROM texts WHERE words @@ $%d::text::tsquery)`, len(args))
	}
	if !q.Due.IsZero() {
		args = append(args, q.Due)
		where += fmt.Sprintf(` AND ref IN (SELECT ref FROM runs WHERE wake_at <= $%d UNION ALL
			SELECT ref FROM runs WHERE status = 'running' AND (until IS NULL OR until <= clock_timestamp()))`, len(args))
	}
	return `SELECT ` + columns + ` FROM runs WHERE ` + where + ` ORDER BY ref DESC LIMIT $2`, args
}

// columns are what scan reads.
const columns = `ref, id, owner, epoch, until, seq, iterations, cost, priced, updated, status,
	agent, loop, labels, thread, parent, origin, created, wake_at`

func scanHead(r pgx.Row) (h pawl.Head, err error) {
	_, err = scan(r, &h)
	return h, err
}

func scan(rows pgx.Row, h *pawl.Head) (ref int64, err error) {
	var id, owner, agent, loop, labels, thread, parent, origin []byte
	var until, updated, created, wake *time.Time
	var status string
	if err := rows.Scan(&ref, &id, &owner, &h.Lease.Epoch, &until, &h.Seq, &h.Iterations, &h.Cost, &h.Priced, &updated, &status,
		&agent, &loop, &labels, &thread, &parent, &origin, &created, &wake); err != nil {
		return 0, err
	}
	h.Run, h.Agent, h.Loop = string(id), string(agent), string(loop)
	h.Thread, h.Parent, h.Origin = string(thread), string(parent), string(origin)
	h.Updated, h.Created, h.WakeAt = moment(updated), moment(created), moment(wake)
	h.Lease.Run, h.Lease.Owner, h.Lease.Until = h.Run, string(owner), moment(until)
	if status != "" {
		if err := h.Status.UnmarshalText([]byte(status)); err != nil {
			return 0, fmt.Errorf("run %s: %w", h.Run, err)
		}
	}
	if len(labels) == 0 {
		return ref, nil
	}
	if err := json.Unmarshal(labels, &h.Labels); err != nil {
		return 0, fmt.Errorf("run %s: labels: %w", h.Run, err)
	}
	return ref, nil
}
