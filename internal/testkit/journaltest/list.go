package journaltest

import (
	"fmt"
	"maps"
	"time"

	"github.com/pawl-run/pawl"
)

func (c *check) heads(q pawl.Query) (out []pawl.Head) {
	c.Helper()
	for h, err := range c.List(c.Context(), q) {
		c.ok(err, "listing")
		out = append(out, h)
	}
	return out
}

// put creates a run with one record and the given head.
func (c *check) put(run string, h pawl.Head) pawl.Lease {
	c.Helper()
	l := c.claim(run)
	h.Run, h.Seq = run, 1
	c.headed(batch(l, 0, "a"), h)
	return l
}

func (c *check) listIs(q pawl.Query, want ...string) {
	c.Helper()
	var got []string
	for _, h := range c.heads(q) {
		got = append(got, h.Run)
	}
	c.same(want, got, fmt.Sprintf("the list for %+v", q))
}

// full is a head with nothing left out.
func full(run string) pawl.Head {
	return pawl.Head{
		Run: run, Agent: "agent 007", Loop: "react", Status: pawl.StatusWaitingApproval, Seq: 2,
		Iterations: 1234567, Cost: 0.1 + 0.2, Priced: true,
		Labels: map[string]string{"team": "ops", "ünï": "\"quoted\"\n", "empty": ""},
		Thread: "thread", Parent: "parent", Origin: "me@there:/dir",
		Created: day, Updated: day.Add(time.Hour), WakeAt: day.Add(48 * time.Hour),
	}
}

