package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A question is one call's statements, which may have to be put to the server
// several times. Again says that an earlier try may have been done although its
// answer never came; the question then must recognise its own work. A refusal
// stands for itself, what is broken names the database.
type question func(ctx context.Context, c *pgx.Conn, again bool) (refusal, broken error)

// write puts a question whose outcome must be known. Until it is on its way,
// ctx can call it off. From then on ctx no longer counts: the try is finished,
// or, when the connection breaks, put again until the answer is certain. Only when
// the patience ends first does the error leave it open.
func (j *Journal) write(ctx context.Context, q question) error { return j.ask(ctx, true, q) }

// read puts a question that changes nothing.
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
	on := bounded // what the tries run under
	if writes {
		settled, stop := context.WithTimeout(context.WithoutCancel(ctx), j.patience)
		defer stop()
		on = settled
	}
	until := bounded // what waiting for a try runs under
	var last error   // of a try that the next one was to make good
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
			err = last // that time is up is not what is wrong
		}
		switch {
		case again:
			return j.err(fmt.Errorf("whether this was written is not known: %w", err))
		case ctx.Err() != nil:
			return ctx.Err()
		}
		return j.err(err)
	}
}

// try puts a question once. Sent is false if the server cannot have seen it.
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

// A lostError is the end of a connection on which an answer was awaited.
type lostError struct{ err error }

func (e *lostError) Error() string { return "the connection broke: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// passing reports whether another try may fare better.
func passing(err error) bool {
	if errors.As(err, new(*pgconn.PgError)) {
		return open(err) || state(err) == "40001" || state(err) == "40P01" // met others, and gave way
	}
	return open(err) || errors.As(err, new(*pgconn.ConnectError)) || pgconn.SafeToRetry(err) && !errors.Is(err, errClosed)
}

// open reports whether what failed may have been done all the same, or a
// server that cannot be asked now may say so later.
func open(err error) bool {
	switch s := state(err); {
	case s == "":
		return errors.As(err, new(*lostError))
	case s[:2] == "08": // the connection; https://www.postgresql.org/docs/current/errcodes-appendix.html
		return true
	default:
		return s == "57P01" || s == "57P02" || s == "57P03" || s == "57P05" || // the server goes down, or comes up
			s == "53300" // too many connections
	}
}

// away reports whether the server cannot be reached, or has not what it takes to
// answer: the same will be right when it can and has.
func away(err error) bool {
	s := state(err)
	return passing(err) || errors.As(err, new(*pgconn.ConnectError)) || errors.Is(err, context.DeadlineExceeded) ||
		s != "" && s[:2] == "53" || // resources: connections, memory, room on the disk
		s == "25006" // it only reads, as one does that another has taken over from
}

// state is the code of an error that the server has sent, else empty.
func state(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) && len(said.Code) == 5 {
		return said.Code
	}
	return ""
}

// pause waits longer and longer, up to a second, before try n+1.
func pause(ctx context.Context, n int) bool {
	bound := min(time.Second, 20*time.Millisecond<<min(n, 10))
	t := time.NewTimer(bound/2 + rand.N(bound/2)) //nolint:gosec // chance here spreads load; nobody gains by guessing it
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
