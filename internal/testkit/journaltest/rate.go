package journaltest

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// A limiter is a journal whose programs share rates; see engine.Limiter.
type limiter interface {
	Reserve(ctx context.Context, name string, requests, tokens, within time.Duration) (wait time.Duration, err error)
}

// reserve takes from the buckets r, within any time unless said.
func (c *check) reserve(requests, tokens time.Duration, within ...time.Duration) time.Duration {
	c.Helper()
	return c.reserveOf("r", requests, tokens, within...)
}

func (c *check) reserveOf(name string, requests, tokens time.Duration, within ...time.Duration) time.Duration {
	c.Helper()
	l, ok := c.Journal.(limiter)
	if !ok {
		c.Skip("this journal keeps no rates")
	}
	within = append(within, math.MaxInt64)
	wait, err := l.Reserve(c.Context(), name, requests, tokens, within[0])
	c.ok(err, "reserving")
	return wait
}

// waits insists on a wait, from which the time that the test takes may be missing.
func (c *check) waits(want, got time.Duration, doing string) {
	c.Helper()
	if got > want || got < want-20*time.Second || want == 0 && got != 0 {
		c.failf("%s: the wait is %v, not %v or a little less", doing, got, want)
	}
}

var rates = []rule{
	{"rate/burst", "a bucket holds a minute, and what exceeds it waits for its turn, in the order of the calls", func(c *check) {
		c.waits(0, c.reserve(40*time.Second, 0), "the first call")
		c.waits(0, c.reserve(20*time.Second, 0), "what is left of the minute")
		c.waits(time.Minute, c.reserve(time.Minute, 0), "the next call")
		c.waits(90*time.Second, c.reserve(30*time.Second, 0), "the one after it")
	}},
	{"rate/within", "a call that would wait longer than it may takes nothing", func(c *check) {
		c.waits(0, c.reserve(time.Minute, 0), "the first call")
		for range 3 {
			c.waits(30*time.Second, c.reserve(30*time.Second, time.Minute, 5*time.Second), "a call that waits too long")
		}
		c.waits(time.Minute, c.reserve(time.Minute, 0, time.Minute), "a call that waits as long as it may")
	}},
	{"rate/both", "a call gets its turn when both buckets have what it takes", func(c *check) {
		c.waits(0, c.reserve(time.Second, time.Minute), "the first call")
		c.waits(time.Minute, c.reserve(time.Second, time.Minute), "a call without tokens left")
		c.waits(time.Minute, c.reserve(118*time.Second, 0), "a call without requests left")
	}},
	{"rate/large", "a call that takes more than a bucket holds has its turn when the bucket is full", func(c *check) {
		c.waits(0, c.reserve(0, time.Hour), "a call for a full bucket")
		c.waits(time.Hour-time.Minute+time.Second, c.reserve(0, time.Second), "the call after it")
		c.waits(time.Hour+time.Second, c.reserve(0, time.Hour), "another large call")
	}},
	{"rate/settle", "what was not used is given back, and what was used in addition is taken", func(c *check) {
		c.waits(0, c.reserve(time.Second, time.Minute), "a call")
		c.waits(0, c.reserve(-time.Second, -time.Minute), "giving it all back")
		c.waits(0, c.reserve(time.Minute, time.Minute), "a whole minute")
		c.reserve(0, time.Minute)
		c.waits(2*time.Minute, c.reserve(0, time.Minute), "a call after more was used")
		c.reserve(0, -90*time.Second)
		c.waits(time.Minute, c.reserve(0, 30*time.Second), "a call after some was given back")
	}},
	{"rate/full", "a full bucket takes nothing back", func(c *check) {
		c.reserve(0, -time.Hour)
		c.waits(0, c.reserve(0, time.Minute), "a minute")
		c.waits(time.Minute, c.reserve(0, time.Minute), "another one")
	}},
	{"rate/fills", "a bucket fills with time", func(c *check) {
		c.reserve(time.Minute, 0)
		before := c.reserve(time.Minute, 0, 0)
		time.Sleep(short)
		if after := c.reserve(time.Minute, 0, 0); before-after < short || before-after > 20*time.Second {
			c.failf("after %v the wait is %v, before it was %v", short, after, before)
		}
	}},
	{"rate/names", "rates of different names are apart", func(c *check) {
		c.reserve(time.Minute, 0)
		c.waits(0, c.reserveOf("s", time.Minute, 0), "another name")
	}},
	{"rate/race", "of many callers each takes its own part", func(c *check) {
		c.reserve(0, 0)
		var at atomic.Int64
		for _, err := range race(20, func(int) error {
			for range 6 {
				wait, err := c.Journal.(limiter).Reserve(c.Context(), "r", time.Second, 0, 0)
				if err != nil {
					return err
				}
				if wait == 0 {
					at.Add(1)
				}
			}
			return nil
		}) {
			c.ok(err, "reserving")
		}
		if n := at.Load(); n < 60 || n > 80 {
			c.failf("%d calls had their turn at once, of 60", n)
		}
	}},
	{"rate/reopened", "what was taken outlives a restart", func(c *check) {
		c.reserve(time.Minute, 0)
		c.reopen()
		c.waits(time.Minute, c.reserve(time.Minute, 0), "a call after a restart")
	}},
}
