// Package canon writes JSON in one canonical form, so that texts which mean the
// same compare and digest the same whoever wrote them.
//
// The form: no white space; the keys of an object sorted by the bytes of their
// UTF-8 text; strings with the shortest escapes JSON allows and no other;
// numbers exactly as they were written. RFC 8785 differs in that it rewrites
// numbers as float64s and sorts keys by UTF-16: that would make 1, 1.0 and 1e0,
// or two long integers, the same argument, and the tool that is called may tell
// them apart.
//
// The package leans on nobody's decoder, because all that are at hand accept
// what cannot be made canonical: keys that occur twice and text that is not
// Unicode.
package canon

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
)

// MaxDepth is how many objects and arrays may be open at once.
const MaxDepth = 1000

// Error says what keeps a text from having a canonical form.
type Error struct {
	Offset int    // in bytes from the start of the text
	What   string // the fault
}

func (e *Error) Error() string { return fmt.Sprintf("%s at offset %d", e.What, e.Offset) }

// Canonical appends the canonical form of the JSON text raw to dst, which must
// not overlap it. It fails when raw is not valid JSON, is not UTF-8, escapes a
// lone surrogate, has an object with the same key twice, or nests deeper than
// MaxDepth; the error is an *Error and dst is returned as it was.
func Canonical(dst, raw []byte) ([]byte, error) {
	w := pool.Get().(*writer)
	w.in, w.out = raw, dst
	i, ok := w.value(w.space(0), 0)
	if ok {
		if i = w.space(i); i < len(raw) {
			w.fault(i, "unexpected text after the JSON value")
		}
	}
	out, err := w.out, w.err
	w.release()
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Equal reports whether two texts have the same canonical form. Without one, a
// text equals nothing, not even itself.
func Equal(a, b []byte) bool {
	x, err := Canonical(nil, a)
	if err != nil {
		return false
	}
	y, err := Canonical(nil, b)
	return err == nil && bytes.Equal(x, y)
}

// Digest returns the SHA-256 of the parts in lower-case hexadecimal. Each part is
// preceded by its length as eight bytes, most significant first, so that moving
// bytes from one part to the next gives another digest.
func Digest(parts ...[]byte) string {
	h := sha256.New()
	var size [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write(part)
	}
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0]))
}

// A writer copies in to out value by value. Members of an object are written in
// the order they come in; only when that was not the sorted one are they put
// right afterwards, by position.
type writer struct {
	in, out []byte
	err     error
	members []member // of all open objects, the innermost's last
	text    []byte   // room for members that change places
}

// A member is a key and its value in out: the key's quoted text, a colon, the
// value. plain means that the key has no escapes, so bytes compare like text.
type member struct {
	start, colon, end int
	at                int // of the key, in the input
	plain             bool
}

var pool = sync.Pool{New: func() any { return &writer{members: make([]member, 0, 32)} }}

// release gives the writer back, unless a huge text made it keep a lot.
func (w *writer) release() {
	if cap(w.members) > 1024 || cap(w.text) > 64<<10 {
		return
	}
	*w = writer{members: w.members[:0], text: w.text[:0]}
	pool.Put(w)
}

func (w *writer) fault(at int, what string) (int, bool) {
	if w.err == nil {
		w.err = &Error{at, what}
	}
	return at, false
}

func (w *writer) end() (int, bool) { return w.fault(len(w.in), "unexpected end of JSON") }

func (w *writer) space(i int) int {
	for i < len(w.in) && (w.in[i] == ' ' || w.in[i] == '\n' || w.in[i] == '\r' || w.in[i] == '\t') {
		i++
	}
	return i
}

// value copies the value at in[i], around which depth objects and arrays are
// open, and returns where it ends.
func (w *writer) value(i, depth int) (int, bool) {
	if i >= len(w.in) {
		return w.end()
	}
	switch ch := w.in[i]; {
	case ch == '"':
		return w.str(i)
	case ch == '{' || ch == '[':
		if depth >= MaxDepth {
			return w.fault(i, fmt.Sprintf("nested deeper than %d objects and arrays", MaxDepth))
		}
		if ch == '{' {
			return w.object(i, depth+1)
		}
		return w.array(i, depth+1)
	case ch == '-' || ch-'0' <= 9:
		return w.number(i)
	case ch == 't':
		return w.word(i, "true")
	case ch == 'f':
		return w.word(i, "false")
	case ch == 'n':
		return w.word(i, "null")
	}
	return w.fault(i, "want a JSON value")
}

func (w *writer) word(i int, word string) (int, bool) {
	for k := range len(word) {
		if i+k == len(w.in) {
			return w.end()
		}
		if w.in[i+k] != word[k] {
			return w.fault(i+k, "want "+word)
		}
	}
	w.out = append(w.out, word...)
	return i + len(word), true
}

