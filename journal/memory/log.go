package memory

import (
	"encoding/binary"
	"sort"
)

// Chunks grow with the log, so that a short log wastes little and a long one
// is not copied: a quarter of what is there already, within these bounds. The
// least is several records, since the end of a chunk too short for the next one
// stays empty.
const (
	minChunk = 2 << 10
	maxChunk = 64 << 10
)

// A log holds records back to back in chunks that are never moved: appending
// costs a copy of the record and nothing else, and forty short records cost a
// handful of allocations. A record stands behind two lengths, that of the bytes
// it begins with like the first one of its chunk, which are left out, and that
// of the rest: records of one run begin alike, and thousands of runs may be in
// memory at once.
type log struct {
	chunks []chunk
	last   uint64 // seq of the last record
	size   int    // bytes in all chunks
}

type chunk struct {
	first uint64 // seq of the first record in buf
	buf   []byte
}

func (l *log) add(rec []byte) {
	var c *chunk
	like := 0
	if n := len(l.chunks); n > 0 {
		c = &l.chunks[n-1]
		like = c.like(rec)
	}
	if c == nil || cap(c.buf)-len(c.buf) < room(like, len(rec)-like) {
		like = 0
		size := max(room(0, len(rec)), min(max(l.size/4, minChunk), maxChunk))
		l.chunks = append(l.chunks, chunk{first: l.last + 1, buf: make([]byte, 0, size)})
		c = &l.chunks[len(l.chunks)-1]
	}
	c.buf = binary.AppendUvarint(c.buf, uint64(like))
	c.buf = binary.AppendUvarint(c.buf, uint64(len(rec)-like))
	c.buf = append(c.buf, rec[like:]...)
	l.size += room(like, len(rec)-like)
	l.last++
}

// like counts the bytes with which rec begins like the chunk's first record.
func (c *chunk) like(rec []byte) int {
	_, first, _ := next(c.buf)
	n := 0
	for n < len(rec) && n < len(first) && rec[n] == first[n] {
		n++
	}
	return n
}

// next splits off the record that buf begins with.
func next(buf []byte) (like int, own, rest []byte) {
	n, w := binary.Uvarint(buf)
	size, v := binary.Uvarint(buf[w:])
	end := w + v + int(size)
	return int(n), buf[w+v : end], buf[end:]
}

// part returns what one chunk holds from seq on, which must be in the log. It
// stays valid while the log grows, since bytes once written are not touched.
func (l *log) part(seq uint64) part {
	i := sort.Search(len(l.chunks), func(i int) bool { return l.chunks[i].first > seq }) - 1
	c := l.chunks[i]
	return part{skip: seq - c.first, buf: c.buf}
}

type part struct {
	skip uint64
	buf  []byte
}

// records returns copies that share one allocation but cannot grow into each other.
func (p part) records() [][]byte {
	_, first, _ := next(p.buf)
	buf, size, count := p.buf, 0, 0
	for skip := p.skip; skip > 0; skip-- {
		_, _, buf = next(buf)
	}
	for rest := buf; len(rest) > 0; count++ {
		var like int
		var own []byte
		like, own, rest = next(rest)
		size += like + len(own)
	}
	all, out := make([]byte, 0, size), make([][]byte, 0, count)
	for len(buf) > 0 {
		var like int
		var own []byte
		like, own, buf = next(buf)
		begin := len(all)
		all = append(append(all, first[:like]...), own...)
		out = append(out, all[begin:len(all):len(all)])
	}
	return out
}

// room is what a record takes up.
func room(like, own int) int { return uvarintLen(uint64(like)) + uvarintLen(uint64(own)) + own }

func uvarintLen(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}
