package journaltest

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// A queue is a journal that hands out queued runs; see runs.Queue.
type queue interface {
	Take(ctx context.Context, t pawl.Take) ([]pawl.Head, error)
	Queued(ctx context.Context) iter.Seq2[string, error]
	Taken(ctx context.Context) iter.Seq2[pawl.Head, error]
}

// queue is the journal as one; the subtest is skipped for those that are none.
func (c *check) queue() queue {
	c.Helper()
	q, ok := c.Journal.(queue)
	if !ok {
		c.Skip("this journal is no queue")
	}
	return q
}

// enqueue makes a queued run without an owner.
func (c *check) enqueue(run, agent string, labels map[string]string) {
	c.Helper()
	c.queue()
	l := c.put(run, pawl.Head{Status: pawl.StatusQueued, Agent: agent, Labels: labels, Created: day})
	c.take(pawl.Claim{Run: run, Epoch: l.Epoch}, "releasing "+run)
}

// taken takes up to n runs and returns their heads.
func (c *check) taken(n int, change func(t *pawl.Take)) []pawl.Head {
	c.Helper()
	t := pawl.Take{Owner: "worker", TTL: time.Minute, Max: n, Agents: []string{"a"}}
	if change != nil {
		change(&t)
	}
	heads, err := c.queue().Take(c.Context(), t)
	c.ok(err, "taking")
	return heads
}

func (c *check) takenAre(n int, change func(t *pawl.Take), want ...string) {
	c.Helper()
	var got []string
	for _, h := range c.taken(n, change) {
		got = append(got, h.Run)
	}
	c.same(want, got, fmt.Sprintf("what is taken, %d at most,", n))
}

func (c *check) queuedAre(want ...string) {
	c.Helper()
	var got []string
	for run, err := range c.queue().Queued(c.Context()) {
		c.ok(err, "listing the queue")
		got = append(got, run)
	}
	c.same(want, got, "the queue")
}

func tenant(name string) map[string]string { return map[string]string{"tenant": name} }

