package engine

import (
	"math/rand/v2"
	"time"
)

// fullJitter is "full jitter" of M. Brooker, "Exponential Backoff And Jitter"
// (2015): a random wait up to an exponential bound.
func fullJitter(n int) time.Duration {
	bound := min(30*time.Second, 500*time.Millisecond<<min(n-1, 10))
	return rand.N(bound) + time.Millisecond //nolint:gosec // it spreads load, and is no secret
}
