package journaltest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
)

// crowd is how many goroutines race.
const crowd = 64

// race runs f in a crowd that starts at once and collects what it says.
func race(n int, f func(i int) error) []error {
	errs := make([]error, n)
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	ready.Add(n)
	for i := range n {
		done.Go(func() {
			ready.Done()
			<-start
			errs[i] = f(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	return errs
}

// winner insists on exactly one nil among errs; lost says whether an error is
// the one losers should get.
func (c *check) winner(errs []error, lost func(error) bool) int {
	c.Helper()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			c.failf("both %d and %d won", won, i)
		case err == nil:
			won = i
		case !lost(err):
			c.failf("a loser was told %v", err)
		}
	}
	if won < 0 {
		c.failf("no claim won")
	}
	return won
}

var races = []rule{
	{"race/new", "of many that create the same run exactly one wins", func(c *check) {
		errs := race(crowd, func(i int) error {
			_, err := c.Claim(c.Context(), pawl.Claim{Run: "r", Owner: fmt.Sprint(i), TTL: time.Minute, New: true})
			return err
		})
		won := c.winner(errs, func(err error) bool { return errors.Is(err, pawl.ErrRunExists) })
		c.owned("r", fmt.Sprint(won), 1)
	}},
	{"race/free", "of many that claim a free run exactly one wins", func(c *check) {
		l := c.claim("r")
		c.take(pawl.Claim{Run: "r", Epoch: l.Epoch}, "giving it up")
		errs := race(crowd, func(i int) error {
			_, err := c.Claim(c.Context(), pawl.Claim{Run: "r", Owner: fmt.Sprint(i), TTL: time.Minute})
			return err
		})
		won := c.winner(errs, isHeld)
		c.owned("r", fmt.Sprint(won), l.Epoch+1)
	}},
	{"race/over", "of many that take over the same lease exactly one wins", func(c *check) {
		l := c.claim("r")
		errs := race(crowd, func(i int) error {
			_, err := c.Claim(c.Context(), pawl.Claim{Run: "r", Owner: fmt.Sprint(i), TTL: time.Minute, Over: l.Epoch})
			return err
		})
		won := c.winner(errs, isHeld)
		c.owned("r", fmt.Sprint(won), l.Epoch+1)
	}},
	{"race/append", "of many that append at the same place exactly one wins, and its batch is whole", func(c *check) {
		l := c.claim("r")
		errs := race(crowd, func(i int) error {
			return c.add(l, 0, fmt.Sprint(i, "a"), fmt.Sprint(i, "b"), fmt.Sprint(i, "c"))
		})
		won := c.winner(errs, func(err error) bool { return errors.Is(err, pawl.ErrConflict) })
		c.logIs("r", fmt.Sprint(won, "a"), fmt.Sprint(won, "b"), fmt.Sprint(won, "c"))
	}},
	{"race/runs", "appends to different runs do not fail each other, and one's conflict is its own", func(c *check) {
		var leases []pawl.Lease
		for i := range crowd {
			leases = append(leases, c.claim(fmt.Sprint("run-", i)))
		}
		const each = 10
		errs := race(crowd, func(i int) error {
			for n := range uint64(each) {
				if err := c.add(leases[i], n, fmt.Sprint(i, " ", n)); err != nil {
					return err
				}
				// A quarter of the crowd keeps running into its own conflicts.
				if i%4 == 0 && !errors.Is(c.add(leases[i], n, "x"), pawl.ErrConflict) {
					return errors.New("an append in the middle was taken")
				}
			}
			return nil
		})
		c.ok(errors.Join(errs...), "appending")
		for i, l := range leases {
			var want []string
			for n := range each {
				want = append(want, fmt.Sprint(i, " ", n))
			}
			c.logIs(l.Run, want...)
		}
	}},
	{"race/batches", "a reader sees batches whole or not at all", func(c *check) {
		l := c.claim("r")
		done := make(chan error, 1)
		go func() {
			for n := range uint64(60) {
				if err := c.add(l, n*5, "1", "2", "3", "4", "5"); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		for {
			select {
			case err := <-done:
				c.ok(err, "appending")
				c.whole("r", 300)
				return
			default:
				c.whole("r", -1)
			}
		}
	}},
}

func (c *check) whole(run string, want int) {
	c.Helper()
	if n := len(c.log(run, 0)); n%5 != 0 || want >= 0 && n != want {
		c.failf("%d records of batches of five were read", n)
	}
}

func (c *check) owned(run, owner string, epoch uint64) {
	c.Helper()
	if l := c.heads(pawl.Query{Run: run})[0].Lease; l.Owner != owner || l.Epoch != epoch {
		c.failf("%s won, but the lease is %+v", owner, l)
	}
}

func isHeld(err error) bool {
	held := new(pawl.HeldError)
	return errors.As(err, &held)
}
