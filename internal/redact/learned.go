package redact

import (
	"strings"
	"sync"
	"sync/atomic"
)

// mostLearned bounds the values that are looked for. Tokens are renewed for as
// long as a server runs, and each has some twenty forms.
const mostLearned = 256

type pair struct{ name, value string }

// Learned are secrets that come to be known one after the other, such as tokens
// that are renewed. The latest 256 are kept out of texts. The zero value has
// none; it is safe for concurrent use.
type Learned struct {
	mu      sync.Mutex
	pairs   []pair // never changed in place
	version atomic.Int64
}

// Add adds a value. One that is too short to be found is left out.
func (l *Learned) Add(name, value string) {
	name = strings.Map(func(r rune) rune {
		if unnameable(r) {
			return '_'
		}
		return r
	}, name)
	if len(strings.TrimSpace(value)) < Least || name == "" || strings.Contains(value, opening) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pairs {
		if p.value == value {
			return
		}
	}
	l.pairs = append(l.pairs[max(0, len(l.pairs)+1-mostLearned):len(l.pairs):len(l.pairs)], pair{name, value})
	l.version.Add(1)
}

// Version differs after each value that was added.
func (l *Learned) Version() int64 {
	if l == nil {
		return 0
	}
	return l.version.Load()
}

// since returns the values if there are some that a table lacks; else nil.
func (l *Learned) since(t *table) (pairs []pair, version int64) {
	have := int64(0)
	if t != nil {
		have = t.version
	}
	if l.version.Load() == have {
		return nil, have
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pairs, l.version.Load()
}

// With returns the secrets and those that are learned, now and later. s may be nil.
func (s *Secrets) With(l *Learned) *Secrets {
	if l == nil {
		return s
	}
	both := &Secrets{learned: l}
	if s != nil {
		both.values = s.values
		both.known.Store(s.known.Load())
	}
	return both
}
