package jsonschema

import "slices"

import "unicode/utf8"

// A matcher recognises, in one pass over the bytes and without allocating,
// documents that are surely valid. It has two answers, "surely valid" and
// "don't know", so wherever a case is rare or subtle it may give up; it must
// never accept what the library refuses. A nil matcher knows nothing.
//
// Decoding and then validating costs microseconds per tool call; that is most of
// what a turn of the loop may cost, for arguments that nearly always are right.
type matcher struct {
	kinds kinds

	words []string // if not nil, only these strings are known to be valid

	bounded        bool  // of numbers
	low, high      int64 // inclusive, when bounded
	sized          bool  // of strings, in code points
	shortest, most int

	items          *matcher
	fewest, utmost int // items of arrays

	properties  []property
	index       map[string]int // for objects with many properties
	required    uint64         // bits of properties
	extra       *matcher       // of properties not named; nil is "don't know"
	least, peak int            // number of properties
}

type property struct {
	name string
	m    *matcher
}

// kinds is a set of JSON types.
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	integer
	number // implies integer
	text
	array
	object
)

const (
	deepest = 64 // nesting a matcher follows
	longest = 64 // bytes of a number a matcher reads
	extras  = 16 // properties not named it can tell apart
)

func (m *matcher) accepts(doc []byte) bool {
	i := m.match(doc, space(doc, 0), 0)
	return i >= 0 && space(doc, i) == len(doc)
}

// match returns the index after the value that begins at i, or -1.
func (m *matcher) match(d []byte, i, depth int) int {
	if m == nil || depth > deepest {
		return -1
	}
	c := at(d, i)
	if c == '"' {
		return m.matchText(d, i)
	}
	if m.words != nil {
		return -1
	}
	switch c {
	case '{':
		return m.matchObject(d, i, depth)
	case '[':
		return m.matchArray(d, i, depth)
	case 't':
		return m.matchWord(d, i, boolean, "true")
	case 'f':
		return m.matchWord(d, i, boolean, "false")
	case 'n':
		return m.matchWord(d, i, null, "null")
	default:
		return m.matchNumber(d, i)
	}
}

func (m *matcher) matchWord(d []byte, i int, k kinds, word string) int {
	end := i + len(word)
	if m.kinds&k == 0 || end > len(d) || string(d[i:end]) != word {
		return -1
	}
	return end
}

func (m *matcher) matchText(d []byte, i int) int {
	end, plain := quoted(d, i)
	if end < 0 || m.kinds&text == 0 {
		return -1
	}
	if m.words == nil && !m.sized {
		return end
	}
	if !plain {
		return -1
	}
	body := d[i+1 : end-1]
	if m.sized {
		if n := utf8.RuneCount(body); n < m.shortest || n > m.most {
			return -1
		}
	}
	if m.words == nil {
		return end
	}
	if slices.Contains(m.words, string(body)) {
		return end
	}
	return -1
}

// matchNumber knows the value of a number by the whole numbers around it: for
// 2.5 those are 2 and 3. If both lie within the bounds, so does the number.
func (m *matcher) matchNumber(d []byte, i int) int {
	start, minus := i, at(d, i) == '-'
	if minus {
		i++
	}
	digits := i
	var whole int64
	for ; i-digits < 18 && '0' <= at(d, i) && at(d, i) <= '9'; i++ {
		whole = whole*10 + int64(d[i]-'0')
	}
	exact := true
	for '0' <= at(d, i) && at(d, i) <= '9' {
		exact = false
		i++
	}
	if i == digits || (d[digits] == '0' && i > digits+1) {
		return -1
	}
	low, high, isWhole := whole, whole, true
	if at(d, i) == '.' {
		from := i + 1
		if i = run(d, from); i == from {
			return -1
		}
		isWhole = false
		high++
	}
	if c := at(d, i); c == 'e' || c == 'E' {
		if i++; at(d, i) == '+' || at(d, i) == '-' {
			i++
		}
		from := i
		if i = run(d, from); i == from || i > from+2 {
			return -1
		}
		isWhole, exact = false, false
	}
	switch {
	case i-start > longest || m.kinds&(integer|number) == 0:
		return -1
	case !isWhole && m.kinds&number == 0:
		return -1 // 1.0 and 1e2 are integers; leave them to the library
	case !m.bounded:
		return i
	case !exact:
		return -1
	}
	if minus {
		low, high = -high, -low
	}
	if low < m.low || high > m.high {
		return -1
	}
	return i
}

func (m *matcher) matchArray(d []byte, i, depth int) int {
	if m.kinds&array == 0 {
		return -1
	}
	n := 0
	if i = space(d, i+1); at(d, i) != ']' {
		for {
			if i = m.items.match(d, i, depth+1); i < 0 {
				return -1
			}
			n++
			if i = space(d, i); at(d, i) != ',' {
				break
			}
			i = space(d, i+1)
		}
	}
	if at(d, i) != ']' || n < m.fewest || n > m.utmost {
		return -1
	}
	return i + 1
}

func (m *matcher) matchObject(d []byte, i, depth int) int {
	if m.kinds&object == 0 {
		return -1
	}
	var seen uint64
	var others [extras][]byte
	n, strange, next := 0, 0, 0
	if i = space(d, i+1); at(d, i) != '}' {
		for {
			end, plain := quoted(d, i)
			if end < 0 || !plain {
				return -1
			}
			key, inner := d[i+1:end-1], m.extra
			if p := m.find(key, next); p >= 0 {
				if seen&(1<<p) != 0 {
					return -1
				}
				seen |= 1 << p
				next, inner = p+1, m.properties[p].m
			} else {
				if inner == nil || strange == extras {
					return -1
				}
				for _, other := range others[:strange] {
					if string(other) == string(key) {
						return -1
					}
				}
				others[strange] = key
				strange++
			}
			if i = space(d, end); at(d, i) != ':' {
				return -1
			}
			if i = inner.match(d, space(d, i+1), depth+1); i < 0 {
				return -1
			}
			n++
			if i = space(d, i); at(d, i) != ',' {
				break
			}
			i = space(d, i+1)
		}
	}
	if at(d, i) != '}' || seen&m.required != m.required || n < m.least || n > m.peak {
		return -1
	}
	return i + 1
}

// find looks for a property from next on, since documents tend to keep an order.
func (m *matcher) find(key []byte, next int) int {
	if m.index != nil {
		if p, ok := m.index[string(key)]; ok {
			return p
		}
		return -1
	}
	for p := next; p < len(m.properties); p++ {
		if m.properties[p].name == string(key) {
			return p
		}
	}
	for p := range next {
		if m.properties[p].name == string(key) {
			return p
		}
	}
	return -1
}
