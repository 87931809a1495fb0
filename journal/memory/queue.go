package memory

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// A queue numbers the turns of the queued runs: each run of a lane gets the turn after the
// one before it in the lane, and after the one that was taken last. So a lane that was
// empty goes on beside the others, not before or behind all of their runs.
type queue struct {
	turns map[line]int64
	last  int64 // the age of the run that was queued last
}

// A line is what turns are counted by. The line without a lane has the turn that was
// taken last.
type line struct {
	agent string
	rank  int
	lane  string
	taken bool
}

// enter gives a run that becomes queued its place. The caller holds the lock of the
// journal.
func (q *queue) enter(h *pawl.Head) journals.Place {
	if q.turns == nil {
		q.turns = map[line]int64{}
	}
	tenant, rank := journals.PlaceOf(h.Labels)
	mine := line{agent: h.Agent, rank: rank, lane: tenant}
	turn := 1 + max(q.turns[mine], q.turns[line{agent: h.Agent, rank: rank, taken: true}])
	q.turns[mine] = turn
	q.last++
	return journals.Place{Rank: rank, Turn: turn, Ref: q.last}
}

// Take takes leases of queued runs; see runs.Queue. It looks at every run.
func (j *Journal) Take(ctx context.Context, t pawl.Take) ([]pawl.Head, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	agents, lanes := map[string]int{}, map[string]int{} // runs that have an owner
	byAgent := map[string][]candidate{}
	for _, r := range j.order {
		h := r.now()
		tenant, _ := journals.PlaceOf(h.Labels)
		switch {
		case h.Lease.Until.After(now):
			agents[h.Agent]++
			lanes[tenant]++
		case h.Status == pawl.StatusQueued && slices.Contains(t.Agents, h.Agent) && !slices.Contains(t.Except, h.Run) && shared.HasLabels(h.Labels, t.Labels):
			byAgent[h.Agent] = append(byAgent[h.Agent], candidate{run: r, place: r.place, agent: h.Agent, tenant: tenant})
		}
	}
	var all []candidate
	for i, agent := range t.Agents {
		slices.SortFunc(byAgent[agent], func(a, b candidate) int { return journals.ComparePlaces(a.place, b.place) })
		nth := map[int]int{} // by rank
		for _, c := range byAgent[agent] {
			c.nth, c.nthAgent = nth[c.place.Rank], i
			nth[c.place.Rank]++
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.place.Rank, b.place.Rank), cmp.Compare(a.nth, b.nth), cmp.Compare(a.nthAgent, b.nthAgent))
	})
	var out []pawl.Head
	for _, c := range all {
		most, capped := t.AgentMax[c.agent]
		switch {
		case len(out) == t.Max:
			return out, nil
		case capped && agents[c.agent] >= most, t.LaneMax > 0 && lanes[c.tenant] >= t.LaneMax:
			continue
		}
		if h, ok := c.take(t, now, &j.queue); ok {
			agents[c.agent]++
			lanes[c.tenant]++
			out = append(out, h)
		}
	}
	return out, nil
}

// A candidate is a run that may be taken.
type candidate struct {
	*run
	place         journals.Place
	agent, tenant string
	nth           int // of the runs of its agent and rank
	nthAgent      int
}

// take takes the lease of a run that is still queued.
func (c *candidate) take(t pawl.Take, now time.Time, q *queue) (pawl.Head, bool) {
	r := c.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone || r.head.Status != pawl.StatusQueued || r.lease.Until.After(now) {
		return pawl.Head{}, false
	}
	r.lease.Owner, r.lease.Epoch, r.lease.Until = t.Owner, r.lease.Epoch+1, now.Add(t.TTL)
	taken := line{agent: c.agent, rank: c.place.Rank, taken: true}
	q.turns[taken] = max(q.turns[taken], c.place.Turn)
	return r.copied(), true
}

// now is the head of the run.
func (r *run) now() pawl.Head {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.head
	h.Lease = r.lease
	return h
}

// Queued yields the ids of queued runs; see runs.Queue.
func (j *Journal) Queued(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		j.mu.Lock()
		var queued []*run
		for _, r := range j.order {
			if r.now().Status == pawl.StatusQueued {
				queued = append(queued, r)
			}
		}
		slices.SortFunc(queued, func(a, b *run) int { return journals.ComparePlaces(a.place, b.place) })
		j.mu.Unlock()
		for _, r := range queued {
			if !yield(r.lease.Run, nil) {
				return
			}
		}
	}
}

// Taken yields the queued runs that have an owner; see runs.Queue.
func (j *Journal) Taken(context.Context) iter.Seq2[pawl.Head, error] {
	return func(yield func(pawl.Head, error) bool) {
		j.mu.Lock()
		all := slices.Clone(j.order)
		j.mu.Unlock()
		for _, r := range all {
			if h := r.now(); h.Status == pawl.StatusQueued && h.Lease.Until.After(time.Now()) && !yield(h, nil) {
				return
			}
		}
	}
}

// WatchQueue yields an empty text whenever a run may have been queued, until ctx ends. No
// error is ever yielded.
func (j *Journal) WatchQueue(ctx context.Context) iter.Seq2[string, error] {
	return j.queued.Listen(ctx)
}
