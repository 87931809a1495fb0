package persist

import (
	"cmp"
	"iter"
	mathbits "math/bits"
	"slices"
)

// A Map is an immutable map with strings as keys. It is a compressed hash trie
// ("Optimizing Hash-Array Mapped Tries for Fast and Lean Immutable JVM
// Collections", Steindorfer and Vinju, 2015) whose shape depends on the keys
// alone, not on the order in which they came and went. Get, Set and Delete take
// at most 13 steps; keys that share all 64 bits of hash are searched by halving.
type Map[V any] struct {
	n    int
	root *node[V] // nil when empty
}

// A node has entries and kids by the next five bits of the hash: bit b of
// direct says that an entry is for b, bit b of deeper that a kid is. Past the
// last bits a node holds only entries, sorted by key.
type node[V any] struct {
	direct, deeper uint32
	entries        []entry[V]
	kids           []*node[V]
}

type entry[V any] struct {
	hash  uint64
	key   string
	value V
}

// hashBits is how much hash there is to spend on the way down.
const hashBits = 64

// hash is FNV-1a (Fowler, Noll and Vo). A seeded hash would withstand chosen
// keys better, but the order of All would then differ between processes.
func hash(key string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	return h
}

// Len returns the number of keys.
func (m Map[V]) Len() int { return m.n }

// Get returns the key's value and whether there is one.
func (m Map[V]) Get(key string) (V, bool) { return m.get(hash(key), key) }

// Set returns the map with the key's value being v.
func (m Map[V]) Set(key string, v V) Map[V] { return m.set(entry[V]{hash(key), key, v}) }

// Delete returns the map without the key.
func (m Map[V]) Delete(key string) Map[V] { return m.delete(hash(key), key) }

// All yields keys and values in an order that depends only on which keys the map
// has: equal sets of keys come in the same order on every machine. It is not the
// order of the keys themselves.
func (m Map[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		if m.root != nil {
			m.root.all(yield)
		}
	}
}

func (m Map[V]) get(h uint64, key string) (v V, ok bool) {
	n := m.root
	for shift := 0; n != nil; shift += bits {
		if shift >= hashBits {
			if k, found := n.search(key); found {
				return n.entries[k].value, true
			}
			return v, false
		}
		bit := uint32(1) << (h >> shift & mask)
		if n.direct&bit != 0 {
			if e := &n.entries[below(n.direct, bit)]; e.key == key {
				return e.value, true
			}
			return v, false
		}
		if n.deeper&bit == 0 {
			return v, false
		}
		n = n.kids[below(n.deeper, bit)]
	}
	return v, false
}

func (m Map[V]) set(e entry[V]) Map[V] {
	if m.root == nil {
		m.root = &node[V]{}
	}
	root, added := m.root.set(0, e)
	m.root = root
	if added {
		m.n++
	}
	return m
}

func (m Map[V]) delete(h uint64, key string) Map[V] {
	if _, ok := m.get(h, key); !ok {
		return m
	}
	m.n--
	m.root = m.root.delete(0, h, key)
	if m.n == 0 {
		m.root = nil
	}
	return m
}

// below counts the bits under bit, which is an index into entries or kids.
func below(set, bit uint32) int { return mathbits.OnesCount32(set & (bit - 1)) }

func (n *node[V]) search(key string) (int, bool) {
	return slices.BinarySearchFunc(n.entries, key, func(e entry[V], key string) int { return cmp.Compare(e.key, key) })
}

func (n *node[V]) set(shift int, e entry[V]) (out *node[V], added bool) {
	if shift >= hashBits {
		k, found := n.search(e.key)
		if found {
			return &node[V]{entries: replaced(n.entries, k, e)}, false
		}
		return &node[V]{entries: inserted(n.entries, k, e)}, true
	}
	c := *n
	bit := uint32(1) << (e.hash >> shift & mask)
	k := below(n.direct, bit)
	switch {
	case n.deeper&bit != 0:
		j := below(n.deeper, bit)
		kid, added := n.kids[j].set(shift+bits, e)
		c.kids = replaced(n.kids, j, kid)
		return &c, added
	case n.direct&bit == 0:
		c.direct |= bit
		c.entries = inserted(n.entries, k, e)
		return &c, true
	case n.entries[k].key == e.key:
		c.entries = replaced(n.entries, k, e)
		return &c, false
	}
	// Two keys want the same place: both go down.
	kid, _ := (&node[V]{}).set(shift+bits, n.entries[k])
	kid, _ = kid.set(shift+bits, e)
	c.direct &^= bit
	c.deeper |= bit
	c.entries = removed(n.entries, k)
	c.kids = inserted(n.kids, below(n.deeper, bit), kid)
	return &c, true
}

// delete removes a key that is there.
func (n *node[V]) delete(shift int, h uint64, key string) *node[V] {
	c := *n
	if shift >= hashBits {
		k, _ := n.search(key)
		c.entries = removed(n.entries, k)
		return &c
	}
	bit := uint32(1) << (h >> shift & mask)
	k := below(n.direct, bit)
	if n.direct&bit != 0 {
		c.direct &^= bit
		c.entries = removed(n.entries, k)
		return &c
	}
	j := below(n.deeper, bit)
	kid := n.kids[j].delete(shift+bits, h, key)
	if len(kid.kids) > 0 || len(kid.entries) > 1 {
		c.kids = replaced(n.kids, j, kid)
		return &c
	}
	// What is left alone moves up, or the shape would tell of the past.
	c.deeper &^= bit
	c.direct |= bit
	c.kids = removed(n.kids, j)
	c.entries = inserted(n.entries, k, kid.entries[0])
	return &c
}

func (n *node[V]) all(yield func(string, V) bool) bool {
	for _, e := range n.entries {
		if !yield(e.key, e.value) {
			return false
		}
	}
	for _, kid := range n.kids {
		if !kid.all(yield) {
			return false
		}
	}
	return true
}
