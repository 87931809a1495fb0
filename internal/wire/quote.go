package wire

import (
	"unicode/utf16"
	"unicode/utf8"
)

// AppendString appends s as a JSON string. It escapes only what JSON demands
// (quotes, backslashes, control characters) and writes U+FFFD for each byte that
// is not part of UTF-8.
func AppendString[S string | []byte](dst []byte, s S) []byte {
	dst = append(dst, '"')
	for i := skipPlain(s, 0); i < len(s); i++ {
		if class[s[i]] != plain {
			dst = append(dst, s[:i]...)
			return append(appendEscaped(dst, s[i:]), '"')
		}
	}
	dst = append(dst, s...)
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"

func appendEscaped[S string | []byte](dst []byte, s S) []byte {
	from := 0
	for i := 0; i < len(s); {
		ch := s[i]
		k := class[ch]
		if k == plain {
			i = skipPlain(s, i+1)
			continue
		}
		if k == high {
			r, n := decodeRune(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[from:i]...)
				dst = append(dst, "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		dst = append(dst, s[from:i]...)
		switch ch {
		case '"', '\\':
			dst = append(dst, '\\', ch)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[ch>>4], hexDigits[ch&15])
		}
		i++
		from = i
	}
	return append(dst, s[from:]...)
}

func decodeRune[S string | []byte](s S) (rune, int) {
	var b [utf8.UTFMax]byte
	return utf8.DecodeRune(b[:copy(b[:], s)])
}

// unescape appends the text of a checked string's inside.
func unescape(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		ch := s[i]
		switch {
		case ch >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(s[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
		case ch != '\\':
			dst = append(dst, ch)
			i++
		case s[i+1] == 'u':
			r := hex4(s[i+2:])
			i += 6
			if utf16.IsSurrogate(r) {
				pair := rune(utf8.RuneError)
				if i+6 <= len(s) && s[i] == '\\' && s[i+1] == 'u' {
					pair = utf16.DecodeRune(r, hex4(s[i+2:]))
				}
				if pair != utf8.RuneError {
					i += 6
				}
				r = pair
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, unletter(s[i+1]))
			i += 2
		}
	}
	return dst
}

func unletter(ch byte) byte {
	switch ch {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return ch
}

func hex4(s []byte) rune {
	return rune(unhex(s[0])<<12 | unhex(s[1])<<8 | unhex(s[2])<<4 | unhex(s[3]))
}

func unhex(ch byte) int {
	switch {
	case ch-'0' <= 9:
		return int(ch - '0')
	case ch|0x20 >= 'a' && ch|0x20 <= 'f':
		return int(ch|0x20-'a') + 10
	}
	return -1
}
