package client

import (
	"context"
	"math/rand/v2"
	"time"
)

// jitter is the nth pause between tries: up to twice as long as the one before,
// drawn at random so that clients that broke together do not come back together
// ("full jitter" of "Exponential Backoff And Jitter", Marc Brooker, 2015), but
// not from nothing, so that no pause is none.
func jitter(first, most time.Duration, n int) time.Duration {
	d := min(most, first<<min(n, 16))
	return d/4 + rand.N(d-d/4+1) //nolint:gosec // nobody gains from guessing it
}

// sleep waits, unless ctx ends.
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
