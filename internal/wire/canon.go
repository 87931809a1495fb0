package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
)

// The canonical form of JSON: no white space; the keys of an object sorted by the bytes of their
// UTF-8 text; strings with the shortest escapes JSON allows and no other;
// numbers exactly as they were written. RFC 8785 differs in that it rewrites
// numbers as float64s and sorts keys by UTF-16: that would make 1, 1.0 and 1e0,
// or two long integers, the same argument, and the tool that is called may tell
// them apart.

// Canonical appends the canonical form of the JSON text raw to dst, which must
// not overlap it. It fails when raw is not valid JSON, is not UTF-8, escapes a
// lone surrogate, has an object with the same key twice, or nests deeper than
// [MaxDepth]; the error is a *[Error] and dst is returned as it was.
func Canonical(dst, raw []byte) ([]byte, error) {
	w := writer{Reader: NewReader(raw), out: dst}
	w.Strict = true
	w.value()
	if err := w.Done(); err != nil {
		return dst, err
	}
	return w.out, nil
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

// A writer copies what it reads to out value by value. Members of an object are
// written in the order they come in; only when that was not the sorted one are
// they sorted afterwards, by position.
type writer struct {
	Reader
	out     []byte
	members []member // of all open objects, the innermost's last
	text    []byte   // room for members that change places
}

// A member is a key, where it stands in the input, and where the member stands
// in out.
type member struct {
	key        []byte
	at         int
	start, end int
}

func (w *writer) value() {
	switch w.Kind() {
	case '"':
		w.out = w.AppendText(w.out)
	case '{':
		w.object()
	case '[':
		w.out = append(w.out, '[')
		w.List()
		for n := 0; w.Element(); n++ {
			if n > 0 {
				w.out = append(w.out, ',')
			}
			w.value()
		}
		w.out = append(w.out, ']')
	default:
		w.out = append(w.out, w.Raw()...)
	}
}

func (w *writer) object() {
	w.out = append(w.out, '{')
	w.Open()
	lo, sorted := len(w.members), true
	for w.More() {
		at, key := w.Offset(), w.Key()
		n := len(w.members)
		if n > lo {
			w.out = append(w.out, ',')
			sorted = sorted && bytes.Compare(w.members[n-1].key, key) < 0
		}
		m := member{key: key, at: at, start: len(w.out)}
		w.out = append(AppendString(w.out, key), ':')
		w.value()
		m.end = len(w.out)
		w.members = append(w.members, m)
	}
	if !sorted {
		w.sort(w.members[lo:])
	}
	w.members = w.members[:lo]
	w.out = append(w.out, '}')
}

// sort puts the members of the object that ends out into order.
func (w *writer) sort(ms []member) {
	start := ms[0].start
	slices.SortStableFunc(ms, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	for k := 1; k < len(ms); k++ {
		if bytes.Equal(ms[k-1].key, ms[k].key) {
			w.FailAt(ms[k].at, fmt.Sprintf("the key %.60s occurs twice in an object", AppendString(nil, ms[k].key)))
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
}
