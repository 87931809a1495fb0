package memory

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
)

// Chunks grow with the log, so that a short log wastes little and a long one
// is not copied: a quarter of what is there already, within these bounds. The
// least is several records, since the end of a chunk too short for the next one
// stays empty.
const (
	minChunk = 1 << 10
	maxChunk = 16 << 10
)

// mostBases is how many records others are told by.
const mostBases = 8

// A log holds records back to back in chunks that are never moved: appending
// costs a copy of what is new in the record and little else, and forty short
// records cost a handful of allocations. The first record of a kind is kept whole,
// and those after it as what differs, since thousands of runs may be in memory at
// once and the records of one run say much the same: the number of the base they
// are told by (zero: of none), their length, and then the difference or the whole.
type log struct {
	chunks []chunk
	bases  []base
	last   uint64 // seq of the last record
	size   int    // bytes in all chunks
}

type chunk struct {
	first uint64 // seq of the first record in buf
	buf   []byte
}

// A base is a record kept whole, by which others of its kind are told.
type base struct {
	rec      []byte
	from, to int32 // where its kind stands
}

// kind finds what an entry says it is. Records in which nothing is found are of
// one kind: which base is taken decides how small a record is, never what is read.
func kind(rec []byte) (from, to int32) {
	mark := []byte(`"type":"`)
	i := bytes.Index(rec, mark)
	if i < 0 {
		return 0, 0
	}
	i += len(mark)
	return int32(i), int32(i + max(bytes.IndexByte(rec[i:], '"'), 0))
}

func (l *log) add(rec []byte) {
	var room [256]byte
	own := rec
	from, to := kind(rec)
	by := 1 + slices.IndexFunc(l.bases, func(b base) bool { return bytes.Equal(b.rec[b.from:b.to], rec[from:to]) })
	fresh := by == 0 && len(l.bases) < mostBases
	if by > 0 {
		if own = appendDiff(room[:0], l.bases[by-1].rec, rec); len(own) >= len(rec) {
			by, own = 0, rec
		}
	}
	need := uvarintLen(uint64(by)) + uvarintLen(uint64(len(rec))) + len(own)
	var c *chunk
	if n := len(l.chunks); n > 0 {
		c = &l.chunks[n-1]
	}
	if c == nil || cap(c.buf)-len(c.buf) < need {
		size := max(need, min(max(l.size/4, minChunk), maxChunk))
		if c == nil {
			size = need + minChunk // the first record holds the whole agent
		}
		l.chunks = append(l.chunks, chunk{first: l.last + 1, buf: make([]byte, 0, size)})
		c = &l.chunks[len(l.chunks)-1]
	}
	c.buf = binary.AppendUvarint(c.buf, uint64(by))
	c.buf = binary.AppendUvarint(c.buf, uint64(len(rec)))
	c.buf = append(c.buf, own...)
	if fresh {
		l.bases = append(l.bases, base{c.buf[len(c.buf)-len(rec):], from, to})
	}
	l.size += need
	l.last++
}

// next splits off the record that buf begins with: the number of its base, its
// length, and what is kept of it.
func next(buf []byte) (by, size int, own, rest []byte) {
	b, w := binary.Uvarint(buf)
	n, v := binary.Uvarint(buf[w:])
	by, size, buf = int(b), int(n), buf[w+v:]
	end := size
	if by > 0 {
		end = diffLen(buf, size)
	}
	return by, size, buf[:end], buf[end:]
}

// part returns what one chunk holds from seq on, which must be in the log. It
// stays valid while the log grows, since bytes once written are not touched.
func (l *log) part(seq uint64) part {
	i := sort.Search(len(l.chunks), func(i int) bool { return l.chunks[i].first > seq }) - 1
	c := l.chunks[i]
	return part{skip: seq - c.first, buf: c.buf, bases: l.bases}
}

type part struct {
	skip  uint64
	buf   []byte
	bases []base
}

// records returns copies that share one allocation but cannot grow into each other.
func (p part) records() [][]byte {
	buf, size, count := p.buf, 0, 0
	for skip := p.skip; skip > 0; skip-- {
		_, _, _, buf = next(buf)
	}
	for rest := buf; len(rest) > 0; count++ {
		var n int
		_, n, _, rest = next(rest)
		size += n
	}
	all, out := make([]byte, 0, size), make([][]byte, 0, count)
	for len(buf) > 0 {
		var by int
		var own []byte
		by, _, own, buf = next(buf)
		begin := len(all)
		if by == 0 {
			all = append(all, own...)
		} else {
			all = patch(all, p.bases[by-1].rec, own)
		}
		out = append(out, all[begin:len(all):len(all)])
	}
	return out
}

func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}
