package jsonschema

import "unicode/utf8"

// at is d[i], or 0, which is nowhere valid outside a string, past the end.
func at(d []byte, i int) byte {
	if i < len(d) {
		return d[i]
	}
	return 0
}

// space returns the index of the first byte from i on that is no white space.
func space(d []byte, i int) int {
	for i < len(d) && (d[i] == ' ' || d[i] == '\n' || d[i] == '\t' || d[i] == '\r') {
		i++
	}
	return i
}

// run returns the index after the digits that begin at i.
func run(d []byte, i int) int {
	for '0' <= at(d, i) && at(d, i) <= '9' {
		i++
	}
	return i
}

// quoted returns the index after the string that begins at i, or -1 if there is
// no string, it is malformed or has surrogate escapes. The string is plain if
// its bytes are its value: it has no escapes.
func quoted(d []byte, i int) (end int, plain bool) {
	if at(d, i) != '"' {
		return -1, false
	}
	i++
	start, ascii := i, true
	plain = true
	for i < len(d) {
		switch c := d[i]; {
		case c == '"':
			if !ascii && !utf8.Valid(d[start:i]) {
				return -1, false
			}
			return i + 1, plain
		case c == '\\':
			n := escape(d, i)
			if n == 0 {
				return -1, false
			}
			i, plain = i+n, false
		case c < ' ':
			return -1, false
		default:
			if c >= utf8.RuneSelf {
				ascii = false
			}
			i++
		}
	}
	return -1, false
}

// escape returns the length of the escape that begins at i, or 0.
func escape(d []byte, i int) int {
	switch at(d, i+1) {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		for j := i + 2; j < i+6; j++ {
			c := at(d, j) | 0x20
			if !('0' <= at(d, j) && at(d, j) <= '9') && !('a' <= c && c <= 'f') {
				return 0
			}
		}
		if first := at(d, i+2) | 0x20; first == 'd' && at(d, i+3) >= '8' {
			return 0 // a surrogate, which must be half of a pair
		}
		return 6
	}
	return 0
}
