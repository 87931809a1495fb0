package redact

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// mostLearned bounds the values that are looked for. Tokens are renewed for as
// long as a server runs, and each has some twenty forms.
const mostLearned = 256

// Learned are secrets that come to be known one after the other, such as tokens
// that are renewed. The latest 256 are kept out of texts. The zero value has
// none; it is safe for concurrent use.
type Learned struct {
	mu     sync.Mutex
	values []string
	forms  [][]pattern // of each value
	table  atomic.Pointer[table]
	added  atomic.Int64
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
	if slices.Contains(l.values, value) {
		return
	}
	oldest := max(0, len(l.values)+1-mostLearned)
	l.values, l.forms = append(l.values[oldest:], value), append(l.forms[oldest:], forms(name, value))
	t := new(table)
	for _, forms := range l.forms {
		t.add(forms)
	}
	l.table.Store(t)
	l.added.Add(1)
}

// Version differs after each value that was added.
func (l *Learned) Version() int64 { return l.added.Load() }

// With returns the secrets and those that are learned, now and later. s may be nil, and may have
// learned secrets of one Learned itself.
func (s *Secrets) With(l *Learned) (all Secrets) {
	if s != nil {
		all = *s
	}
	all.learned = [2]*Learned{all.learned[0], l}
	if all.learned[0] == nil {
		all.learned = [2]*Learned{l}
	}
	return all
}
