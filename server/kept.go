package server

import (
	"sync"

	"github.com/pawl-run/pawl"
)

// A kept is what was read of the logs of runs that have ended: pages are asked for
// every few seconds, and each run of them takes a log to read.
type kept[T any] struct {
	mu    sync.Mutex
	known map[logKey]T
}

// logKey is a log as far as it goes.
type logKey struct {
	run string
	seq uint64
}

// mostKept is how many logs a kept is of. When there are more, all are read again.
const mostKept = 2000

func (m *kept[T]) of(h pawl.Head, read func() (T, error)) (T, error) {
	if !h.Status.Ended() {
		return read()
	}
	key := logKey{h.Run, h.Seq}
	m.mu.Lock()
	v, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := read()
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= mostKept {
		m.known = map[logKey]T{}
	}
	m.known[key] = v
	return v, nil
}
