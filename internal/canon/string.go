package canon

import (
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// str copies the string whose opening quote is in[i], with the fewest escapes.
func (w *writer) str(i int) (int, bool) {
	in := w.in
	w.out = append(w.out, '"')
	from := i + 1
	for i = from; i < len(in); {
		ch := in[i]
		switch {
		case ch == '"':
			w.out = append(append(w.out, in[from:i]...), '"')
			return i + 1, true
		case ch < 0x20:
			return w.fault(i, "a control character in a string must be escaped")
		case ch == '\\':
			w.out = append(w.out, in[from:i]...)
			end, ok := w.escape(i)
			if !ok {
				return end, false
			}
			i, from = end, end
		case ch < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(in[i:])
			if r == utf8.RuneError && n == 1 {
				return w.fault(i, "a string is not valid UTF-8")
			}
			i += n
		}
	}
	return w.end()
}

// escape copies the character whose backslash is in[i].
func (w *writer) escape(i int) (int, bool) {
	if i+1 == len(w.in) {
		return w.end()
	}
	switch ch := w.in[i+1]; ch {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		w.out = append(w.out, '\\', ch)
		return i + 2, true
	case '/':
		w.out = append(w.out, '/')
		return i + 2, true
	case 'u':
	default:
		return w.fault(i+1, "unknown escape in a string")
	}
	r, ok := w.hex(i + 2)
	if !ok {
		return i, false
	}
	end := i + 6
	if utf16.IsSurrogate(r) {
		pair := rune(utf8.RuneError)
		if end+1 < len(w.in) && w.in[end] == '\\' && w.in[end+1] == 'u' {
			low, ok := w.hex(end + 2)
			if !ok {
				return end, false
			}
			pair = utf16.DecodeRune(r, low)
		}
		if pair == utf8.RuneError {
			return w.fault(i, "a lone surrogate is not a character")
		}
		r, end = pair, end+6
	}
	w.out = appendRune(w.out, r)
	return end, true
}

// appendRune appends a character in its one canonical form.
func appendRune(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if r < 0x20 {
		return append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
	}
	return utf8.AppendRune(dst, r)
}

func (w *writer) hex(i int) (r rune, ok bool) {
	for k := i; k < i+4; k++ {
		if k >= len(w.in) {
			w.end()
			return 0, false
		}
		d := digit(w.in[k])
		if d < 0 {
			w.fault(k, "want four hexadecimal digits after \\u")
			return 0, false
		}
		r = r<<4 | d
	}
	return r, true
}

func digit(ch byte) rune {
	switch {
	case ch-'0' <= 9:
		return rune(ch - '0')
	case ch|0x20 >= 'a' && ch|0x20 <= 'f':
		return rune(ch|0x20-'a') + 10
	}
	return -1
}

// unescape returns the text of a key in canonical form, for comparing: there,
// an escape is a letter or \u00xx.
func unescape(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			out = append(out, byte(digit(s[i+3])<<4|digit(s[i+4])))
			i += 4
		default:
			out = append(out, s[i])
		}
	}
	return out
}
