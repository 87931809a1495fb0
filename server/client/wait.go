package client

import (
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
