package engine

import (
	"sync"
	"time"
)

// rateLimits hold back calls of all runs of an engine to an endpoint that has refused one
// for its rate. Without them every run would find the limit by itself, and together they
// would keep exceeding it.
type rateLimits struct {
	mu         sync.Mutex
	byEndpoint map[string]rateLimit // models in this process have the empty endpoint, which is never limited
}

type rateLimit struct {
	until   time.Time
	refused int // in a row, each counted once calls were let through again
}

// refused records that an endpoint refuses calls until a given time.
func (l *rateLimits) refused(endpoint string, until, now time.Time) {
	if endpoint == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byEndpoint == nil {
		l.byEndpoint = map[string]rateLimit{}
	}
	was := l.byEndpoint[endpoint]
	if !now.Before(was.until) {
		was.refused++
	}
	if until.After(was.until) {
		was.until = until
	}
	l.byEndpoint[endpoint] = was
}

// replied clears the limit of an endpoint that replies again.
func (l *rateLimits) replied(endpoint string) {
	if endpoint != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.byEndpoint, endpoint)
	}
}

// maxHeld is the longest that a call is held back for a refusal of another run. If a
// provider wants longer, each run calls by itself and is suspended.
const maxHeld = 5 * time.Minute

// held is how long the run's next call waits for its endpoint, slightly different for each
// run so that they do not all call at once. A call that would wait beyond its run's time is
// not held back: the provider's answer is logged, and the machine ends the run on it.
func held(r *recorder, endpoint string, now time.Time) time.Duration {
	if endpoint == "" {
		return 0
	}
	l := &r.engine.limits
	l.mu.Lock()
	limit := l.byEndpoint[endpoint]
	l.mu.Unlock()
	wait := limit.until.Sub(now)
	if wait <= 0 || wait > maxHeld {
		return 0
	}
	if wait += r.engine.opt.Backoff(limit.refused); wait >= timeLeft(r.state, now) {
		return 0
	}
	return wait
}
