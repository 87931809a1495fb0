package journaltest

import (
	"time"

	"github.com/pawl-run/pawl"
)

// short is a lease that lapses while a test waits.
const short = 30 * time.Millisecond

var claims = []rule{
	{"claim/new", "a fresh run is claimed at epoch one, and only once as new", func(c *check) {
		before := time.Now()
		l := c.claim("r")
		if l.Run != "r" || l.Owner != "me" || l.Epoch != 1 {
			c.failf("the first lease is %+v", l)
		}
		if d := l.Until.Sub(before); d < 50*time.Second || d > 70*time.Second {
			c.failf("a lease of a minute is good for %v", d)
		}
		_, err := c.Claim(c.Context(), pawl.Claim{Run: "r", Owner: "you", TTL: time.Minute, New: true})
		c.is(err, pawl.ErrRunExists, "claiming it as new again")
	}},
	{"claim/unknown", "a run that was not created is unknown to every claim but a new one", func(c *check) {
		for _, k := range []pawl.Claim{
			{Run: "r", Owner: "me", TTL: time.Minute},
			{Run: "r", Owner: "me", TTL: time.Minute, Over: 1},
			{Run: "r", Owner: "me", TTL: time.Minute, Epoch: 1},
			{Run: "r", Owner: "me", Epoch: 1},
		} {
			_, err := c.Claim(c.Context(), k)
			c.is(err, pawl.ErrUnknownRun, "claiming an unknown run")
		}
		c.claim("r")
	}},
	{"claim/live", "a live lease is refused with its owner named, and stays as it is", func(c *check) {
		l := c.claim("r")
		for _, over := range []uint64{0, l.Epoch + 1} {
			c.about(l, c.held(pawl.Claim{Run: "r", Owner: "you", TTL: time.Minute, Over: over}, "claiming a run with a live owner"), "the lease in the error")
		}
		c.ok(c.add(l, 0, "a"), "the owner's append after that")
	}},
	{"claim/lapsed", "a lapsed lease can be taken, and taking raises the epoch by one", func(c *check) {
		l := c.take(pawl.Claim{Run: "r", Owner: "me", TTL: short, New: true}, "claiming")
		time.Sleep(2 * short)
		next := c.take(pawl.Claim{Run: "r", Owner: "you", TTL: time.Minute}, "claiming what has lapsed")
		if next.Epoch != l.Epoch+1 || next.Owner != "you" || next.Run != "r" {
			c.failf("after %+v the next lease is %+v", l, next)
		}
	}},
	{"claim/over", "a live lease can be taken over by naming its epoch", func(c *check) {
		l := c.claim("r")
		next := c.take(pawl.Claim{Run: "r", Owner: "you", TTL: time.Minute, Over: l.Epoch}, "taking over")
		if next.Epoch != l.Epoch+1 || next.Owner != "you" {
			c.failf("after %+v the next lease is %+v", l, next)
		}
		c.held(pawl.Claim{Run: "r", Owner: "third", TTL: time.Minute, Over: l.Epoch}, "naming an epoch that is past")
	}},
	{"claim/renew", "a renewed lease keeps its epoch and owner and lives longer", func(c *check) {
		l := c.take(pawl.Claim{Run: "r", Owner: "me", TTL: short, New: true}, "claiming")
		next := c.take(pawl.Claim{Run: "r", Owner: "me", TTL: time.Minute, Epoch: l.Epoch}, "renewing")
		if next.Epoch != l.Epoch || next.Owner != "me" || !next.Until.After(l.Until) {
			c.failf("%+v is renewed as %+v", l, next)
		}
		time.Sleep(2 * short)
		c.held(pawl.Claim{Run: "r", Owner: "you", TTL: time.Minute}, "claiming what was renewed")
	}},
	{"claim/late", "a lease that has lapsed but was not taken can still be renewed", func(c *check) {
		l := c.take(pawl.Claim{Run: "r", Owner: "me", TTL: short, New: true}, "claiming")
		time.Sleep(2 * short)
		next := c.take(pawl.Claim{Run: "r", Owner: "me", TTL: time.Minute, Epoch: l.Epoch}, "renewing late")
		if next.Epoch != l.Epoch {
			c.failf("%+v is renewed as %+v", l, next)
		}
	}},
	{"claim/release", "a lease that was given up is free at once, and giving it up twice is harmless", func(c *check) {
		l := c.claim("r")
		for range 2 {
			gone := c.take(pawl.Claim{Run: "r", Owner: "me", Epoch: l.Epoch}, "giving it up")
			if !gone.Until.IsZero() {
				c.failf("a lease given up is good until %v", gone.Until)
			}
		}
		if l := c.heads(pawl.Query{})[0].Lease; !l.Until.IsZero() {
			c.failf("a free run is listed with the lease %+v", l)
		}
		next := c.take(pawl.Claim{Run: "r", Owner: "you", TTL: time.Minute}, "claiming what is free")
		if next.Epoch != l.Epoch+1 {
			c.failf("after %+v the next lease is %+v", l, next)
		}
	}},
	{"claim/fenced", "an owner that was replaced can neither renew nor give up", func(c *check) {
		l := c.claim("r")
		next := c.take(pawl.Claim{Run: "r", Owner: "you", TTL: time.Minute, Over: l.Epoch}, "taking over")
		for _, ttl := range []time.Duration{time.Minute, 0, -1} {
			_, err := c.Claim(c.Context(), pawl.Claim{Run: "r", Owner: "me", TTL: ttl, Epoch: l.Epoch})
			c.is(err, pawl.ErrFenced, "the old owner's claim")
		}
		c.about(next, c.heads(pawl.Query{})[0].Lease, "the new owner's lease")
	}},
	{"claim/reopened", "leases outlive a restart", func(c *check) {
		l := c.claim("r")
		c.reopen()
		c.about(l, c.held(pawl.Claim{Run: "r", Owner: "you", TTL: time.Minute}, "claiming after a restart"), "the lease after a restart")
	}},
}

// about compares leases; a store may round their end to a microsecond.
func (c *check) about(want, got pawl.Lease, what string) {
	c.Helper()
	if d := want.Until.Sub(got.Until).Abs(); d > 2*time.Microsecond {
		c.failf("%s ends %v away from where it should", what, d)
	}
	want.Until, got.Until = time.Time{}, time.Time{}
	c.same(want, got, what)
}
