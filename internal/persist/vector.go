// Package persist holds a vector whose versions share memory: every change
// returns a new version and leaves the old one as it was. A clone of a state
// therefore costs nothing for the turns and calls it shares with the original.
//
// Versions are small values, zero ones empty. Any number of goroutines may read
// and change any versions at the same time; only a variable that holds a version
// needs care of its own, like every variable.
package persist

import (
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
)

const (
	bits  = 5
	width = 1 << bits
	mask  = width - 1
)

// A Vector is an immutable list. It is a trie of 32 ways whose last items sit in
// a tail outside the trie, after Clojure's PersistentVector (Bagwell's tries,
// "Ideal Hash Trees", 2001). At, Set and Append take at most log32(n) steps.
//
// Other than there, versions share their tail, and the first version to append
// takes the next slot in place: a log that is always appended to its newest
// version copies an item only while the vector has fewer than 32. A version that
// comes second copies the tail instead, so no version sees another's items.
type Vector[T any] struct {
	n     int
	shift int        // of the root: 5 for a branch of leaves
	root  *branch[T] // all leaves before the tail, nil when there are none
	tail  *leaf[T]   // the last 1 to 32 items, nil when the vector is empty
}

// A branch has leaves or, further up, kids.
type branch[T any] struct {
	kids   []*branch[T]
	leaves []*leaf[T]
}

// A leaf is a tail or was one. taken is how many slots belong to some version;
// a version of k items in this tail may only read slots below k, and whoever
// moves taken from k to k+1 may write slot k.
type leaf[T any] struct {
	taken atomic.Int32
	items []T
}

func newLeaf[T any](items []T, room int) *leaf[T] {
	l := &leaf[T]{items: make([]T, room)}
	l.taken.Store(int32(copy(l.items, items)))
	return l
}

// VectorOf returns a vector of these items.
func VectorOf[T any](items ...T) Vector[T] {
	var v Vector[T]
	for _, x := range items {
		v = v.Append(x)
	}
	return v
}

// Len returns the number of items.
func (v Vector[T]) Len() int { return v.n }

// tailStart is the index of the tail's first item.
func (v Vector[T]) tailStart() int { return max(v.n-1, 0) &^ mask }

// At returns item i and panics unless 0 <= i < Len.
func (v Vector[T]) At(i int) T {
	v.check(i)
	return v.leaf(i).items[i&mask]
}

func (v Vector[T]) check(i int) {
	if uint(i) >= uint(v.n) {
		panic(fmt.Sprintf("persist: index %d is outside a vector of %d items", i, v.n))
	}
}

func (v Vector[T]) leaf(i int) *leaf[T] {
	if i >= v.tailStart() {
		return v.tail
	}
	b := v.root
	for s := v.shift; s > bits; s -= bits {
		b = b.kids[i>>s&mask]
	}
	return b.leaves[i>>bits&mask]
}

// Last returns the last item, or false when there is none.
func (v Vector[T]) Last() (x T, ok bool) {
	if v.n == 0 {
		return x, false
	}
	return v.At(v.n - 1), true
}

// Append returns the vector with x added at its end, in amortised constant time.
func (v Vector[T]) Append(x T) Vector[T] {
	k := v.n - v.tailStart()
	switch {
	case v.n == 0:
		v.tail = newLeaf[T](nil, 4)
	case k == width:
		v = v.pushTail()
		v.tail, k = newLeaf[T](nil, width), 0
	case k == len(v.tail.items): // only a small vector's tail has less room
		v.tail = newLeaf(v.tail.items, 2*k)
	}
	if !v.tail.taken.CompareAndSwap(int32(k), int32(k+1)) {
		v.tail = newLeaf(v.tail.items[:k], len(v.tail.items))
		v.tail.taken.Store(int32(k + 1))
	}
	v.tail.items[k] = x
	v.n++
	return v
}

// pushTail moves a full tail into the trie.
func (v Vector[T]) pushTail() Vector[T] {
	i := v.tailStart()
	switch {
	case v.root == nil:
		v.root, v.shift = &branch[T]{}, bits
	case i == width<<v.shift: // the trie is full: one more level
		v.root = &branch[T]{kids: []*branch[T]{v.root}}
		v.shift += bits
	}
	v.root = v.root.push(v.shift, i, v.tail)
	return v
}

func (b *branch[T]) push(shift, i int, l *leaf[T]) *branch[T] {
	if shift == bits {
		return &branch[T]{leaves: added(b.leaves, l)}
	}
	k := i >> shift & mask
	if k == len(b.kids) {
		return &branch[T]{kids: added(b.kids, (&branch[T]{}).push(shift-bits, i, l))}
	}
	return &branch[T]{kids: replaced(b.kids, k, b.kids[k].push(shift-bits, i, l))}
}

// Set returns the vector with item i being x and panics unless 0 <= i < Len.
func (v Vector[T]) Set(i int, x T) Vector[T] {
	v.check(i)
	if start := v.tailStart(); i >= start {
		l := newLeaf(v.tail.items[:v.n-start], len(v.tail.items))
		l.items[i-start] = x
		v.tail = l
		return v
	}
	v.root = v.root.set(v.shift, i, x)
	return v
}

func (b *branch[T]) set(shift, i int, x T) *branch[T] {
	k := i >> shift & mask
	if shift > bits {
		return &branch[T]{kids: replaced(b.kids, k, b.kids[k].set(shift-bits, i, x))}
	}
	l := newLeaf(b.leaves[k].items, width)
	l.items[i&mask] = x
	return &branch[T]{leaves: replaced(b.leaves, k, l)}
}

// All yields the items and their indexes in order.
func (v Vector[T]) All() iter.Seq2[int, T] { return v.From(0) }

// From yields the items from index i on; an index past the end yields nothing
// and a negative one is taken as 0.
func (v Vector[T]) From(i int) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := max(i, 0); i < v.n; {
			items := v.leaf(i).items
			for stop := min(i|mask+1, v.n); i < stop; i++ {
				if !yield(i, items[i&mask]) {
					return
				}
			}
		}
	}
}

// Backward yields the items and their indexes from the last to the first.
func (v Vector[T]) Backward() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := v.n - 1; i >= 0; {
			items := v.leaf(i).items
			for start := i &^ mask; i >= start; i-- {
				if !yield(i, items[i&mask]) {
					return
				}
			}
		}
	}
}

// AppendTo appends the items to dst.
func (v Vector[T]) AppendTo(dst []T) []T {
	dst = slices.Grow(dst, v.n)
	for i := 0; i < v.n; i += width {
		dst = append(dst, v.leaf(i).items[:min(width, v.n-i)]...)
	}
	return dst
}

// added returns a copy of s with x at its end. It is exact in size, for nobody
// else will append to it.
func added[E any](s []E, x E) []E {
	out := make([]E, len(s)+1)
	out[copy(out, s)] = x
	return out
}

// replaced returns a copy of s with x at k.
func replaced[E any](s []E, k int, x E) []E {
	out := slices.Clone(s)
	out[k] = x
	return out
}
