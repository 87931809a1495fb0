package memory

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// Chunks grow with the log, so that a short log wastes little and a long one
// is not copied: a quarter of what is there already, within these bounds.
const (
	minChunk = 512
	maxChunk = 64 << 10
)

// A log holds records back to back, each behind its length, in chunks that are
// never moved: appending costs a copy of the record and nothing else, and
// forty short records cost a handful of allocations.
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
	need := uvarintLen(uint64(len(rec))) + len(rec)
	n := len(l.chunks)
	if n == 0 || cap(l.chunks[n-1].buf)-len(l.chunks[n-1].buf) < need {
		size := max(need, min(max(l.size/4, minChunk), maxChunk))
		l.chunks = append(l.chunks, chunk{first: l.last + 1, buf: make([]byte, 0, size)})
		n++
	}
	c := &l.chunks[n-1]
	c.buf = binary.AppendUvarint(c.buf, uint64(len(rec)))
	c.buf = append(c.buf, rec...)
	l.size += need
	l.last++
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
	buf := p.buf
	for ; p.skip > 0; p.skip-- {
		n, w := binary.Uvarint(buf)
		buf = buf[w+int(n):]
	}
	buf = bytes.Clone(buf)
	var out [][]byte
	for len(buf) > 0 {
		n, w := binary.Uvarint(buf)
		end := w + int(n)
		out = append(out, buf[w:end:end])
		buf = buf[end:]
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
