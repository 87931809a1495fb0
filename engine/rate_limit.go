package engine

import (
	"sync"
	"time"
)

// rateLimits hold back calls to an endpoint that has refused one as too many, for
// all runs of an engine: without them every run finds out for itself, and together
// they never let up.
type rateLimits struct {
	mu         sync.Mutex
	byEndpoint map[string]rateLimit // that of models within this process is empty, and never limited
}

type rateLimit struct {
	until   time.Time
	refused int // in a row, each counted once calls were let through again
}

// refused records that an endpoint refuses calls until a time.
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

// replied forgets what an endpoint refused, because it replies again.
func (l *rateLimits) replied(endpoint string) {
	if endpoint != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.byEndpoint, endpoint)
	}
}

// maxHeld is the longest a call is held back for what other runs were refused.
// When a provider wants hours, each run asks for itself, and is suspended.
const maxHeld = 5 * time.Minute

// held is how long the run's next call waits for its endpoint, each run for a time
// of its own, so that they do not all call at once. One that would wait beyond its
// run's time does not: it hears from the provider itself, and the machine ends the
// run on what the log then says.
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
