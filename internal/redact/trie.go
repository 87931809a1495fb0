package redact

import (
	"unicode"
	"unicode/utf8"
)

// trie finds the longest of many patterns at a place. Hardly any of them has a
// beginning in common with another, so a node's children are a list.
type trie struct {
	nodes []node
	wraps bool // line ends and indentation within a pattern are passed over
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

// mostSkipped is how many bytes in a row within a pattern are passed over.
const mostSkipped = 128

// match finds the longest pattern that stands at s[from:]; an end of zero is
// none. more says that s ends where a pattern, or a longer one, may go on. What a
// reader does not see is passed over within a pattern.
func (t *trie) match(s string, from int) (end int, name int32, more bool) {
	at, skipped := int32(0), 0
	for i := from; i < len(s); {
		next := t.step(at, s[i])
		if next == 0 {
			n, half := t.between(s, i)
			switch {
			case half && i > from:
				return end, name, true
			case n == 0 || i == from || skipped+n > mostSkipped:
				return end, name, false
			}
			skipped += n
			i += n
			continue
		}
		at, skipped = next, 0
		i++
		if found := t.nodes[at].name; found != 0 {
			end, name = i, found
		}
	}
	return end, name, at != 0 && t.nodes[at].child != 0
}

// between is the length of what may stand between two bytes of a pattern: an
// escape sequence of a terminal (ECMA-48, 5.4), a character without a width, and
// in patterns that wrap a line end and the indentation of the next line. half
// says that s ends within it.
func (t *trie) between(s string, i int) (n int, half bool) {
	switch c := s[i]; {
	case t.wraps && (c == '\n' || c == '\r' || c == '\t' || c == ' ' || c == '>' || c == '|'):
		return 1, false
	case c == 0x1b:
		return sequence(s[i:])
	case c < 0x80:
		return 0, false
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == utf8.RuneError:
		return 0, !utf8.FullRuneInString(s[i:])
	case unicode.Is(unicode.Cf, r), r >= 0xFE00 && r <= 0xFE0F:
		return n, false
	}
	return 0, false
}

// sequence is the length of the escape sequence that s begins with: ESC [, then
// parameters, then a final byte; or ESC and one more.
func sequence(s string) (n int, half bool) {
	if len(s) == 1 {
		return 0, true
	}
	if s[1] != '[' {
		return 2, false
	}
	for n = 2; n < len(s) && n < mostSkipped; n++ {
		if s[n] >= 0x40 && s[n] <= 0x7e {
			return n + 1, false
		}
		if s[n] < 0x20 || s[n] > 0x7e {
			return 0, false
		}
	}
	return 0, n == len(s)
}
