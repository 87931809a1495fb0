package export

import "sync"

// end reports the first failure, once, until it is closed.
type end struct {
	failed func(error) // may be nil
	over   chan struct{}
	mu     sync.Mutex
	told   bool
	closed bool
}

func (e *end) tell(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed != nil && !e.told && !e.closed {
		e.told = true
		e.failed(err)
	}
}

// close gives up what is still being sent, and reports whether a failure was reported.
func (e *end) close() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		close(e.over)
	}
	return e.told
}
