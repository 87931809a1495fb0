package journaltest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

var appends = []rule{
	{"append/order", "records are read back in the order they were appended in, seqs from one without a gap", func(c *check) {
		l := c.claim("r")
		want, after := []string(nil), uint64(0)
		for i := range 30 {
			records := make([]string, 1+i%4)
			for k := range records {
				records[k] = fmt.Sprintf(`{"n":%d,"k":%d}`, i, k)
			}
			c.ok(c.add(l, after, records...), "appending")
			want, after = append(want, records...), after+uint64(len(records))
		}
		c.logIs("r", want...)
	}},
	{"append/bytes", "a record is stored byte for byte, whatever it holds", func(c *check) {
		l := c.claim("r")
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		want := []string{string(all), "", "\x00", "\n\n", "\xff\xfe", `{"a":"ü"}`, ""}
		c.ok(c.add(l, 0, want...), "appending")
		c.ok(c.add(l, uint64(len(want)), ""), "appending an empty record alone")
		c.logIs("r", append(want, "")...)
	}},
	{"append/unknown", "appending to a run that does not exist is ErrUnknownRun", func(c *check) {
		c.is(c.add(pawl.Lease{Run: "r", Epoch: 1}, 0, "a"), pawl.ErrUnknownRun, "appending")
	}},
	{"append/empty", "a batch without records is refused", func(c *check) {
		l := c.claim("r")
		if err := c.add(l, 0); err == nil {
			c.failf("an empty batch was taken")
		}
		c.ok(c.add(l, 0, "a"), "appending after that")
		c.logIs("r", "a")
	}},
	{"append/conflict", "a batch that does not start at the end of the log is ErrConflict and changes nothing", func(c *check) {
		l := c.claim("r")
		c.is(c.add(l, 1, "x"), pawl.ErrConflict, "appending past the end of an empty log")
		c.ok(c.add(l, 0, "a", "b"), "appending")
		for _, after := range []uint64{0, 1, 3, 1 << 20} {
			c.is(c.add(l, after, "x", "y"), pawl.ErrConflict, fmt.Sprintf("appending after %d to a log that ends at 2", after))
		}
		c.logIs("r", "a", "b")
		c.ok(c.add(l, 2, "c"), "appending at the end")
		c.logIs("r", "a", "b", "c")
	}},
	{"append/fenced", "an owner that was replaced changes nothing: no record, no head", func(c *check) {
		l := c.claim("r")
		c.ok(c.add(l, 0, "a"), "appending")
		before := c.heads(pawl.Query{})[0]
		next := c.take(pawl.Claim{Run: "r", Owner: "you", TTL: time.Minute, Over: l.Epoch}, "taking over")
		stale := batch(l, 1, "x")
		stale.Head.Status, stale.Head.Agent = pawl.StatusFailed, "stale"
		c.is(c.Append(c.Context(), stale), pawl.ErrFenced, "the old owner's append")
		ahead := next
		ahead.Epoch++
		c.is(c.add(ahead, 1, "x"), pawl.ErrFenced, "an append of an epoch that is not given out yet")
		c.logIs("r", "a")
		after := c.heads(pawl.Query{})[0]
		before.Lease, after.Lease = pawl.Lease{}, pawl.Lease{}
		c.same(before, after, "the head")
		c.ok(c.add(next, 1, "b"), "the new owner's append")
		c.logIs("r", "a", "b")
	}},
	{"append/late", "an owner whose lease has lapsed may append as long as no other owner took the run", func(c *check) {
		l := c.take(pawl.Claim{Run: "r", Owner: "me", TTL: short, New: true}, "claiming")
		time.Sleep(2 * short)
		c.ok(c.add(l, 0, "a"), "appending late")
		c.logIs("r", "a")
	}},
	{"append/not kept", "slices handed in are not kept", func(c *check) {
		l := c.claim("r")
		rec := []byte("before")
		labels := map[string]string{"k": "before"}
		b := batch(l, 0)
		b.Records, b.Head.Labels = [][]byte{rec}, labels
		c.ok(c.Append(c.Context(), b), "appending")
		copy(rec, "after!")
		b.Records[0], labels["k"] = nil, "after"
		c.logIs("r", "before")
		c.same(map[string]string{"k": "before"}, c.heads(pawl.Query{})[0].Labels, "what the labels")
	}},
	{"append/big", "records of a megabyte and batches of hundreds are taken whole", func(c *check) {
		l := c.claim("r")
		big := make([]byte, 1<<20)
		rnd := rand.New(rand.NewPCG(1, 2))
		for i := range big {
			big[i] = byte(rnd.Uint32())
		}
		b := batch(l, 0, "a", "big", "b")
		b.Records[1] = big
		c.ok(c.Append(c.Context(), b), "appending a megabyte")
		many := make([]string, 500)
		for i := range many {
			many[i] = strings.Repeat(fmt.Sprint(i), 20)
		}
		c.ok(c.add(l, 3, many...), "appending many")
		got := c.log("r", 0)
		if len(got) != 503 || got[0] != "a" || !bytes.Equal([]byte(got[1]), big) || got[2] != "b" {
			c.failf("what was read back are %d records, or they differ", len(got))
		}
		c.same(many, got[3:], "what was appended as one batch")
	}},
	{"append/runs", "runs do not touch each other's logs", func(c *check) {
		var leases []pawl.Lease
		for i := range 50 {
			leases = append(leases, c.claim(fmt.Sprintf("run-%d", i)))
		}
		for n := range uint64(4) {
			for _, l := range leases {
				c.ok(c.add(l, n, fmt.Sprint(l.Run, " ", n)), "appending")
			}
		}
		for _, l := range leases {
			c.logIs(l.Run, l.Run+" 0", l.Run+" 1", l.Run+" 2", l.Run+" 3")
		}
	}},
	{"append/reopened", "logs outlive a restart, and go on after it", func(c *check) {
		l := c.claim("r")
		c.ok(c.add(l, 0, "a", "b"), "appending")
		c.reopen()
		c.logIs("r", "a", "b")
		c.is(c.add(l, 1, "x"), pawl.ErrConflict, "appending in the middle")
		c.ok(c.add(l, 2, "c"), "appending")
		c.reopen()
		c.logIs("r", "a", "b", "c")
	}},
}
