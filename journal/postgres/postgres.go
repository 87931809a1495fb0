// Package postgres is a [Journal] in a PostgreSQL database, shared by any number of
// processes on any number of machines.
//
// An append is one statement and one round trip: it compares the epoch and the end of the
// log, adds the batch and replaces the head, or does nothing. Leases are judged by the
// server's clock alone. Watchers need not poll: see [Journal.WatchSignals] and
// [Journal.WatchLogs].
//
// A broken connection does not break a run. The statement is repeated on another connection; if the
// first try had succeeded, the journal detects that and does nothing.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/journal/internal/shared"
	"github.com/pawl-run/pawl/journal/seal"
)

// A Journal is an open database. It implements [pawl.Journal], [pawl.Inbox],
// [pawl.Blobs] and [pawl.Remover]. Its errors name the database, never the password. Times
// are kept to the microsecond; a lease's Until is by the server's clock.
type Journal struct {
	name     string // for errors
	schema   string
	pool     *pgxpool.Pool
	patience time.Duration
	closed   atomic.Bool
	signals  *hub
	logs     *hub
	queue    *hub
	news     *notifier
	box      shared.Box
	ends     sync.Map // run id to end, of runs that were appended to
}

var (
	_ pawl.Journal = (*Journal)(nil)
	_ pawl.Inbox   = (*Journal)(nil)
	_ pawl.Blobs   = (*Journal)(nil)
	_ pawl.Remover = (*Journal)(nil)
)

// Options are the options of a database; nil is the zero value.
type Options struct {
	// Schema is the schema of the tables, "pawl" if empty. It is created if necessary.
	// Lower-case letters, digits and underscores, at most 40. Journals in different
	// schemas are independent.
	Schema string
	// Codec seals entries, signals and blobs; see package seal. Nil: they are stored as they are.
	// Sealed ones are read with the Codec only.
	Codec seal.Codec
}

// patience is how long a call retries while the database cannot be reached. A restart, or a
// failover to another server, should be over by then.
const patience = 30 * time.Second

var schemas = naming.Regexp(`^[a-z_][a-z0-9_]{0,39}$`)

// Open opens the database at url (postgres://user@host:5432/name?…, with the parameters of
// libpq and pool_max_conns, which is 4 or the number of processors if that is
// more) and creates the tables. It refuses tables of another version, and a schema with tables of
// another program, and leaves both unchanged. It fails at once if the
// database cannot be reached. The context bounds only the opening.
//
// A connection pooler in between must use session pooling.
func Open(ctx context.Context, url string, o *Options) (*Journal, error) {
	o = cmp.Or(o, &Options{})
	schema := cmp.Or(o.Schema, "pawl")
	if !schemas().MatchString(schema) {
		return nil, fmt.Errorf("journal: the schema %q is not made of at most 40 lower-case letters, digits and underscores", schema)
	}
	config, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{name: name(config.ConnConfig), schema: schema, patience: patience, box: shared.Box{Codec: o.Codec}}
	if err := j.open(ctx, config); err != nil {
		return nil, j.err(err)
	}
	return j, nil
}

// parse reads the address of a database.
func parse(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	if c := config.ConnConfig; c.ConnectTimeout <= 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	if params := config.ConnConfig.RuntimeParams; params["application_name"] == "" {
		params["application_name"] = "pawl"
	}
	config.PingTimeout = 5 * time.Second // else a silent connection would block
	return config, nil
}

func (j *Journal) open(ctx context.Context, config *pgxpool.Config) error {
	config.AfterConnect = j.enter
	var err error
	if j.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	first, err := j.pool.Acquire(ctx)
	if err == nil {
		err = j.create(ctx, first.Conn())
		first.Release()
	}
	if err != nil {
		j.pool.Close()
		return err
	}
	c := config.ConnConfig
	j.signals, j.logs, j.queue = newHub(c, j.schema+".signals"), newHub(c, j.schema+".logs"), newHub(c, j.schema+".queue")
	j.news = &notifier{j: j}
	return nil
}

// enter sets what a connection must not inherit from the defaults of the server or the
// user. An append that has returned must be durable, so a server that does not wait for its
// disk is set to wait; stronger settings, which also wait for replicas, stay. With stricter
// isolation, concurrent statements would fail instead of waiting for each other.
func (j *Journal) enter(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `SELECT set_config('search_path', '`+j.schema+`', false),
		set_config('default_transaction_isolation', 'read committed', false),
		set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)`)
	return err
}

// name returns the database's address for errors, without the user.
func name(c *pgx.ConnConfig) string {
	return "postgres://" + net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database
}

// Close waits for pending calls, but not for a database that is gone, and closes the connections.
// Every later call fails, and all watchers end.
func (j *Journal) Close() error {
	if j.closed.Swap(true) {
		return nil
	}
	j.news.close()
	j.signals.close()
	j.logs.close()
	j.queue.close()
	j.pool.Close()
	return nil
}

// errClosed is the error of a closed journal. It is an outage, since a server that a second signal
// stops closes its journal while it still answers requests: clients may repeat them.
var errClosed error = &retry.Error{Err: errors.New("the journal is closed")}

// err adds the database's name to an error.
func (j *Journal) err(err error) error {
	if err == nil {
		return nil
	}
	if away(err) {
		err = &retry.Error{Err: err}
	}
	return fmt.Errorf("journal %s: %w", j.name, err)
}
