package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// gates hold back calls to an endpoint that has said it is called too often,
// for all runs of an engine: without them every run finds out for itself, and
// together they never let up. Whoever waited sets off at a time of his own, so
// that they do not all come at once when a gate opens.
type gates struct {
	last  atomic.Int64 // when the last gate opens, in Unix nanoseconds; spares most calls the lock
	mu    sync.Mutex
	gates map[string]gate // by endpoint
}

type gate struct {
	opens   time.Time
	refused int // in a row, each counted once it had opened again
}

// refuse closes the gate of an endpoint until a time.
func (g *gates) refuse(endpoint string, until, now time.Time) {
	if endpoint == "" {
		return // a model within this process
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gates == nil {
		g.gates = map[string]gate{}
	}
	was := g.gates[endpoint]
	if !now.Before(was.opens) {
		was.refused++
	}
	if until.After(was.opens) {
		was.opens = until
	}
	g.gates[endpoint] = was
	g.last.Store(max(g.last.Load(), was.opens.UnixNano()))
}

// answer forgets what was refused, because the endpoint replies again.
func (g *gates) answer(endpoint string) {
	if g.last.Load() == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.gates, endpoint)
	if len(g.gates) == 0 {
		g.last.Store(0)
	}
}

// wait says how long to hold a call back, and how often its endpoint refused
// in a row; zero: not at all.
func (g *gates) wait(endpoint string, now time.Time) (time.Duration, int) {
	if now.UnixNano() >= g.last.Load() {
		return 0, 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.gates[endpoint]
	return max(0, was.opens.Sub(now)), was.refused
}

// mostHeld is the longest a call is held back for what other runs were told.
// When a provider wants hours, each run asks for itself, and is parked.
const mostHeld = 5 * time.Minute

// held is how long the run's next call waits for its endpoint. One that would
// wait beyond its run's time does not: it hears from the provider itself, and
// the machine ends the run on what the log then says.
func held(r *recorder, endpoint string, now time.Time) time.Duration {
	wait, refused := r.engine.gates.wait(endpoint, now)
	if wait <= 0 || wait > mostHeld {
		return 0
	}
	if wait += r.engine.opt.Backoff(refused); wait >= r.left(now) {
		return 0
	}
	return wait
}
