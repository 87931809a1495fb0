package journaltest

import (
	"fmt"

	"github.com/pawl-run/pawl"
)

var reads = []rule{
	{"read/unknown", "reading a run that does not exist yields ErrUnknownRun; one that holds nothing yet yields nothing", func(c *check) {
		var errs []error
		for _, err := range c.Read(c.Context(), "r", 0) {
			errs = append(errs, err)
		}
		if len(errs) != 1 {
			c.failf("an unknown run yields %d times", len(errs))
		}
		c.is(errs[0], pawl.ErrUnknownRun, "reading")
		c.claim("r")
		c.logIs("r")
	}},
	{"read/middle", "reading starts at the seq asked for, also within a batch, and past the end yields nothing", func(c *check) {
		l := c.claim("r")
		var all []string
		for _, n := range []int{1, 4, 2, 30, 1} {
			var records []string
			for range n {
				records = append(records, fmt.Sprint("record ", len(all)+len(records)+1))
			}
			c.ok(c.add(l, uint64(len(all)), records...), "appending")
			all = append(all, records...)
		}
		for from := range uint64(len(all) + 3) {
			want := all[min(max(int(from), 1)-1, len(all)):]
			c.same(append([]string{}, want...), c.log("r", from), fmt.Sprintf("the log from %d", from))
		}
		c.same([]string{}, c.log("r", 1<<62), "the log from far beyond its end")
	}},
	{"read/stop", "a reader may stop anywhere, and append while it reads", func(c *check) {
		l := c.claim("r")
		for i := range uint64(20) {
			c.ok(c.add(l, i, fmt.Sprint(i)), "appending")
		}
		n := uint64(0)
		for r, err := range c.Read(c.Context(), "r", 1) {
			c.ok(err, "reading")
			if n++; n == 7 {
				break
			}
			for nested, err := range c.Read(c.Context(), "r", r.Seq) {
				c.ok(err, "reading within a reader")
				c.same(r, nested, "the record read again")
				break
			}
			c.ok(c.add(l, 19+n, "more"), "appending while reading")
		}
		if got := len(c.log("r", 0)); got != 26 {
			c.failf("the log holds %d records, not 26", got)
		}
	}},
	{"read/own", "what is handed out belongs to the reader", func(c *check) {
		l := c.claim("r")
		c.ok(c.add(l, 0, "aaaa", "bbbb", "cccc"), "appending")
		for r, err := range c.Read(c.Context(), "r", 0) {
			c.ok(err, "reading")
			_ = append(r.Data, "overrun"...)
			for i := range r.Data {
				r.Data[i] = 'x'
			}
		}
		c.logIs("r", "aaaa", "bbbb", "cccc")
		kept := [][]byte{}
		for r, err := range c.Read(c.Context(), "r", 0) {
			c.ok(err, "reading")
			_ = append(r.Data, "overrun"...)
			kept = append(kept, r.Data)
		}
		c.same([][]byte{[]byte("aaaa"), []byte("bbbb"), []byte("cccc")}, kept, "what was kept from a read")
	}},
}
