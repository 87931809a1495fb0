package wire

import (
	"bytes"
	"strconv"
)

// Pair returns a JSON document with every escaped half of a surrogate pair that
// lacks its other half replaced by U+FFFD. Such halves are JSON, but no text:
// whoever decodes them gets something else, or refuses the whole document. A
// document without any is returned as it is, else a copy.
func Pair(d []byte) []byte {
	if !bytes.Contains(d, []byte(`\u`)) {
		return d
	}
	var out []byte
	rest := 0
	for i := 0; i < len(d); {
		switch {
		case d[i] != '\\':
			i++
		case half(d, i) == 0:
			i += 2
		case half(d, i) == leading && half(d, i+6) == trailing:
			i += 12
		default:
			out = append(append(out, d[rest:i]...), `\ufffd`...)
			i += 6
			rest = i
		}
	}
	if out == nil {
		return d
	}
	return append(out, d[rest:]...)
}

const (
	leading  = 1 + iota // \ud800 to \udbff, which comes first
	trailing            // \udc00 to \udfff
)

// half says which half of a pair the escape at d[i] is; zero: it is none.
func half(d []byte, i int) int {
	if i+6 > len(d) || d[i] != '\\' || d[i+1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(d[i+2:i+6]), 16, 16)
	switch {
	case err != nil || n < 0xd800 || n > 0xdfff:
		return 0
	case n < 0xdc00:
		return leading
	}
	return trailing
}
