package postgres

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
)

// How long a connection may be idle before it is checked, how long that may take, how old a
// connection becomes, and how long closing it may take.
const (
	checkAfter  = time.Second
	checkTime   = 5 * time.Second // else a silent connection would block
	oldest      = time.Hour       // so that connections move to a server that took over
	closingTime = 15 * time.Second
)

// A pool is the connections of a journal.
type pool struct {
	of *puddle.Pool[*conn]
}

// newPool makes a pool that connects when asked. enter prepares a new connection.
func newPool(config *pgconn.Config, most int32, enter func(context.Context, *conn) error) (*pool, error) {
	of, err := puddle.NewPool(&puddle.Config[*conn]{
		MaxSize: most,
		Constructor: func(ctx context.Context) (*conn, error) {
			c, err := connect(ctx, config.Copy())
			if err == nil {
				if err = enter(ctx, c); err != nil {
					_ = c.Close(ctx) // the first error is the one to report
				}
			}
			return c, err
		},
		Destructor: func(c *conn) {
			ctx, stop := context.WithTimeout(context.Background(), closingTime)
			defer stop()
			_ = c.Close(ctx) // it is dropped in any case
			select {
			case <-c.CleanupDone():
			case <-ctx.Done():
			}
		},
	})
	return &pool{of}, err
}

// poolSize takes pool_max_conns, which is not the server's, out of a configuration.
func poolSize(config *pgconn.Config) (int32, error) {
	text, ok := config.RuntimeParams["pool_max_conns"]
	if !ok {
		return int32(max(4, runtime.NumCPU())), nil
	}
	delete(config.RuntimeParams, "pool_max_conns")
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("pool_max_conns is %q; write a number above zero", text)
	}
	return int32(n), nil
}

// A lease is the use of a connection.
type lease struct {
	*conn

	of *puddle.Resource[*conn]
}

// Acquire waits for a connection that works.
func (p *pool) Acquire(ctx context.Context) (*lease, error) {
	for {
		of, err := p.of.Acquire(ctx)
		if err != nil {
			return nil, err
		}
		l := &lease{of.Value(), of}
		if of.IdleDuration() <= checkAfter {
			return l, nil
		}
		bounded, stop := context.WithTimeout(ctx, checkTime)
		err = l.Ping(bounded)
		stop()
		if err == nil {
			return l, nil
		}
		l.Release()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// Close waits for leases, and closes all connections.
func (p *pool) Close() { p.of.Close() }

// Release ends the use. A connection that is broken, or within something, is not used again.
func (l *lease) Release() {
	if l.IsClosed() || l.IsBusy() || l.TxStatus() != 'I' || time.Since(l.of.CreationTime()) > oldest {
		l.of.Destroy()
		return
	}
	l.of.Release()
}
