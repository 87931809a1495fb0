package redact

import (
	"cmp"
	"strings"
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
	t.nodes[at].name = cmp.Or(t.nodes[at].name, name)
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
// reader does not see is passed over within a pattern, and a byte of it may stand
// as an escape of a URL, of JSON, of a program or of HTML.
func (t *trie) match(s string, from int) (end int, name int32, more bool) {
	at, skipped := int32(0), 0
	for i := from; i < len(s); {
		next, size := int32(0), 1
		if escaping[s[i]] {
			r, n, half := escape(s, i)
			if half {
				return end, name, true
			}
			if n > 0 {
				next, size = t.char(at, r), n
			}
		}
		if next == 0 { // it may be the pattern's own
			next, size = t.step(at, s[i]), 1
		}
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
		i += size
		if found := t.nodes[at].name; found != 0 {
			end, name = i, found
		}
	}
	return end, name, at != 0 && t.nodes[at].child != 0
}

// char is where the bytes of an escaped character lead; zero: nowhere.
func (t *trie) char(at int32, r rune) int32 {
	if r < 0x100 && r >= 0x80 {
		if next := t.step(at, byte(r)); next != 0 { // a byte of a character
			return next
		}
	}
	for _, b := range utf8.AppendRune(nil, r) {
		if at = t.step(at, b); at == 0 {
			return 0
		}
	}
	return at
}

// escaping are the bytes that begin an escape.
var escaping = [256]bool{'%': true, '\\': true, '&': true}

// escape reads the character that is escaped at s[i:]: %5A, \u005a, \x5a, \132,
// &#90; or &#x5a;, with the backslash doubled or not. half says that s ends within it.
func escape(s string, i int) (r rune, n int, half bool) {
	number := func(from, digits, base int) (rune, int, bool) {
		v := rune(0)
		for k := from; k < from+digits; k++ {
			if k == len(s) {
				return 0, 0, true
			}
			d, ok := digitOf(s[k], base)
			if !ok {
				return 0, 0, false
			}
			v = v*rune(base) + d
		}
		return v, from + digits - i, false
	}
	at := i + 1
	switch s[i] {
	case '%':
		for at-i < 5 && strings.HasPrefix(s[at:], "25") { // of a URL in another
			if _, n, half := number(at+2, 2, 16); n == 0 && !half {
				break
			}
			at += 2
		}
		return number(at, 2, 16)
	case '\\':
		for at < len(s) && at-i < 4 && s[at] == '\\' {
			at++
		}
		switch {
		case at == len(s):
			return 0, 0, true
		case s[at] == 'u':
			return number(at+1, 4, 16)
		case s[at] == 'x':
			return number(at+1, 2, 16)
		case s[at] >= '0' && s[at] <= '3':
			return number(at, 3, 8)
		}
		return 0, 0, false
	}
	base, v := 10, rune(0)
	for k := at; k < len(s) && k-i < 10; k++ { // &#0000090;
		d, ok := digitOf(s[k], base)
		switch {
		case k == at && s[k] == '#':
		case k == at:
			return 0, 0, false
		case k == at+1 && (s[k] == 'x' || s[k] == 'X'):
			base = 16
		case s[k] == ';' && v > 0:
			return v, k + 1 - i, false
		case !ok:
			return 0, 0, false
		default:
			v = v*rune(base) + d
		}
	}
	return 0, 0, len(s)-i < 10
}

// digitOf is the value of a digit.
func digitOf(c byte, base int) (rune, bool) {
	d := 99
	switch {
	case c >= '0' && c <= '9':
		d = int(c - '0')
	case c >= 'a' && c <= 'f':
		d = int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		d = int(c-'A') + 10
	}
	return rune(d), d < base
}

// between is the length of what may stand between two bytes of a pattern: an
// escape sequence of a terminal (ECMA-48, 5.4), a control character, one that no
// screen shows, and in patterns that wrap a line end, the indentation of the next
// line and what lists put between bytes. half says that s ends within it.
func (t *trie) between(s string, i int) (n int, half bool) {
	switch c := s[i]; {
	case t.wraps && (c == '\n' || c == '\r' || c == '\t' || c == ' ' || strings.IndexByte(`>|,:#"+`, c) >= 0):
		return 1, false
	case t.wraps && c == '\\':
		if len(s) == i+1 {
			return 0, true
		}
		if c := s[i+1]; c == 'n' || c == 'r' || c == 't' {
			return 2, false
		}
		return 1, false
	case t.wraps && c == '0':
		if len(s) == i+1 {
			return 0, true
		}
		if s[i+1] == 'x' || s[i+1] == 'X' {
			return 2, false
		}
		return 0, false
	case c == 0x1b:
		return sequence(s[i:], 1)
	case c < ' ' && c != '\n' && c != '\r' && c != '\t', c == 0x7f:
		return 1, false
	case c < 0x80:
		return 0, false
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == utf8.RuneError:
		return 0, !utf8.FullRuneInString(s[i:])
	case r == 0x9b || r == 0x9d: // what ESC [ and ESC ] are in one
		return sequence(s[i:], n)
	case unicode.In(r, unicode.Cf, unicode.Cc, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) && r != 0x85:
		return n, false
	}
	return 0, false
}

// sequence is the length of the escape sequence that s begins with: ESC [, then
// parameters, then a final byte; ESC ], then a text and its end; or ESC, then
// others and a final byte. from is the length of ESC, or of a character for ESC and
// one more.
func sequence(s string, from int) (n int, half bool) {
	kind := byte('[')
	switch {
	case from > 1 && s[1] == 0x9d:
		kind = ']'
	case from == 1 && len(s) == 1:
		return 0, true
	case from == 1:
		kind, from = s[1], 2
	}
	switch kind {
	case '[':
	case ']':
		for n = from; n < len(s) && n < mostSkipped; n++ {
			switch {
			case s[n] == 0x07:
				return n + 1, false
			case s[n] == 0x1b && n+1 == len(s):
				return 0, true
			case s[n] == 0x1b && s[n+1] == '\\', s[n] == 0xc2 && n+1 < len(s) && s[n+1] == 0x9c:
				return n + 2, false
			}
		}
		return 0, n == len(s)
	default:
		for n = from; kind >= 0x20 && kind < 0x30; n++ { // ESC ( B
			if n == len(s) || n == mostSkipped {
				return 0, n == len(s)
			}
			kind = s[n]
		}
		return max(n, 2), false
	}
	for n = from; n < len(s) && n < mostSkipped; n++ {
		if s[n] >= 0x40 && s[n] <= 0x7e {
			return n + 1, false
		}
		if s[n] < 0x20 || s[n] > 0x7e {
			return 0, false
		}
	}
	return 0, n == len(s)
}
