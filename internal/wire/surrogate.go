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
	for {
		i := unpaired(d)
		if i < 0 && out == nil {
			return d
		}
		if i < 0 {
			return append(out, d...)
		}
		out = append(append(out, d[:i]...), `\ufffd`...)
		d = d[i+6:]
	}
}

// unpaired returns where in a document, or in the inside of a string, the first
// escaped half of a pair stands without its other half; -1: nowhere.
func unpaired(d []byte) int {
	for i := 0; i < len(d); {
		n := bytes.IndexByte(d[i:], '\\')
		if n < 0 {
			break
		}
		switch i += n; half(d, i) {
		case 0:
			i += 2
		case leading:
			if half(d, i+6) != trailing {
				return i
			}
			i += 12
		default:
			return i
		}
	}
	return -1
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
