package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl/internal/retry"
)

// Health is what [Check] finds.
type Health struct {
	Server       string        // its version
	Schema       int           // the version of the tables; zero: there are none yet
	Ahead        time.Duration // how far this machine's clock is ahead of the server's, at most Trip/2 wrong
	Trip         time.Duration // the time of a round trip
	Used, Most   int           // connections of all programs
	ReadOnly     bool          // it is a standby, or set to refuse writes
	Missing      string        // the right that the user lacks, as SQL names it; empty: none
	ByReplicas   bool          // commits wait for other servers, too
	Unarchived   bool          // it keeps no log for a restore to a point in time
	Transactions time.Duration // age of the oldest open transaction; it keeps dead rows from being removed
}

// Check looks at a database and changes nothing: unlike [Open], it makes no tables. It fails if the database cannot be reached, or holds tables of another version or of
// another program.
func Check(ctx context.Context, url string, o *Options) (Health, error) {
	j := &Journal{schema: "pawl"}
	if o != nil && o.Schema != "" {
		j.schema = o.Schema
	}
	config, err := parse(url)
	if err != nil {
		return Health{}, j.err(err)
	}
	j.name = name(config.ConnConfig)
	c, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return Health{}, j.err(&retry.Error{Err: err})
	}
	defer c.Close(context.WithoutCancel(ctx))
	h, err := j.check(ctx, c)
	return h, j.err(err)
}

func (j *Journal) check(ctx context.Context, c *pgx.Conn) (h Health, err error) {
	if err := j.enter(ctx, c); err != nil {
		return h, err
	}
	made, err := j.made(ctx, c)
	if err != nil {
		return h, err
	}
	if made {
		h.Schema = version
	}
	for range 5 { // the quickest says most
		before := time.Now()
		var there time.Time
		if err := c.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&there); err != nil {
			return h, err
		}
		if trip := time.Since(before); h.Trip == 0 || trip < h.Trip {
			h.Trip, h.Ahead = trip, before.Add(trip/2).Sub(there)
		}
	}
	var oldest float64
	err = c.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('transaction_read_only')::bool,
		(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), current_setting('max_connections')::int,
		current_setting('synchronous_standby_names') <> '' AND current_setting('synchronous_commit') NOT IN ('off', 'local'),
		current_setting('archive_mode') = 'off',
		coalesce((SELECT extract(epoch FROM max(clock_timestamp() - xact_start)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()), 0)::float8`).
		Scan(&h.Server, &h.ReadOnly, &h.Used, &h.Most, &h.ByReplicas, &h.Unarchived, &oldest)
	if err != nil {
		return h, err
	}
	h.Transactions = time.Duration(oldest * float64(time.Second))
	h.Missing, err = j.missing(ctx, c, made)
	return h, err
}

// missing names the first right that the user lacks.
func (j *Journal) missing(ctx context.Context, c *pgx.Conn, made bool) (right string, err error) {
	if !made {
		err = c.QueryRow(ctx, `SELECT CASE WHEN has_database_privilege(current_database(), 'CREATE') THEN ''
			ELSE format('CREATE ON DATABASE %I', current_database()) END`).Scan(&right)
		return right, err
	}
	err = c.QueryRow(ctx, `SELECT coalesce((SELECT format('%s ON %s', p, c.oid::regclass) FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p
		WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r' AND NOT has_table_privilege(c.oid, p)
		AND NOT (c.relname = 'version' AND p <> 'SELECT') ORDER BY 1 LIMIT 1), '')`, j.schema).Scan(&right)
	return right, err
}
