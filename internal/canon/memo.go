package canon

import "sync"

// A Memo keeps what was made of a text, for texts that tend to come again. It
// is safe for concurrent use, and the zero Memo is empty. What it keeps is
// handed to everybody who asks: it must not be changed.
type Memo[V any] struct {
	mu   sync.Mutex
	kept map[string]V
}

// mostKept bounds a Memo. When it is full it is emptied: a program with more
// texts than that makes them up as it goes, and gains nothing from keeping any.
const mostKept = 256

// Get returns what made returns for the text, which it may be asked for more
// than once.
func (m *Memo[V]) Get(text []byte, made func() V) V {
	m.mu.Lock()
	v, ok := m.kept[string(text)]
	m.mu.Unlock()
	if ok {
		return v
	}
	v = made()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= mostKept {
		m.kept = make(map[string]V)
	}
	m.kept[string(text)] = v
	return v
}
