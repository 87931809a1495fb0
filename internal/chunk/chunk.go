// Package chunk has lists that grow without moving what they hold: a slice that
// doubles allocates more than twice as much.
package chunk

import (
	"iter"
	"slices"
)

const size = 16

// A List is a list of values, of which the zero List has none. A copy of it keeps
// its values, of which the last few may be changed by the original; see Clone.
type List[T any] struct {
	full []*[size]T
	last *[size]T
	n    int
}

// Len returns how many values the list has.
func (l *List[T]) Len() int { return l.n }

// At returns where value i is.
func (l *List[T]) At(i int) *T {
	if at := i / size; at < len(l.full) {
		return &l.full[at][i%size]
	}
	return &l.last[i%size]
}

// Add adds a value.
func (l *List[T]) Add(v T) {
	if l.n%size == 0 {
		if l.n > 0 {
			l.full = append(l.full, l.last)
		}
		l.last = new([size]T)
	}
	l.last[l.n%size] = v
	l.n++
}

// Clone returns a list of the same values. Adding to one of the two, or changing
// the last value, leaves the other as it is.
func (l *List[T]) Clone() List[T] {
	c := List[T]{slices.Clip(l.full), l.last, l.n}
	if c.last != nil {
		c.last = new(*c.last)
	}
	return c
}

// All yields the values.
func (l *List[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range l.n {
			if !yield(*l.At(i)) {
				return
			}
		}
	}
}
