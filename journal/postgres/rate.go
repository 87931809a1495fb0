package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl/internal/journals"
)

// reserve is journals.Buckets's Take in one statement: $1 names the buckets, $2 requests and $3
// tokens are taken within $4 microseconds, from buckets that hold $5. now is the server's
// clock. It does not wait for the disk: what a crash of the server loses was taken just before.
const reserve = `WITH easy AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS set)
	INSERT INTO rates AS r (name, requests, tokens, wait)
		SELECT $1::bytea, now + $2::interval, now + $3::interval, 0 FROM (SELECT clock_timestamp() AS now FROM easy WHERE easy.set = 'off') c
	ON CONFLICT (name) DO UPDATE SET (requests, tokens, wait) = (
		SELECT CASE WHEN wait <= $4::bigint THEN b.requests ELSE r.requests END, CASE WHEN wait <= $4::bigint THEN b.tokens ELSE r.tokens END, wait
		FROM (SELECT excluded.requests - $2 AS now) c,
			LATERAL (SELECT greatest(r.requests, now) + $2 AS requests, greatest(r.tokens, now) + $3 AS tokens) b,
			LATERAL (SELECT greatest(interval '0', b.requests - now - greatest($5::interval, $2), b.tokens - now - greatest($5::interval, $3)) AS longest) l,
			LATERAL (SELECT (extract(epoch FROM longest) * 1000000)::bigint AS wait) w)
	RETURNING wait`

// Reserve takes from the buckets of a rate; see engine.Limiter. If the answer of the server
// is lost, it may take twice.
func (j *Journal) Reserve(ctx context.Context, name string, requests, tokens, within time.Duration) (time.Duration, error) {
	var wait int64
	err := j.write(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		return nil, c.QueryRow(ctx, reserve, []byte(name), requests, tokens, within.Microseconds(), journals.FullBucket).Scan(&wait)
	})
	return time.Duration(wait) * time.Microsecond, err
}
