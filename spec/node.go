package spec

import (
	"bytes"
	"slices"
	"strings"
)

// A node is one value of a document in either syntax.
type node struct {
	kind  kind
	style style
	place place
	text  string // a text's value, a number's or boolean's JSON
	word  string // a number or boolean as written
	pairs []pair
	items []*node
}

type pair struct {
	key   string
	place place // the key's place
	value *node
}

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

// style is how a text was written, for finding a part of it in the file.
type style int

const (
	plain  style = 1 + iota
	single       // in single quotes
	double       // in double quotes, with escapes
	block        // below | or >
)

// get returns the value of a key, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, p := range n.pairs {
		if p.key == key {
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
				next = append(next, at.get(key))
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

// drop removes a key.
func (n *node) drop(key string) {
	n.pairs = slices.DeleteFunc(n.pairs, func(p pair) bool { return p.key == key })
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
			quote(b, p.key)
			b.WriteByte(':')
			p.value.json(b)
		}
		b.WriteByte('}')
	}
}
