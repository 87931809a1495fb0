package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-run/pawl/internal/retry"
)

// A question is the statements of one call, which may be sent several times. again says
// that an earlier try may have succeeded although its answer never arrived; the question
// must then recognise its own work. A refusal is returned as it is; a broken error is
// wrapped with the database's name.
type question func(ctx context.Context, c *pgx.Conn, again bool) (refusal, broken error)

// write sends a question whose outcome must be known. Until it is sent, ctx can cancel it.
// Afterwards ctx no longer counts: the try is finished or, if the connection breaks,
// repeated until the answer is certain. Only if patience runs out first does the error
// leave the outcome open.
func (j *Journal) write(ctx context.Context, q question) error { return j.ask(ctx, true, q) }

// read sends a question that changes nothing.
func (j *Journal) read(ctx context.Context, q question) error { return j.ask(ctx, false, q) }

func (j *Journal) ask(ctx context.Context, writes bool, q question) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if j.closed.Load() {
		return j.err(errClosed)
	}
	bounded, stop := context.WithTimeout(ctx, j.patience)
	defer stop()
	on := bounded // the context of the tries
	if writes {
		settled, stop := context.WithTimeout(context.WithoutCancel(ctx), j.patience)
		defer stop()
		on = settled
	}
	until := bounded // the context for waiting for a try
	var last error   // of the previous try
	again := false
	for n := 0; ; n++ {
		sent, refusal, err := j.try(until, on, again, q)
		if err == nil {
			return refusal
		}
		if sent && writes && open(err) {
			again, until = true, on
		}
		if passing(err) && !j.closed.Load() && until.Err() == nil && pause(until, n) {
			last = err
			continue
		}
		if last != nil && until.Err() != nil {
			err = last // report the cause, not the time-out
		}
		switch {
		case again:
			return j.err(fmt.Errorf("it is unknown whether this was written: %w", err))
		case ctx.Err() != nil:
			return ctx.Err()
		}
		return j.err(err)
	}
}

// try sends a question once. sent is false if the server cannot have received it.
func (j *Journal) try(until, on context.Context, again bool, q question) (sent bool, refusal, broken error) {
	c, err := j.pool.Acquire(until)
	if err != nil {
		if j.closed.Load() {
			err = errClosed
		}
		return false, nil, err
	}
	defer c.Release()
	refusal, broken = q(on, c.Conn(), again)
	if broken != nil && c.Conn().IsClosed() && !errors.As(broken, new(*pgconn.PgError)) {
		broken = &lostError{broken}
	}
	return !pgconn.SafeToRetry(broken), refusal, broken
}

// A lostError says that a connection ended before the answer arrived.
type lostError struct{ err error }

func (e *lostError) Error() string { return "the connection broke: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// passing reports whether another try may succeed.
func passing(err error) bool {
	if errors.As(err, new(*pgconn.PgError)) {
		return open(err) || state(err) == "40001" || state(err) == "40P01" // serialization failure, deadlock
	}
	return open(err) || errors.As(err, new(*pgconn.ConnectError)) || pgconn.SafeToRetry(err) && !errors.Is(err, errClosed)
}

// open reports whether the failed statement may have been executed after all, or the server
// may answer later.
func open(err error) bool {
	switch s := state(err); {
	case s == "":
		return errors.As(err, new(*lostError))
	case s[:2] == "08": // the connection; https://www.postgresql.org/docs/current/errcodes-appendix.html
		return true
	default:
		return s == "57P01" || s == "57P02" || s == "57P03" || s == "57P05" || // the server shuts down or starts
			s == "53300" // too many connections
	}
}

// away reports whether the server cannot be reached or lacks the resources to answer, so
// that the same call may succeed later.
func away(err error) bool {
	s := state(err)
	return passing(err) || errors.As(err, new(*pgconn.ConnectError)) || errors.Is(err, context.DeadlineExceeded) ||
		s != "" && s[:2] == "53" || // resources: connections, memory, room on the disk
		s == "25006" // it is read-only, such as a former primary
}

// state is the SQLSTATE of an error from the server; empty for other errors.
func state(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) && len(said.Code) == 5 {
		return said.Code
	}
	return ""
}

// pause waits before try n+1, longer each time, up to a second.
func pause(ctx context.Context, n int) bool {
	bound := min(time.Second, 20*time.Millisecond<<min(n, 10))
	return retry.Wait(ctx, bound/2+rand.N(bound/2)) //nolint:gosec // it spreads load and is no secret
}
