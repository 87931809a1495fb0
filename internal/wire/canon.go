package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Canonical returns the canonical form of a JSON document: no white space; the keys of an object sorted by the
// bytes of their UTF-8 text; strings escaped as encoding/json does without the escapes of HTML; numbers exactly
// as they were written. RFC 8785 differs in that it rewrites numbers as float64s and sorts keys by UTF-16: that
// would make 1, 1.0 and 1e0, or two long integers, the same argument, and the tool that is called may tell them
// apart. It refuses what [Decode] refuses. A document that has the form is returned as it is, so that the result
// must not be written to.
func Canonical(doc []byte) ([]byte, error) {
	if err := whole(doc); err != nil {
		return nil, err
	}
	r := reader{doc: doc}
	if first, _ := r.next(); r.canonical(first) && !spaced(doc) {
		return doc, nil
	}
	value, twice := read(doc)
	if twice != nil {
		return nil, twice
	}
	return Marshal(value)
}

// Equal reports whether two texts have the same canonical form. Without one, a
// text equals nothing, not even itself.
func Equal(a, b []byte) bool {
	x, err := Canonical(a)
	if err != nil {
		return false
	}
	y, err := Canonical(b)
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
