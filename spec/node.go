package spec

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// A node is one value of a document in either syntax.
type node struct {
	kind  kind
	src   *source // the text that it stands in
	place place
	wrong bool   // of a mapping: something in it does not fit the schema
	text  string // a text's value, a number's or boolean's JSON
	word  string // a number or boolean as written
	pairs []pair
	items []*node
}

type pair struct{ key, value *node }

// place is a position in a file, both counted from 1.
type place struct{ line, column int }

type kind int

// The zero kind is a refused value, about which no further problems are
// reported.
const (
	null kind = 1 + iota
	boolean
	number
	text
	list
	mapping
)

var kinds = []string{"", "empty", "a boolean", "a number", "text", "a list", "a mapping"}

// String names the kind as in "prompt is a list".
func (k kind) String() string { return kinds[k] }

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, p := range n.pairs {
		if p.key.text == key {
			return p.value
		}
	}
	return nil
}

// all returns the values at a path such as "tools.*.command", in which * stands for every
// item of a list, or value of a mapping.
func (n *node) all(path string) []*node {
	found := []*node{n}
	for key := range strings.SplitSeq(path, ".") {
		var next []*node
		for _, at := range found {
			switch {
			case at == nil:
			case key != "*":
				if inner, n := at.follow(key); n == 1 {
					next = append(next, inner)
				}
			default:
				next = append(next, at.items...)
				for _, p := range at.pairs {
					next = append(next, p.value)
				}
			}
		}
		found = next
	}
	return slices.DeleteFunc(found, func(at *node) bool { return at == nil })
}

// follow goes along keys and indexes as far as there are values. It returns the last value, and
// how many it went along.
func (n *node) follow(path ...string) (*node, int) {
	for i, key := range path {
		next := n.get(key)
		if k, err := strconv.Atoi(key); err == nil && k >= 0 && k < len(n.items) {
			next = n.items[k]
		}
		if next == nil {
			return n, i
		}
		n = next
	}
	return n, len(path)
}

// list returns the items of a value, which may be missing.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// keys returns the keys and values of a value, which may be missing.
func (n *node) keys() []pair {
	if n == nil {
		return nil
	}
	return n.pairs
}

// refused reports whether the value, or something in it, was refused.
func (n *node) refused() bool { return n.wrong || n.kind == 0 }

// A mark is the part of a decoded mapping that knows where it stands. A mapping that is missing
// has none.
type mark struct{ n *node }

func (m *mark) put(n *node) { m.n = n }

// at returns the value at a path of keys and indexes, or the nearest around it.
func (m *mark) at(path ...string) *node {
	n, _ := m.n.follow(path...)
	return n
}

// option returns a value that was given as an option, such as by a flag.
func option(name, value string) *node {
	return &node{kind: text, text: value, src: &source{file: name}}
}

// name returns the text of the key name.
func (n *node) name() string {
	if name := n.get("name"); name != nil {
		return name.text
	}
	return ""
}

// json writes the node as JSON, keys in the order of the document.
func (n *node) json(b *bytes.Buffer) {
	switch n.kind {
	case 0, null:
		b.WriteString("null")
	case boolean, number:
		b.WriteString(n.text)
	case text:
		quote(b, n.text)
	case list:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.json(b)
		}
		b.WriteByte(']')
	case mapping:
		b.WriteByte('{')
		for i, p := range n.pairs {
			if i > 0 {
				b.WriteByte(',')
			}
			quote(b, p.key.text)
			b.WriteByte(':')
			p.value.json(b)
		}
		b.WriteByte('}')
	}
}
