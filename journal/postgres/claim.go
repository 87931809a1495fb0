package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// Claim acquires, renews or releases a lease; see [pawl.Claim]. The server's clock decides
// whether a lease has lapsed; it is read while the run's row is locked, so the clocks of
// the claiming processes do not matter, and waiting does not shorten the lease. The id of a
// run has at most 2,000 bytes.
func (j *Journal) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	switch {
	case c.Run == "":
		return pawl.Lease{}, errors.New("a claim needs the id of a run")
	case c.Epoch == 0 && c.New && len(c.Run) > longestID:
		return pawl.Lease{}, fmt.Errorf("run %.20s…: an id of %d bytes exceeds the limit of %d", c.Run, len(c.Run), longestID)
	case c.Epoch == 0 && c.TTL <= 0:
		return pawl.Lease{}, fmt.Errorf("run %s: a lease needs a time to live above zero", c.Run)
	case c.Epoch > math.MaxInt64:
		return pawl.Lease{}, fmt.Errorf("run %s: epoch %d was never assigned: %w", c.Run, c.Epoch, pawl.ErrFenced)
	}
	// A lease must not be acquired twice: a repeat after a lost answer would be refused because of
	// its own lease. The mark identifies that lease.
	var mark [16]byte
	rand.Read(mark[:])
	q := &claim{Claim: c, mark: mark[:]}
	if c.Epoch == 0 || c.TTL <= 0 { // else the run goes on where it was
		j.ends.Delete(c.Run)
	}
	do := q.take
	switch {
	case c.Epoch != 0 && c.TTL > 0:
		do = q.renew
	case c.Epoch != 0:
		do = q.giveUp
	case c.New:
		do = q.create
	}
	if err := j.write(ctx, do); err != nil {
		return pawl.Lease{}, err
	}
	return q.lease, nil
}

// longestID fits into an index and, in hexadecimal, into a notification, which is shorter
// than 8,000 bytes.
const longestID = 2000

type claim struct {
	pawl.Claim

	mark  []byte
	lease pawl.Lease // the result
}

func (q *claim) create(ctx context.Context, c *pgx.Conn, again bool) (refusal, broken error) {
	found, err := q.ask(ctx, c, `INSERT INTO runs (id, owner, epoch, until, claim)
		VALUES ($1, $2, 1, clock_timestamp() + $3, $4) ON CONFLICT (id) DO NOTHING RETURNING owner, epoch, until`,
		[]byte(q.Owner), q.TTL, q.mark)
	if err != nil || found {
		return nil, err
	}
	if _, ours, err := q.look(ctx, c); err != nil || again && ours {
		return nil, err
	}
	return fmt.Errorf("run %s: %w", q.Run, pawl.ErrRunExists), nil
}

func (q *claim) take(ctx context.Context, c *pgx.Conn, again bool) (refusal, broken error) {
	over := int64(min(q.Over, math.MaxInt64))
	for {
		found, err := q.ask(ctx, c, `UPDATE runs SET owner = $2, epoch = epoch + 1, until = clock_timestamp() + $3, claim = $4
			WHERE id = $1 AND (until IS NULL OR until <= clock_timestamp() OR epoch = $5) RETURNING owner, epoch, until`,
			[]byte(q.Owner), q.TTL, q.mark, over)
		if err != nil || found {
			return nil, err
		}
		// The run is unknown or held, or was until just now.
		free, ours, err := q.look(ctx, c)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return shared.Unknown(q.Run), nil
		case err != nil, again && ours:
			return nil, err
		case !free:
			return &pawl.HeldError{Lease: q.lease}, nil
		}
	}
}

// renew does not wait for the disk: if a crash of the server loses a renewal, the lease
// lapses, and the epoch guards the log. So the heartbeats of a thousand runs do not cost a
// thousand flushes.
func (q *claim) renew(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
	return q.keep(ctx, c, `WITH easy AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS set)
		UPDATE runs SET until = clock_timestamp() + $3 FROM easy WHERE id = $1 AND epoch = $2 AND easy.set = 'off' RETURNING owner, epoch, until`,
		q.Epoch, q.TTL)
}

func (q *claim) giveUp(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
	return q.keep(ctx, c, `UPDATE runs SET owner = '', until = NULL WHERE id = $1 AND epoch = $2 RETURNING owner, epoch, until`, q.Epoch)
}

// keep changes a lease that the caller should have. It may safely run twice.
func (q *claim) keep(ctx context.Context, c *pgx.Conn, sql string, args ...any) (refusal, broken error) {
	found, err := q.ask(ctx, c, sql, args...)
	if err != nil || found {
		return nil, err
	}
	_, _, err = q.look(ctx, c)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return shared.Unknown(q.Run), nil
	case err != nil:
		return nil, err
	}
	return shared.Fenced(q.Run, q.Epoch, q.lease.Epoch), nil
}

// look reads the state of the lease.
func (q *claim) look(ctx context.Context, c *pgx.Conn) (free, ours bool, err error) {
	var owner, mark []byte
	var epoch uint64
	var until *time.Time
	err = c.QueryRow(ctx, `SELECT owner, epoch, until, claim, until IS NULL OR until <= clock_timestamp() FROM runs WHERE id = $1`,
		[]byte(q.Run)).Scan(&owner, &epoch, &until, &mark, &free)
	q.lease = pawl.Lease{Run: q.Run, Owner: string(owner), Epoch: epoch, Until: moment(until)}
	return free, bytes.Equal(mark, q.mark), err
}

// ask runs a statement about the run that returns the lease, and reports whether it matched a row.
func (q *claim) ask(ctx context.Context, c *pgx.Conn, sql string, args ...any) (found bool, err error) {
	var owner []byte
	var epoch uint64
	var until *time.Time
	err = c.QueryRow(ctx, sql, append([]any{[]byte(q.Run)}, args...)...).Scan(&owner, &epoch, &until)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	q.lease = pawl.Lease{Run: q.Run, Owner: string(owner), Epoch: epoch, Until: moment(until)}
	return err == nil, err
}
