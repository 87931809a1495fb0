package engine

// BeginClose is the beginning of Close: no run is suspended yet.
func BeginClose(e *Engine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		close(e.closing)
	}
}

// Suspends reports whether every run that the engine drives has been asked to stop.
func Suspends(e *Engine) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range e.live {
		if _, suspend, _ := d.inbox.wanted(); !suspend {
			return false
		}
	}
	return e.closed
}
