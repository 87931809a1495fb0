package journaltest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// shredder is the journal as one that can forget.
func (c *check) shredder() pawl.Remover {
	c.Helper()
	r, ok := c.Journal.(pawl.Remover)
	if !ok {
		c.Skip("this journal removes nothing")
	}
	return r
}

func (c *check) gone(run string) {
	c.Helper()
	var err error
	for _, err = range c.Read(c.Context(), run, 0) {
		break
	}
	c.is(err, pawl.ErrUnknownRun, "reading a removed run")
	_, err = c.Claim(c.Context(), pawl.Claim{Run: run, TTL: time.Minute})
	c.is(err, pawl.ErrUnknownRun, "claiming a removed run")
}

var removals = []rule{
	{"remove/run", "a removed run is gone with its head, its lease and its letters, and no other is", func(c *check) {
		r := c.shredder()
		a, b := c.claim("a"), c.claim("b")
		c.ok(errors.Join(c.add(a, 0, "a1", "a2"), c.add(b, 0, "b1", "b2"), c.add(a, 2, "a3")), "appending")
		box, mail := c.Journal.(pawl.Inbox)
		if mail {
			for _, run := range []string{"a", "b"} {
				c.post(signal(run, "q", `1`), "posting")
			}
		}
		c.ok(r.Remove(c.Context(), "a", a.Epoch), "removing")
		c.gone("a")
		c.logIs("b", "b1", "b2")
		c.listIs(pawl.Query{}, "b")
		c.is(c.add(a, 3, "a4"), pawl.ErrUnknownRun, "appending to a removed run")
		if mail {
			c.same([]pawl.Signal{}, c.mail("a", 0), "the mail of a removed run")
			c.same(1, len(c.mail("", 0)), "the letters that are left")
			_, err := box.Send(c.Context(), signal("a", "p", `1`))
			c.is(err, pawl.ErrUnknownRun, "posting to a removed run")
		}
		c.is(r.Remove(c.Context(), "a", a.Epoch), pawl.ErrUnknownRun, "removing it again")
		c.ok(c.add(b, 2, "b3"), "appending to the other")
	}},
	{"remove/fenced", "only the holder of the lease removes a run", func(c *check) {
		r := c.shredder()
		old := c.claim("r")
		c.ok(c.add(old, 0, "one"), "appending")
		now := c.take(pawl.Claim{Run: "r", Owner: "next", TTL: time.Minute, Over: old.Epoch}, "taking the run over")
		c.is(r.Remove(c.Context(), "r", old.Epoch), pawl.ErrFenced, "removing with a lease that was lost")
		c.logIs("r", "one")
		c.ok(c.add(now, 1, "two"), "appending with the lease")
		c.ok(r.Remove(c.Context(), "r", now.Epoch), "removing with the lease")
		c.gone("r")
	}},
	{"remove/reused", "a run made under the id of a removed one is empty, and the old owner cannot write to it", func(c *check) {
		r := c.shredder()
		old := c.claim("r")
		c.ok(c.add(old, 0, "old", "old"), "appending")
		c.ok(r.Remove(c.Context(), "r", old.Epoch), "removing")
		now := c.claim("r")
		c.logIs("r")
		c.is(c.add(old, 2, "late"), pawl.ErrConflict, "an append of the old owner")
		c.ok(c.add(now, 0, "new"), "appending")
		c.logIs("r", "new")
	}},
	{"remove/letters", "the id of a letter is not given again, not even when the last one was removed", func(c *check) {
		r := c.shredder()
		l := c.claim("gone")
		c.claim("stays")
		last := c.post(signal("gone", "q", `1`), "posting")
		c.ok(r.Remove(c.Context(), "gone", l.Epoch), "removing")
		next := c.post(signal("stays", "q", `1`), "posting")
		if next.ID <= last.ID {
			c.failf("the letter after %d has the ID %d", last.ID, next.ID)
		}
	}},
	{"remove/race", "of many that remove a run at once, one does", func(c *check) {
		r := c.shredder()
		l := c.claim("r")
		c.ok(c.add(l, 0, "one"), "appending")
		done := 0
		for _, err := range race(8, func(int) error { return r.Remove(c.Context(), "r", l.Epoch) }) {
			if err == nil {
				done++
			} else {
				c.is(err, pawl.ErrUnknownRun, "coming late")
			}
		}
		c.same(1, done, "how many removed it")
	}},
	{"remove/read", "a reader of a run that is removed gets the whole log or learns that the run is gone", func(c *check) {
		l := c.claim("r")
		var records []string
		for i := range 1000 {
			records = append(records, fmt.Sprint(i, strings.Repeat("x", 3000)))
		}
		c.ok(errors.Join(c.add(l, 0, records...), c.add(l, 1000, records...)), "appending")
		n := 0
		for r, err := range c.Read(c.Context(), "r", 1) {
			if err != nil {
				c.is(err, pawl.ErrUnknownRun, "reading on")
				return
			}
			if n++; r.Seq == 1 {
				c.ok(c.shredder().Remove(c.Context(), "r", l.Epoch), "removing")
			}
		}
		c.same(2000, n, "how many records were read")
	}},
	{"remove/reopened", "what was removed stays removed over a restart", func(c *check) {
		l := c.claim("r")
		c.claim("other")
		c.ok(c.add(l, 0, "one"), "appending")
		c.ok(c.shredder().Remove(c.Context(), "r", l.Epoch), "removing")
		c.reopen()
		c.gone("r")
		c.listIs(pawl.Query{}, "other")
	}},
	{"remove/blobs", "blobs that are old and not wanted go, and the others stay", func(c *check) {
		r, s := c.shredder(), c.store()
		all := samples()
		for _, data := range all {
			c.ok(s.PutBlob(c.Context(), digest(data), data), "storing")
		}
		past, later := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		n, err := r.RemoveBlobs(c.Context(), past, func(string) bool { return false })
		c.ok(err, "removing what is older than an hour")
		c.same(0, n, "how many were removed")
		c.blobsAre()
		wanted := digest(all[2])
		n, err = r.RemoveBlobs(c.Context(), later, func(name string) bool { return name == wanted })
		c.ok(err, "removing all but one")
		c.same(len(all)-1, n, "how many were removed")
		for _, data := range all {
			got, err := s.Blob(c.Context(), digest(data))
			if digest(data) == wanted {
				c.ok(err, "asking for the one that is wanted")
				c.same(string(data), string(got), "it")
			} else {
				c.is(err, pawl.ErrUnknownBlob, "asking for a removed one")
			}
		}
		n, err = r.RemoveBlobs(c.Context(), later, func(name string) bool { return name == wanted })
		c.ok(err, "removing again")
		c.same(0, n, "how many were removed")
	}},
	{"remove/stored", "a blob that was stored again since is not old", func(c *check) {
		r, s := c.shredder(), c.store()
		data := []byte("text")
		c.ok(s.PutBlob(c.Context(), digest(data), data), "storing")
		time.Sleep(5 * time.Millisecond)
		between := time.Now()
		time.Sleep(5 * time.Millisecond)
		c.ok(s.PutBlob(c.Context(), digest(data), data), "storing again")
		n, err := r.RemoveBlobs(c.Context(), between, func(string) bool { return false })
		c.ok(err, "removing")
		c.same(0, n, "how many were removed")
	}},
}