var lists = []rule{
	{"list/empty", "an empty journal lists nothing", func(c *check) { c.listIs(pawl.Query{}) }},
	{"list/head", "every field of a head comes back as it was appended last, and the lease with it", func(c *check) {
		l := c.claim("r")
		if got := c.heads(pawl.Query{}); len(got) == 1 {
			c.about(l, got[0].Lease, "the lease of a run without records")
		}
		want := full("r")
		c.headed(batch(l, 0, "a", "b"), want)
		c.headIs(want, l)

		want = pawl.Head{Run: "r", Agent: "other", Status: pawl.StatusRunning, Seq: 3, Created: day, Updated: day.Add(time.Second)}
		c.headed(batch(l, 2, "c"), want)
		c.headIs(want, l)

		// Each field in turn changes alone.
		for i, change := range []func(h *pawl.Head){
			func(h *pawl.Head) { h.Status = pawl.StatusWaitingInput },
			func(h *pawl.Head) { h.WakeAt = day.Add(time.Minute) },
			func(h *pawl.Head) { h.Labels = map[string]string{"a": "b"} },
			func(h *pawl.Head) { h.Iterations = 7 },
			func(h *pawl.Head) { h.Cost, h.Priced = 1.5, true },
			func(h *pawl.Head) { h.Loop = "plan" },
			func(h *pawl.Head) { h.Updated = day.Add(time.Minute) },
			func(h *pawl.Head) { h.WakeAt = time.Time{} },
			func(h *pawl.Head) { h.Labels = nil },
			func(h *pawl.Head) { h.Thread, h.Parent, h.Origin = "t", "p", "o" },
		} {
			change(&want)
			want.Seq++
			sent := want
			sent.Labels = maps.Clone(want.Labels)
			c.headed(batch(l, want.Seq-1, fmt.Sprint(i)), sent)
			c.headIs(want, l)
		}
	}},
	{"list/epochs", "the head is the one appended last, also after a change of owner", func(c *check) {
		l := c.put("r", pawl.Head{Status: pawl.StatusRunning, Created: day})
		next := c.take(pawl.Claim{Run: "r", Owner: "you", TTL: time.Minute, Over: l.Epoch}, "taking over")
		want := full("r")
		c.headed(batch(next, 1, "b"), want)
		c.headIs(want, next)
	}},
	{"list/relabelled", "a run is listed by the labels of its head and not by those it had", func(c *check) {
		l := c.put("r", pawl.Head{Status: pawl.StatusRunning, Labels: map[string]string{"a": "1", "b": "\xff<"}})
		c.headed(batch(l, 1, "b"), pawl.Head{Status: pawl.StatusRunning, Labels: map[string]string{"a": "2", "b": "\xff<"}})
		c.listIs(pawl.Query{Labels: map[string]string{"a": "1"}})
		c.listIs(pawl.Query{Labels: map[string]string{"a": "2"}}, "r")
	}},
	{"list/newest", "the newest run comes first", func(c *check) {
		for i := range 5 {
			c.put(fmt.Sprintf("r%d", (i*3)%5), pawl.Head{Status: pawl.StatusRunning, Created: day.Add(time.Duration(i) * time.Second)})
		}
		c.listIs(pawl.Query{}, "r2", "r4", "r1", "r3", "r0")
		c.listIs(pawl.Query{Before: "r4", Max: 2}, "r1", "r3")
	}},
	{"list/filters", "fields of a query select by what they name, and all of them must match", func(c *check) {
		ops := map[string]string{"team": "ops", "env": "prod"}
		c.put("run-a", pawl.Head{Status: pawl.StatusRunning, Agent: "x", Loop: "react", Labels: ops})
		c.put("run-b", pawl.Head{Status: pawl.StatusSuccess, Agent: "x", Loop: "plan", Thread: "talk", Labels: map[string]string{"team": "ops"}})
		c.put("ruN-c", pawl.Head{Status: pawl.StatusSuccess, Agent: "y", Loop: "react", Labels: map[string]string{"team": "dev", "env": ""}})
		c.put("other%", pawl.Head{Status: pawl.StatusWaitingInput, Agent: "X"})
		c.put("run", pawl.Head{Status: pawl.StatusRunning})
		c.listIs(pawl.Query{}, "run", "other%", "ruN-c", "run-b", "run-a")
		c.listIs(pawl.Query{Run: "run"}, "run", "run-b", "run-a")
		c.listIs(pawl.Query{Run: "run-"}, "run-b", "run-a")
		c.listIs(pawl.Query{Run: "run-b"}, "run-b")
		c.listIs(pawl.Query{Run: "other%"}, "other%")
		c.listIs(pawl.Query{Run: "o%"})
		c.listIs(pawl.Query{Run: "run_"})
		c.listIs(pawl.Query{Run: "run-b "})
		c.listIs(pawl.Query{Status: pawl.StatusSuccess}, "ruN-c", "run-b")
		c.listIs(pawl.Query{Agent: "x"}, "run-b", "run-a")
		c.listIs(pawl.Query{Loop: "react"}, "ruN-c", "run-a")
		c.listIs(pawl.Query{Thread: "talk"}, "run-b")
		c.listIs(pawl.Query{Thread: "talk", Agent: "y"})
		c.listIs(pawl.Query{Labels: map[string]string{"team": "ops"}}, "run-b", "run-a")
		c.listIs(pawl.Query{Labels: ops}, "run-a")
		c.listIs(pawl.Query{Labels: map[string]string{"env": ""}}, "ruN-c")
		c.listIs(pawl.Query{Labels: map[string]string{"nothing": ""}})
		c.listIs(pawl.Query{Status: pawl.StatusSuccess, Agent: "x", Loop: "plan", Labels: map[string]string{"team": "ops"}, Run: "run"}, "run-b")
		c.listIs(pawl.Query{Status: pawl.StatusSuccess, Agent: "x", Loop: "react"})
	}},
	{"list/max", "Max bounds how many come, counted after the other filters", func(c *check) {
		for i := range 300 {
			label := map[string]string{"third": fmt.Sprint(i % 3)}
			c.put(fmt.Sprintf("run-%03d", i), pawl.Head{Status: pawl.StatusRunning, Labels: label, Created: day.Add(time.Duration(i))})
		}
		c.listIs(pawl.Query{Max: 2}, "run-299", "run-298")
		c.listIs(pawl.Query{Max: 3, Labels: map[string]string{"third": "0"}}, "run-297", "run-294", "run-291")
		for _, n := range []int{299, 300, 301} {
			if got := len(c.heads(pawl.Query{Max: n})); got != min(n, 300) {
				c.failf("of 300 runs %d come when %d are asked for", got, n)
			}
		}
		if got := len(c.heads(pawl.Query{Labels: map[string]string{"third": "1"}})); got != 100 {
			c.failf("%d runs have a label that 100 have", got)
		}
	}},
	{"list/created", "Since and Until select runs by when they were created, the first included and the last not", func(c *check) {
		for i := range 4 {
			c.put(fmt.Sprint("r", i), pawl.Head{Status: pawl.StatusRunning, Agent: "x", Created: day.Add(time.Duration(i) * time.Microsecond)})
		}
		c.put("never", pawl.Head{Status: pawl.StatusRunning})
		at := func(i int) time.Time { return day.Add(time.Duration(i) * time.Microsecond) }
		c.listIs(pawl.Query{Since: at(1), Until: at(3)}, "r2", "r1")
		c.listIs(pawl.Query{Since: at(2)}, "r3", "r2")
		c.listIs(pawl.Query{Since: at(2), Agent: "x", Max: 1}, "r3")
		c.listIs(pawl.Query{Since: day.Add(-time.Hour), Until: at(1), Agent: "x"}, "r0")
	}},
	{"list/due", "Due selects runs whose WakeAt is set and not after it", func(c *check) {
		c.put("never", pawl.Head{Status: pawl.StatusWaitingInput})
		c.put("early", pawl.Head{Status: pawl.StatusPaused, WakeAt: day})
		c.put("late", pawl.Head{Status: pawl.StatusPaused, WakeAt: day.Add(time.Hour)})
		c.listIs(pawl.Query{Due: day.Add(-time.Microsecond)})
		c.listIs(pawl.Query{Due: day}, "early")
		c.listIs(pawl.Query{Due: day.Add(2 * time.Hour)}, "late", "early")
		c.listIs(pawl.Query{Due: day.Add(2 * time.Hour), Max: 1}, "late")
		c.listIs(pawl.Query{}, "late", "early", "never")
	}},
	{"list/lost", "Due selects running runs without a live lease", func(c *check) {
		for _, run := range []string{"lapsed", "ended", "parked"} {
			status := map[string]pawl.Status{"lapsed": pawl.StatusRunning, "ended": pawl.StatusSuccess, "parked": pawl.StatusPaused}[run]
			l := c.put(run, pawl.Head{Status: status})
			c.take(pawl.Claim{Run: run, Owner: "me", TTL: short, Epoch: l.Epoch}, "renewing")
		}
		c.claim("unbegun")
		c.put("live", pawl.Head{Status: pawl.StatusRunning})
		l := c.put("free", pawl.Head{Status: pawl.StatusRunning})
		c.take(pawl.Claim{Run: "free", Epoch: l.Epoch}, "giving the lease up")
		c.put("due", pawl.Head{Status: pawl.StatusPaused, WakeAt: day})
		time.Sleep(2 * short)
		c.listIs(pawl.Query{Due: day}, "due", "free", "lapsed")
		c.listIs(pawl.Query{Due: day, Status: pawl.StatusRunning}, "free", "lapsed")
		c.take(pawl.Claim{Run: "lapsed", Owner: "you", TTL: time.Minute}, "taking over")
		c.listIs(pawl.Query{Due: day}, "due", "free")
	}},
	{"list/own", "labels handed out belong to the reader", func(c *check) {
		c.put("r", pawl.Head{Status: pawl.StatusRunning, Labels: map[string]string{"k": "v"}})
		c.heads(pawl.Query{})[0].Labels["k"] = "changed"
		c.same(map[string]string{"k": "v"}, c.heads(pawl.Query{})[0].Labels, "what the labels")
	}},
	{"list/reopened", "heads outlive a restart", func(c *check) {
		want := full("r")
		l := c.claim("r")
		c.headed(batch(l, 0, "a", "b"), want)
		c.reopen()
		c.headIs(want, l)
	}},
}

// headIs compares the only run's head and lease.
func (c *check) headIs(want pawl.Head, l pawl.Lease) {
	c.Helper()
	got := c.heads(pawl.Query{})
	if len(got) != 1 {
		c.failf("%d runs are listed, not one", len(got))
	}
	c.about(l, got[0].Lease, "the lease")
	got[0].Lease = pawl.Lease{}
	c.same(want, got[0], "the head")
}