// number copies a number of the grammar of RFC 8259, section 6.
func (w *writer) number(start int) (int, bool) {
	i := start
	if w.in[i] == '-' {
		i++
	}
	first := i
	i, ok := w.digits(i)
	if !ok {
		return i, false
	}
	if w.in[first] == '0' && i > first+1 {
		return w.fault(first+1, "a number must not start with 0")
	}
	if i < len(w.in) && w.in[i] == '.' {
		if i, ok = w.digits(i + 1); !ok {
			return i, false
		}
	}
	if i < len(w.in) && w.in[i]|0x20 == 'e' {
		i++
		if i < len(w.in) && (w.in[i] == '+' || w.in[i] == '-') {
			i++
		}
		if i, ok = w.digits(i); !ok {
			return i, false
		}
	}
	w.out = append(w.out, w.in[start:i]...)
	return i, true
}

func (w *writer) digits(i int) (int, bool) {
	start := i
	for i < len(w.in) && w.in[i]-'0' <= 9 {
		i++
	}
	switch {
	case i > start:
		return i, true
	case i == len(w.in):
		return w.end()
	}
	return w.fault(i, "want a digit")
}

func (w *writer) array(i, depth int) (int, bool) {
	w.out = append(w.out, '[')
	i = w.space(i + 1)
	if i < len(w.in) && w.in[i] == ']' {
		w.out = append(w.out, ']')
		return i + 1, true
	}
	for {
		end, ok := w.value(i, depth)
		if !ok {
			return end, false
		}
		i = w.space(end)
		switch {
		case i == len(w.in):
			return w.end()
		case w.in[i] == ']':
			w.out = append(w.out, ']')
			return i + 1, true
		case w.in[i] != ',':
			return w.fault(i, "want a comma or ] after an element")
		}
		w.out = append(w.out, ',')
		i = w.space(i + 1)
	}
}

func (w *writer) object(i, depth int) (int, bool) {
	w.out = append(w.out, '{')
	i = w.space(i + 1)
	if i < len(w.in) && w.in[i] == '}' {
		w.out = append(w.out, '}')
		return i + 1, true
	}
	lo, sorted := len(w.members), true
	for {
		if i >= len(w.in) {
			return w.end()
		}
		if w.in[i] != '"' {
			return w.fault(i, "want a key in quotes")
		}
		m := member{start: len(w.out), at: i}
		end, ok := w.str(i)
		if !ok {
			return end, false
		}
		m.colon = len(w.out)
		m.plain = bytes.IndexByte(w.out[m.start:m.colon], '\\') < 0
		i = w.space(end)
		if i == len(w.in) {
			return w.end()
		}
		if w.in[i] != ':' {
			return w.fault(i, "want a colon after a key")
		}
		w.out = append(w.out, ':')
		if end, ok = w.value(w.space(i+1), depth); !ok {
			return end, false
		}
		m.end = len(w.out)
		if n := len(w.members); sorted && n > lo {
			sorted = w.compare(w.members[n-1], m) < 0
		}
		w.members = append(w.members, m)
		i = w.space(end)
		switch {
		case i == len(w.in):
			return w.end()
		case w.in[i] == '}':
			if !sorted && !w.sort(w.members[lo:]) {
				return i, false
			}
			w.members = w.members[:lo]
			w.out = append(w.out, '}')
			return i + 1, true
		case w.in[i] != ',':
			return w.fault(i, "want a comma or } after a value")
		}
		w.out = append(w.out, ',')
		i = w.space(i + 1)
	}
}

// compare orders two members by the text of their keys.
func (w *writer) compare(a, b member) int {
	x, y := w.out[a.start+1:a.colon-1], w.out[b.start+1:b.colon-1]
	if a.plain && b.plain {
		return bytes.Compare(x, y)
	}
	return bytes.Compare(unescape(x), unescape(y))
}

// sort puts the members of the object that ends out into order.
func (w *writer) sort(ms []member) bool {
	start := ms[0].start
	slices.SortStableFunc(ms, w.compare)
	for k := 1; k < len(ms); k++ {
		if w.compare(ms[k-1], ms[k]) == 0 {
			w.fault(ms[k].at, fmt.Sprintf("the key %.60s occurs twice in an object", w.out[ms[k].start:ms[k].colon]))
			return false
		}
	}
	w.text = append(w.text[:0], w.out[start:]...)
	w.out = w.out[:start]
	for k, m := range ms {
		if k > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, w.text[m.start-start:m.end-start]...)
	}
	return true
}
