package wire

import (
	"math/bits"
	"unicode/utf8"
)

// What is learned about a value on the way.
const (
	escaped  uint8 = 1 << iota // a string that holds a backslash
	nonASCII                   // a string that holds a byte of 0x80 or more
	spaced                     // an object or array with white space between tokens
)

// Classes of bytes inside a string.
const (
	plain uint8 = iota
	quote
	backslash
	control
	high
)

var class = func() (t [256]uint8) {
	for i := range t {
		switch {
		case i < 0x20:
			t[i] = control
		case i >= 0x80:
			t[i] = high
		}
	}
	t['"'], t['\\'] = quote, backslash
	return t
}()

const faultEnd = "unexpected end of JSON"

// TooDeep is what is said of a document that nests deeper than MaxDepth.
const TooDeep = "nested deeper than 1000 objects and arrays"

func skipSpace(d []byte, i int) int {
	for i < len(d) && (d[i] == ' ' || d[i] == '\n' || d[i] == '\r' || d[i] == '\t') {
		i++
	}
	return i
}

// skipEnd checks that nothing but white space follows.
func skipEnd(d []byte, i int) (int, string) {
	if i = skipSpace(d, i); i < len(d) {
		return i, "unexpected text after the JSON value"
	}
	return i, ""
}

// Valid reports whether data is one JSON value of valid UTF-8, in which no more
// than depth objects and arrays are open at once.
func Valid(data []byte, depth int) bool {
	i, _, fault := skipValue(data, skipSpace(data, 0), MaxDepth-depth)
	if fault == "" {
		_, fault = skipEnd(data, i)
	}
	return fault == "" && utf8.Valid(data)
}

// skipValue checks the value that starts at d[i] and returns where it ends.
// With a fault, the returned position is the fault's. depth counts the objects
// and arrays open around the value; flags are those of a string.
func skipValue(d []byte, i, depth int) (end int, flags uint8, fault string) {
	if i >= len(d) {
		return i, 0, faultEnd
	}
	switch ch := d[i]; ch {
	case '"':
		return skipString(d, i)
	case '{':
		return skipObject(d, i, depth)
	case '[':
		return skipArray(d, i, depth)
	case 't':
		end, fault = skipWord(d, i, "true")
		return end, 0, fault
	case 'f':
		end, fault = skipWord(d, i, "false")
		return end, 0, fault
	case 'n':
		end, fault = skipWord(d, i, "null")
		return end, 0, fault
	default:
		if ch == '-' || ch-'0' <= 9 {
			end, fault = skipNumber(d, i)
			return end, 0, fault
		}
		return i, 0, "want a JSON value"
	}
}

func skipWord(d []byte, i int, word string) (int, string) {
	for k := range len(word) {
		if i+k >= len(d) {
			return len(d), faultEnd
		}
		if d[i+k] != word[k] {
			return i + k, "want " + word
		}
	}
	return i + len(word), ""
}

// skipPlain returns the position of the first byte from i on that is not plain,
// or one within eight bytes of the end before which all are. It looks at eight bytes at once, with the usual
// test for a zero byte (Warren, "Hacker's Delight", section 6-1).
func skipPlain[S string | []byte](s S, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		q, b := x^ones*'"', x^ones*'\\'
		// A byte's high bit is set where it is a quote, a backslash, below 0x20
		// or 0x80 and more. Borrows may set it in a byte after the first such,
		// never before.
		if hit := ((q-ones)&^q | (b-ones)&^b | (x-ones*0x20)&^x | x) & highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	return i
}

// skipString takes the string whose opening quote is d[i].
func skipString(d []byte, i int) (end int, flags uint8, fault string) {
	for i = skipPlain(d, i+1); i < len(d); i++ {
		switch class[d[i]] {
		case plain:
		case quote:
			return i + 1, flags, ""
		case high:
			flags |= nonASCII
		case control:
			return i, flags, "a control character in a string must be escaped"
		case backslash:
			flags |= escaped
			i++
			if i == len(d) {
				return i, flags, faultEnd
			}
			switch d[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for range 4 {
					i++
					if i == len(d) {
						return i, flags, faultEnd
					}
					if unhex(d[i]) < 0 {
						return i, flags, "want four hexadecimal digits after \\u"
					}
				}
			default:
				return i, flags, "unknown escape in a string"
			}
		}
	}
	return i, flags, faultEnd
}

