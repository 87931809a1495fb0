package sqlite

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// setPlace gives a run that is about to be queued its turn: the one after the run before it in its
// lane, and after the one that was taken last. So a lane that was empty goes on beside the
// others, not before or behind all of their runs.
func (w *writer) setPlace(ref int64, h *pawl.Head) error {
	tenant, rank := journals.PlaceOf(h.Labels)
	if err := w.exec(`INSERT INTO turns (agent, rank, lane, taken, turn)
		SELECT ?1, ?2, ?3, 0, 1 + coalesce(max(turn), 0) FROM turns WHERE agent = ?1 AND rank = ?2 AND lane = '' AND taken = 1
		ON CONFLICT DO UPDATE SET turn = max(turn + 1, excluded.turn)`, h.Agent, rank, tenant); err != nil {
		return err
	}
	return w.exec(`UPDATE runs SET lane = ?2, rank = ?3, turn = (SELECT turn FROM turns WHERE agent = ?4 AND rank = ?3 AND lane = ?2 AND taken = 0)
		WHERE ref = ?1`, ref, tenant, rank, h.Agent)
}

// Take takes leases of queued runs; see runs.Queue. It is one transaction, and none if no
// run is queued.
func (j *Journal) Take(ctx context.Context, t pawl.Take) ([]pawl.Head, error) {
	switch {
	case t.TTL <= 0:
		return nil, errors.New("a lease needs a time to live above zero")
	case t.Max <= 0 || len(t.Agents) == 0:
		return nil, nil
	}
	some := false
	if err := j.pool.read(ctx, func(r *reader) error {
		for _, agent := range t.Agents {
			if err := r.query(`SELECT 1 FROM runs INDEXED BY runs_queue WHERE agent = ? AND status = 'queued' LIMIT 1`, func(*sqlite3.Stmt) (bool, error) {
				some = true
				return false, nil
			}, agent); err != nil || some {
				return err
			}
		}
		return nil
	}); err != nil || !some {
		return nil, j.err(err)
	}
	var out []pawl.Head
	err := j.write(ctx, func(w *writer) (refusal, broken error) {
		var err error
		out, err = w.take(t, time.Now().UTC().Round(0))
		return nil, err
	})
	return out, err
}

// A candidate is a run that may be taken.
type candidate struct {
	journals.Place
	head     pawl.Head
	tenant   string
	nth      int // of the runs of its agent and rank
	nthAgent int
}

func (w *writer) take(t pawl.Take, now time.Time) ([]pawl.Head, error) {
	agents, lanes := map[string]int{}, map[string]int{} // runs that have an owner
	if len(t.AgentMax) > 0 || t.LaneMax > 0 {
		if err := w.query(ownedSQL, func(s *sqlite3.Stmt) (bool, error) {
			agents[s.ColumnText(0)] += s.ColumnInt(2)
			lanes[s.ColumnText(1)] += s.ColumnInt(2)
			return true, nil
		}, now); err != nil {
			return nil, err
		}
	}
	var all []*candidate
	for i, agent := range t.Agents {
		most, capped := t.AgentMax[agent]
		n, nth, mine := 0, map[int]int{}, map[string]int{}
		if err := w.query(queueSQL, func(s *sqlite3.Stmt) (bool, error) {
			h, err := head(s)
			c := &candidate{Place: journals.Place{Rank: s.ColumnInt(20), Turn: s.ColumnInt64(21), Ref: s.ColumnInt64(0)}, head: h, tenant: s.ColumnText(19), nthAgent: i}
			switch {
			case err != nil:
				return false, err
			case capped && agents[agent]+n >= most:
				return false, nil
			case !shared.HasLabels(h.Labels, t.Labels) || slices.Contains(t.Except, h.Run) || t.LaneMax > 0 && lanes[c.tenant]+mine[c.tenant] >= t.LaneMax:
				return true, nil
			}
			c.nth = nth[c.Rank]
			nth[c.Rank]++
			mine[c.tenant]++
			all = append(all, c)
			n++
			return n < t.Max, nil
		}, agent, now); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.nth, b.nth), cmp.Compare(a.nthAgent, b.nthAgent))
	})
	var out []pawl.Head
	for _, c := range all {
		if len(out) == t.Max {
			break
		}
		if t.LaneMax > 0 && lanes[c.tenant] >= t.LaneMax {
			continue
		}
		lanes[c.tenant]++
		l := &c.head.Lease
		l.Owner, l.Epoch, l.Until = t.Owner, l.Epoch+1, now.Add(t.TTL)
		if err := w.setLease(c.Ref, *l); err != nil {
			return nil, err
		}
		if err := w.exec(`INSERT INTO turns (agent, rank, lane, taken, turn) VALUES (?, ?, '', 1, ?)
			ON CONFLICT DO UPDATE SET turn = max(turn, excluded.turn)`, c.head.Agent, c.Rank, c.Turn); err != nil {
			return nil, err
		}
		out = append(out, c.head)
	}
	return out, nil
}

// ownedSQL counts the runs that have a live owner.
const ownedSQL = `SELECT agent, lane, count(*) FROM
	(SELECT agent, lane, until FROM runs INDEXED BY runs_status WHERE status = 'running' AND status <> ''
	UNION ALL SELECT agent, lane, until FROM runs INDEXED BY runs_taken WHERE status = 'queued' AND owner <> '') WHERE until > ? GROUP BY agent, lane`

// queuedSQL lists all queued runs in order.
const queuedSQL = `SELECT id FROM runs WHERE status = 'queued' AND status <> '' ORDER BY rank, turn, ref`

// queueSQL lists the queued runs of an agent that have no live owner, in order.
const queueSQL = `SELECT ` + columns + `, lane, rank, turn FROM runs INDEXED BY runs_queue` + figures + `
	WHERE agent = ? AND status = 'queued' AND (until IS NULL OR until <= ?) ORDER BY rank, turn, ref`

// Queued yields the ids of queued runs; see runs.Queue.
func (j *Journal) Queued(ctx context.Context) iter.Seq2[string, error] {
	return listed(ctx, j, func(s *sqlite3.Stmt) (string, error) { return s.ColumnText(0), nil }, queuedSQL)
}

// takenSQL lists the queued runs that have a live owner.
const takenSQL = `SELECT ` + columns + ` FROM runs INDEXED BY runs_taken` + figures + ` WHERE status = 'queued' AND owner <> '' AND until > ?`

// Taken yields the queued runs that have an owner; see runs.Queue.
func (j *Journal) Taken(ctx context.Context) iter.Seq2[pawl.Head, error] {
	return listed(ctx, j, head, takenSQL, time.Now())
}

// WatchQueue yields an empty text when a run may have been queued, until ctx ends or the
// journal is closed; see [Journal.WatchLogs]. No error is ever yielded.
func (j *Journal) WatchQueue(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for run, err := range j.logs.Listen(ctx) {
			if run == "" && !yield("", err) {
				return
			}
		}
	}
}
