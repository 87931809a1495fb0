package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"iter"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
)

// The turns of queued runs: each run of a lane gets the turn after the one before it in the
// lane, and after the one that was taken last. So a lane that was empty goes on beside the
// others, not before or behind all of their runs.

// enterQueue is the part of an append that gives the run its turn. Appends to one lane wait
// for each other: otherwise runs that are queued together would share a turn, and the lane
// would get more than its part.
const enterQueue = `mine AS (INSERT INTO turns (agent, rank, lane, turn)
	SELECT sha256($10), $23, $22, 1 + coalesce(max(turn), 0) FROM turns WHERE agent = sha256($10) AND rank = $23 AND lane = ''
	ON CONFLICT (agent, rank, lane) DO UPDATE SET turn = greatest(turns.turn + 1, excluded.turn) RETURNING turn), `

// place is where a run goes in the queue: its lane, a digest, and its rank.
func place(labels map[string]string) (digest []byte, rank int) {
	tenant, rank := journals.PlaceOf(labels)
	sum := sha256.Sum256([]byte(tenant))
	return sum[:16], rank
}

// Take takes leases of queued runs; see runs.Queue. The server's clock decides whether a
// lease has lapsed.
//
// It is one statement. For each agent it reads the queue in order, and locks what it takes,
// skipping what others have locked. If runs of an agent or a lane are limited, calls wait
// for each other, since each counts what the one before it took.
func (j *Journal) Take(ctx context.Context, t pawl.Take) ([]pawl.Head, error) {
	switch {
	case t.TTL <= 0:
		return nil, errors.New("a lease needs a time to live above zero")
	case t.Max <= 0 || len(t.Agents) == 0:
		return nil, nil
	}
	var agents, except [][]byte
	var most []string // a limit each, or nothing
	for _, a := range t.Agents {
		agents, most = append(agents, []byte(a)), append(most, "")
		if limit, ok := t.AgentMax[a]; ok {
			most[len(most)-1] = strconv.Itoa(limit)
		}
	}
	for _, run := range t.Except {
		except = append(except, []byte(run))
	}
	var mark [16]byte
	rand.Read(mark[:])
	args := []any{agents, t.Max, []byte(t.Owner), t.TTL, mark[:], marks("", t.Labels), except}
	sql := take
	if len(t.AgentMax) > 0 || t.LaneMax > 0 {
		sql, args = takeCapped, append(args, most, t.LaneMax)
	}
	var out []pawl.Head
	err := j.write(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		out, broken = collect(ctx, c, scanHead, sql, args...) // the leases of a try whose answer was lost lapse
		return nil, broken
	})
	return out, err
}

// The parts of taking runs. $1 are the agents, $2 how many runs, $3 the owner, $4 the time
// to live, $5 the mark of the claim, $6 the labels, $7 the runs to leave.
const (
	agentsQueue = `SELECT ref, agent, rank, turn, lane FROM runs
		WHERE sha256(agent) = sha256(a.name) AND agent = a.name AND status = 'queued'
			AND (until IS NULL OR until <= clock_timestamp()) AND ($6::bytea[] IS NULL OR marks @> $6) AND ($7::bytea[] IS NULL OR id <> ALL($7))`
	takeChosen = `, served AS (INSERT INTO turns (agent, rank, lane, turn)
			SELECT sha256(agent), rank, '', max(turn) FROM chosen GROUP BY 1, 2 ORDER BY 1, 2
			ON CONFLICT (agent, rank, lane) DO UPDATE SET turn = excluded.turn WHERE turns.turn < excluded.turn),
		taken AS (UPDATE runs SET owner = $3, epoch = epoch + 1, until = clock_timestamp() + $4, claim = $5
			FROM chosen WHERE runs.ref = chosen.ref RETURNING runs.*, nth)
		SELECT ` + columns + ` FROM taken ORDER BY nth`

	//nolint:unqueryvet // its inner rows are its own; what leaves the statement is named
	take = `WITH chosen AS MATERIALIZED (
			SELECT *, row_number() OVER () AS nth FROM (
				SELECT r.*, row_number() OVER (PARTITION BY a.place, rank ORDER BY turn, ref) AS turned
				FROM unnest($1::bytea[]) WITH ORDINALITY AS a (name, place)
				CROSS JOIN LATERAL (` + agentsQueue + ` ORDER BY rank, turn, ref LIMIT $2 FOR UPDATE SKIP LOCKED) r
				ORDER BY rank, turned, place LIMIT $2) c)` + takeChosen

	// The limit of $8 holds for each agent, that of $9 for each lane.
	takeCapped = `WITH alone AS MATERIALIZED (SELECT pg_advisory_xact_lock(hashtextextended('pawl queue ' || current_schema(), 0)) IS NULL AS locked),
		owned AS MATERIALIZED (SELECT agent, lane, count(*) AS n FROM runs, alone WHERE owner <> '' AND until > clock_timestamp() GROUP BY 1, 2),
		agents AS MATERIALIZED (SELECT *, nullif(limited, '')::bigint - coalesce((SELECT sum(n) FROM owned WHERE agent = name), 0) AS room
			FROM unnest($1::bytea[], $8::text[]) WITH ORDINALITY AS a (name, limited, place)),
		lanes AS MATERIALIZED (SELECT lane, nullif($9::bigint, 0) - sum(n) AS room FROM owned GROUP BY 1),
		chosen AS MATERIALIZED (
			SELECT *, row_number() OVER () AS nth FROM (
				SELECT * FROM (
					SELECT c.*, row_number() OVER (PARTITION BY lane ORDER BY rank, turned, place) AS inlane FROM (
						SELECT r.*, a.place, a.room, row_number() OVER (PARTITION BY a.place ORDER BY rank, turn, ref) AS turned
						FROM agents a CROSS JOIN LATERAL (` + agentsQueue + `
							AND (a.room IS NULL OR a.room > 0) AND NOT EXISTS (SELECT FROM lanes l WHERE l.lane = runs.lane AND l.room <= 0)
							ORDER BY rank, turn, ref LIMIT $2 FOR UPDATE SKIP LOCKED) r) c
					WHERE room IS NULL OR turned <= room) d
				WHERE $9::bigint = 0 OR inlane <= coalesce((SELECT room FROM lanes l WHERE l.lane = d.lane), $9::bigint)
				ORDER BY rank, turned, place LIMIT $2) e)` + takeChosen
)

// Queued yields the ids of queued runs; see runs.Queue.
func (j *Journal) Queued(ctx context.Context) iter.Seq2[string, error] {
	return listed(ctx, j, "the queue", func(r pgx.Row) (string, error) {
		var id []byte
		err := r.Scan(&id)
		return string(id), err
	}, `SELECT id FROM runs WHERE status = 'queued' ORDER BY rank, turn, ref`)
}

// taken lists the queued runs that have a live owner.
const taken = `SELECT ` + columns + ` FROM runs WHERE status = 'queued' AND owner <> '' AND until > clock_timestamp()`

// Taken yields the queued runs that have an owner; see runs.Queue.
func (j *Journal) Taken(ctx context.Context) iter.Seq2[pawl.Head, error] {
	return listed(ctx, j, "the taken runs", scanHead, taken)
}

// WatchQueue yields an empty text soon after a run was queued by any process, until ctx
// ends or the journal is closed; see [Journal.WatchLogs]. No error is ever yielded.
func (j *Journal) WatchQueue(ctx context.Context) iter.Seq2[string, error] {
	return j.queue.bell.Listen(ctx)
}
