package export

import "sync"

// end is where failures are told, once, and that there will be no more of them.
type end struct {
	failed func(error) // nil: nobody is told
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

// close lets go of what is still being sent, and reports whether a failure was told.
func (e *end) close() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.closed = true
		close(e.over)
	}
	return e.told
}
