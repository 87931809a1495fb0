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