// skipNumber takes a number by the grammar of RFC 8259, section 6.
func skipNumber(d []byte, i int) (int, string) {
	if d[i] == '-' {
		i++
	}
	switch {
	case i == len(d):
		return i, faultEnd
	case d[i] == '0':
		i++
	case d[i]-'1' <= 8:
		i = skipDigits(d, i)
	default:
		return i, "want a digit"
	}
	if i < len(d) && d[i] == '.' {
		k := skipDigits(d, i+1)
		if k == i+1 {
			return digitFault(d, k)
		}
		i = k
	}
	if i < len(d) && d[i]|0x20 == 'e' {
		i++
		if i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		k := skipDigits(d, i)
		if k == i {
			return digitFault(d, k)
		}
		i = k
	}
	return i, ""
}

func skipDigits(d []byte, i int) int {
	for i < len(d) && d[i]-'0' <= 9 {
		i++
	}
	return i
}

func digitFault(d []byte, i int) (int, string) {
	if i == len(d) {
		return i, faultEnd
	}
	return i, "want a digit"
}

// gap is skipSpace that remembers whether there was any.
func gap(d []byte, i int, flags uint8) (int, uint8) {
	if i < len(d) && d[i] <= ' ' {
		return skipSpace(d, i), flags | spaced
	}
	return i, flags
}

func skipArray(d []byte, i, depth int) (end int, flags uint8, fault string) {
	if depth >= MaxDepth {
		return i, 0, TooDeep
	}
	i, flags = gap(d, i+1, 0)
	if i < len(d) && d[i] == ']' {
		return i + 1, flags, ""
	}
	for {
		end, inner, fault := skipValue(d, i, depth+1)
		if fault != "" {
			return end, flags, fault
		}
		i, flags = gap(d, end, flags|inner&spaced)
		switch {
		case i == len(d):
			return i, flags, faultEnd
		case d[i] == ']':
			return i + 1, flags, ""
		case d[i] != ',':
			return i, flags, "want a comma or ] after an element"
		}
		i, flags = gap(d, i+1, flags)
	}
}

func skipObject(d []byte, i, depth int) (end int, flags uint8, fault string) {
	if depth >= MaxDepth {
		return i, 0, TooDeep
	}
	i, flags = gap(d, i+1, 0)
	if i < len(d) && d[i] == '}' {
		return i + 1, flags, ""
	}
	for {
		_, end, keyFlags, fault := skipKey(d, i)
		if fault != "" {
			return end, flags, fault
		}
		end, inner, fault := skipValue(d, end, depth+1)
		if fault != "" {
			return end, flags, fault
		}
		i, flags = gap(d, end, flags|(inner|keyFlags)&spaced)
		switch {
		case i == len(d):
			return i, flags, faultEnd
		case d[i] == '}':
			return i + 1, flags, ""
		case d[i] != ',':
			return i, flags, "want a comma or } after a value"
		}
		i, flags = gap(d, i+1, flags)
	}
}

// skipKey takes the key that starts at d[i], which ends at key, its colon, and
// the space up to the value at end.
func skipKey(d []byte, i int) (key, end int, flags uint8, fault string) {
	if i >= len(d) {
		return i, i, 0, faultEnd
	}
	if d[i] != '"' {
		return i, i, 0, "want a key in quotes"
	}
	if key, flags, fault = skipString(d, i); fault != "" {
		return key, key, flags, fault
	}
	i, flags = gap(d, key, flags)
	if i == len(d) {
		return key, i, flags, faultEnd
	}
	if d[i] != ':' {
		return key, i, flags, "want a colon after a key"
	}
	i, flags = gap(d, i+1, flags)
	return key, i, flags, ""
}

// kindName names the value that starts with ch.
func kindName(ch byte) string {
	switch ch {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
