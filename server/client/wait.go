package client

import (
	"context"
	"math/rand/v2"
	"time"
)

// jitter returns the nth pause between retries: random, with a limit that doubles, so that
// clients do not reconnect at once ("full jitter" of "Exponential Backoff And Jitter", Marc
// Brooker, 2015), but at least a quarter of the limit.
func jitter(first, most time.Duration, n int) time.Duration {
	d := min(most, first<<min(n, 16))
	return d/4 + rand.N(d-d/4+1) //nolint:gosec // nobody gains from guessing it
}

// sleep waits for d, unless ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
