package redact

// trie finds the longest of many patterns at a place. Hardly any of them has a
// beginning in common with another, so a node's children are a list.
type trie struct {
	nodes []node
	wraps bool // a line end within a pattern is passed over
}

type node struct {
	child, sibling int32 // zero: none, since the root is nobody's child
	name           int32 // of the pattern that ends here, from one
	byte           byte
}

// add puts a pattern in, unless it is there already.
func (t *trie) add(pattern string, name int32) {
	if len(t.nodes) == 0 {
		t.nodes = append(t.nodes, node{})
	}
	at := int32(0)
	for i := range len(pattern) {
		next := t.step(at, pattern[i])
		if next == 0 {
			next = int32(len(t.nodes))
			t.nodes = append(t.nodes, node{byte: pattern[i], sibling: t.nodes[at].child})
			t.nodes[at].child = next
		}
		at = next
	}
	if t.nodes[at].name == 0 {
		t.nodes[at].name = name
	}
}

func (t *trie) step(at int32, b byte) int32 {
	for n := t.nodes[at].child; n != 0; n = t.nodes[n].sibling {
		if t.nodes[n].byte == b {
			return n
		}
	}
	return 0
}

// match finds the longest pattern that stands at s[from:]; an end of zero is
// none. more says that s ends where a pattern, or a longer one, may go on.
func (t *trie) match(s string, from int) (end int, name int32, more bool) {
	at, skipped := int32(0), 0
	for i := from; i < len(s); i++ {
		if t.wraps && i > from && skipped < 2 && (s[i] == '\n' || s[i] == '\r') {
			skipped++
			continue
		}
		skipped = 0
		if at = t.step(at, s[i]); at == 0 {
			return end, name, false
		}
		if found := t.nodes[at].name; found != 0 {
			end, name = i+1, found
		}
	}
	return end, name, at != 0 && t.nodes[at].child != 0
}
