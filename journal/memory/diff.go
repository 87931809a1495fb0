package memory

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A difference tells a record by a base that is much like it, as pairs of lengths:
// so many bytes as the base has them, then so many of the record's own, which
// follow. Behind its own bytes the base is gone on with after as many commas as
// they have. Entries are lists of members in a fixed order whose values differ, so
// that what is alike in two of a kind is found at the commas, at one look at each
// byte; a real search for what they share would cost more than an entry does.

// leastAlike is how many bytes must be alike to be worth two lengths.
const leastAlike = 4

// appendDiff appends the difference of rec from base.
func appendDiff(dst, base, rec []byte) []byte {
	for len(rec) > 0 {
		n := alike(base, rec)
		base, rec = base[n:], rec[n:]
		own := 0
		for own < len(rec) {
			i, j := bytes.IndexByte(rec[own:], ','), bytes.IndexByte(base, ',')
			if i < 0 || j < 0 {
				own = len(rec)
				break
			}
			own, base = own+i+1, base[j+1:]
			if alike(base, rec[own:]) >= leastAlike {
				break
			}
		}
		dst = binary.AppendUvarint(dst, uint64(n))
		dst = binary.AppendUvarint(dst, uint64(own))
		dst = append(dst, rec[:own]...)
		rec = rec[own:]
	}
	return dst
}

// patch appends the record of a difference from base.
func patch(dst, base, diff []byte) []byte {
	for len(diff) > 0 {
		n, own, w := pair(diff)
		dst = append(dst, base[:n]...)
		base, diff = base[n:], diff[w:]
		dst = append(dst, diff[:own]...)
		for range bytes.Count(diff[:own], []byte{','}) {
			base = base[bytes.IndexByte(base, ',')+1:] // no comma is left only behind the record's end
		}
		diff = diff[own:]
	}
	return dst
}

// diffLen is how much of buf the difference takes that makes size bytes.
func diffLen(buf []byte, size int) int {
	at := 0
	for size > 0 {
		n, own, w := pair(buf[at:])
		at, size = at+w+own, size-n-own
	}
	return at
}

// pair reads two lengths, which take w bytes.
func pair(buf []byte) (n, own, w int) {
	a, i := binary.Uvarint(buf)
	b, j := binary.Uvarint(buf[i:])
	return int(a), int(b), i + j
}

// alike counts the bytes with which a and b begin alike.
func alike(a, b []byte) int {
	most := min(len(a), len(b))
	n := 0
	for ; n+8 <= most; n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}