var queues = []rule{
	{"queue/order", "queued runs are taken in the order in which they were queued, at most as many as asked for, and each once", func(c *check) {
		for i := range 5 {
			c.enqueue(fmt.Sprint("r", i), "a", nil)
		}
		c.queuedAre("r0", "r1", "r2", "r3", "r4")
		c.takenAre(2, nil, "r0", "r1")
		c.takenAre(0, nil)
		c.takenAre(10, nil, "r2", "r3", "r4")
		c.takenAre(10, nil)
	}},
	{"queue/lease", "what is taken has an owner until its lease lapses or is given up", func(c *check) {
		c.enqueue("r", "a", tenant("t"))
		h := c.taken(1, func(t *pawl.Take) { t.TTL = short })[0]
		want := pawl.Head{Run: "r", Agent: "a", Status: pawl.StatusQueued, Seq: 1, Labels: tenant("t"), Created: day, Lease: h.Lease}
		c.same(want, h, "the head of what was taken")
		c.same(pawl.Lease{Run: "r", Owner: "worker", Epoch: 2, Until: h.Lease.Until}, h.Lease, "its lease")
		time.Sleep(2 * short)
		again := c.taken(1, nil)[0]
		c.held(pawl.Claim{Run: "r", Owner: "you", TTL: time.Minute}, "claiming it")
		c.same(uint64(3), again.Lease.Epoch, "the epoch of the next lease")
		c.is(c.add(h.Lease, 1, "b"), pawl.ErrFenced, "appending under the first lease")
		c.take(pawl.Claim{Run: "r", Epoch: again.Lease.Epoch}, "giving it up")
		last := c.taken(1, nil)[0]
		c.ok(c.add(last.Lease, 1, "b"), "appending under the last lease")
		c.take(pawl.Claim{Run: "r", Epoch: last.Lease.Epoch}, "releasing it")
		c.takenAre(1, nil)
	}},
	{"queue/taken", "what is taken and not resumed is listed with its lease", func(c *check) {
		for _, run := range []string{"r0", "r1", "r2", "r3"} {
			c.enqueue(run, "a", tenant("t"))
		}
		heads := c.taken(3, nil)
		c.headed(batch(heads[0].Lease, 1, "b"), pawl.Head{Status: pawl.StatusRunning, Agent: "a"})
		c.take(pawl.Claim{Run: "r1", Epoch: heads[1].Lease.Epoch}, "giving r1 up")
		var got []pawl.Head
		for h, err := range c.queue().Taken(c.Context()) {
			c.ok(err, "listing what is taken")
			got = append(got, h)
		}
		c.same(heads[2:], got, "what is taken")
		lapsed := c.taken(1, func(t *pawl.Take) { t.TTL = short })
		time.Sleep(2 * short)
		got = nil
		for h, err := range c.queue().Taken(c.Context()) {
			c.ok(err, "listing what is taken")
			got = append(got, h)
		}
		c.same(heads[2:], got, "what is taken after the lease of "+lapsed[0].Run+" has lapsed")
	}},
	{"queue/other", "only queued runs without a live owner are taken", func(c *check) {
		c.queue()
		c.claim("unbegun")
		for _, status := range []pawl.Status{pawl.StatusRunning, pawl.StatusPaused, pawl.StatusWaitingInput, pawl.StatusSuccess} {
			l := c.put(status.String(), pawl.Head{Status: status, Agent: "a"})
			c.take(pawl.Claim{Run: status.String(), Epoch: l.Epoch}, "releasing")
		}
		c.put("held", pawl.Head{Status: pawl.StatusQueued, Agent: "a"})
		c.takenAre(10, nil)
		c.queuedAre("held")
	}},
	{"queue/agents", "runs of the named agents are taken, in turn, the first agent first", func(c *check) {
		for i := range 3 {
			c.enqueue(fmt.Sprint("a", i), "a", nil)
		}
		c.enqueue("b0", "b", nil)
		c.enqueue("c0", "c", nil)
		both := func(t *pawl.Take) { t.Agents = []string{"b", "a"} }
		c.takenAre(2, both, "b0", "a0")
		c.takenAre(10, both, "a1", "a2")
		c.takenAre(10, func(t *pawl.Take) { t.Agents = nil })
		c.queuedAre("a0", "b0", "c0", "a1", "a2")
	}},
	{"queue/labels", "only runs with all the labels are taken, and none of those to leave", func(c *check) {
		c.enqueue("r0", "a", map[string]string{"team": "ops", "env": "prod"})
		c.enqueue("r1", "a", map[string]string{"team": "ops"})
		c.enqueue("r2", "a", map[string]string{"team": "ops", "env": "prod"})
		c.enqueue("r3", "a", nil)
		labels := map[string]string{"team": "ops", "env": "prod"}
		c.takenAre(10, func(t *pawl.Take) { t.Labels, t.Except = labels, []string{"r0", "r9"} }, "r2")
		c.takenAre(10, func(t *pawl.Take) { t.Labels = labels }, "r0")
		c.takenAre(1, func(t *pawl.Take) { t.Except = []string{"r1"} }, "r3")
		c.takenAre(10, nil, "r1")
	}},
	{"queue/turns", "tenants take turns, and one that comes later does not wait for all runs of the others", func(c *check) {
		for i := range 6 {
			c.enqueue(fmt.Sprint("x", i), "a", tenant("x"))
		}
		c.takenAre(2, nil, "x0", "x1")
		for i := range 2 {
			c.enqueue(fmt.Sprint("y", i), "a", tenant("y"))
		}
		c.enqueue("n", "a", nil)
		c.queuedAre("x0", "x1", "x2", "y0", "n", "x3", "y1", "x4", "x5")
		c.takenAre(3, nil, "x2", "y0", "n")
		c.takenAre(1, nil, "x3")
		c.takenAre(1, nil, "y1")
		c.enqueue("y2", "a", tenant("y"))
		c.takenAre(3, nil, "x4", "y2", "x5")
	}},
	{"queue/alternate", "of two tenants neither gets two turns in a row while the other has runs, even if one queues each run when the last was taken", func(c *check) {
		for i := range 8 {
			c.enqueue(fmt.Sprint("x", i), "a", tenant("x"))
		}
		var got strings.Builder
		for i := range 8 {
			if i == 0 || strings.HasSuffix(got.String(), "y") {
				c.enqueue(fmt.Sprint("y", i), "a", tenant("y"))
			}
			got.WriteString(c.taken(1, nil)[0].Run[:1])
		}
		c.same("xyxyxyxy", got.String(), "the order of tenants")
	}},
	{"queue/priority", "runs of a higher priority go first, whatever their tenant or agent, and a label that is none counts as 0", func(c *check) {
		for i, p := range []string{"", "-1", "5", "high", "100", "101", "5"} {
			labels := tenant(fmt.Sprint(i % 2))
			if p != "" {
				labels["priority"] = p
			}
			c.enqueue(fmt.Sprint("r", i), []string{"a", "b"}[i/6], labels)
		}
		c.takenAre(10, func(t *pawl.Take) { t.Agents = []string{"a", "b"} }, "r4", "r2", "r6", "r0", "r3", "r5", "r1")
	}},
	{"queue/again", "a run that is queued again goes behind its tenant's others, and one that stays queued keeps its place", func(c *check) {
		for i := range 3 {
			c.enqueue(fmt.Sprint("r", i), "a", nil)
		}
		h := c.taken(1, nil)[0]
		c.headed(batch(h.Lease, 1, "b"), pawl.Head{Status: pawl.StatusRunning, Agent: "a"})
		c.headed(batch(h.Lease, 2, "c"), pawl.Head{Status: pawl.StatusQueued, Agent: "a"})
		c.take(pawl.Claim{Run: h.Run, Epoch: h.Lease.Epoch}, "releasing it")
		c.queuedAre("r1", "r2", "r0")
		l := c.take(pawl.Claim{Run: "r1", Owner: "me", TTL: time.Minute}, "claiming")
		c.headed(batch(l, 1, "b"), pawl.Head{Status: pawl.StatusQueued, Agent: "a", Iterations: 1, Thread: "t"})
		c.queuedAre("r1", "r2", "r0")
	}},
	{"queue/limits", "of an agent and of a tenant no more runs than allowed have an owner", func(c *check) {
		for i := range 4 {
			c.enqueue(fmt.Sprint("x", i), "a", tenant("x"))
			c.enqueue(fmt.Sprint("y", i), "b", tenant("y"))
		}
		agents := func(most map[string]int, lane int) func(t *pawl.Take) {
			return func(t *pawl.Take) { t.Agents, t.AgentMax, t.LaneMax = []string{"a", "b"}, most, lane }
		}
		c.takenAre(10, agents(map[string]int{"a": 2, "b": 0}, 0), "x0", "x1")
		c.takenAre(10, agents(map[string]int{"a": 2, "b": 1}, 0), "y0")
		c.takenAre(10, agents(nil, 2), "y1")
		h := c.taken(1, agents(map[string]int{"a": 3}, 3))[0]
		c.same("x2", h.Run, "the third run of a tenant")
		c.headed(batch(h.Lease, 1, "b"), pawl.Head{Status: pawl.StatusRunning, Agent: "a", Labels: tenant("x")})
		c.takenAre(10, agents(map[string]int{"a": 3}, 3), "y2")
		c.take(pawl.Claim{Run: "x2", Epoch: h.Lease.Epoch}, "releasing it")
		c.takenAre(10, agents(map[string]int{"a": 3}, 3), "x3")
	}},
	{"queue/race", "of many callers each gets other runs, and together they get all", func(c *check) {
		const runs = 200
		for i := range runs {
			c.enqueue(fmt.Sprintf("r%03d", i), "a", tenant(fmt.Sprint(i%3)))
		}
		got := make([][]string, 8)
		for _, err := range race(len(got), func(i int) error {
			for misses := 0; misses < 20; {
				heads, err := c.queue().Take(c.Context(), pawl.Take{Owner: fmt.Sprint(i), TTL: time.Minute, Max: 7, Agents: []string{"a"}})
				if err != nil {
					return err
				}
				if len(heads) == 0 {
					misses++
					time.Sleep(time.Millisecond)
				}
				for _, h := range heads {
					got[i] = append(got[i], h.Run)
				}
			}
			return nil
		}) {
			c.ok(err, "taking")
		}
		all := map[string]int{}
		for _, run := range slices.Concat(got...) {
			all[run]++
		}
		if len(all) != runs || slices.Max(slices.Collect(maps.Values(all))) != 1 {
			c.failf("of %d runs %d were taken, one of them %d times", runs, len(all), slices.Max(slices.Collect(maps.Values(all))))
		}
	}},
	{"queue/removed", "a run that was removed is not taken", func(c *check) {
		r, ok := c.Journal.(pawl.Remover)
		if !ok {
			c.Skip("this journal removes nothing")
		}
		c.enqueue("r0", "a", nil)
		c.enqueue("r1", "a", nil)
		l := c.take(pawl.Claim{Run: "r0", Owner: "me", TTL: time.Minute}, "claiming")
		c.ok(r.Remove(c.Context(), "r0", l.Epoch), "removing")
		c.queuedAre("r1")
		c.takenAre(10, nil, "r1")
	}},
	{"queue/reopened", "the queue and its turns outlive a restart", func(c *check) {
		for i := range 3 {
			c.enqueue(fmt.Sprint("x", i), "a", tenant("x"))
		}
		c.takenAre(1, nil, "x0")
		c.reopen()
		c.enqueue("y0", "a", tenant("y"))
		c.takenAre(3, nil, "x1", "y0", "x2")
	}},
}
