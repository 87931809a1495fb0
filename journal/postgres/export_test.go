package postgres

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-run/pawl"
)

// SetPatience changes how long calls put up with a database that cannot be reached.
func (j *Journal) SetPatience(d time.Duration) { j.patience = d }

// Conn is a connection as the journal uses it.
func (j *Journal) Conn(ctx context.Context) (*pgxpool.Conn, error) { return j.pool.Acquire(ctx) }

// Selection is the SQL of a list's first portion.
func Selection(q pawl.Query) (sql string, args []any) {
	most := portionRows
	if q.Max > 0 {
		most = q.Max
	}
	return selection(q, nil, math.MaxInt64, most)
}

// The statements that take runs.
const (
	TakeSQL       = take
	TakeCappedSQL = takeCapped
	TakenSQL      = taken
)
