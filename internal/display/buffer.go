package display

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// Buffer is a writer that keeps the first and the last half of its limit,
// counts all bytes and computes their digest. It never needs more memory than
// the limit and never refuses a write, so it can receive any command's output.
// It must be used from one goroutine at a time.
type Buffer struct {
	head, tail  int    // bytes kept of each
	first, last []byte // last is a ring once it is full
	next        int    // index in last of the next byte, which replaces the oldest
	total       int64
	sum         hash.Hash
}

// NewBuffer returns a Buffer that keeps at most limit bytes; zero or less is [DefaultLimit].
func NewBuffer(limit int) *Buffer {
	head, tail := halves(limit)
	return &Buffer{head: head, tail: tail, sum: sha256.New()}
}

// Write accepts all of p. It always succeeds.
func (b *Buffer) Write(p []byte) (int, error) {
	n := len(p)
	b.total += int64(n)
	b.sum.Write(p)
	if room := min(b.head-len(b.first), len(p)); room > 0 {
		b.first = append(b.first, p[:room]...)
		p = p[room:]
	}
	b.keep(p)
	return n, nil
}

// keep appends p to the end of the stream.
func (b *Buffer) keep(p []byte) {
	if len(p) >= b.tail {
		b.last = append(b.last[:0], p[len(p)-b.tail:]...)
		b.next = 0
		return
	}
	if room := min(b.tail-len(b.last), len(p)); room > 0 {
		b.last = append(b.last, p[:room]...)
		p = p[room:]
	}
	for len(p) > 0 {
		n := copy(b.last[b.next:], p)
		b.next = (b.next + n) % b.tail
		p = p[n:]
	}
}

// Total returns the number of bytes written.
func (b *Buffer) Total() int64 { return b.total }

// Truncated reports whether bytes were dropped.
func (b *Buffer) Truncated() bool { return b.total > int64(b.head+b.tail) }

// Digest returns the SHA-256 of all bytes written, in hexadecimal.
func (b *Buffer) Digest() string { return hex.EncodeToString(b.sum.Sum(nil)) }

// String returns the text: everything if it fits the limit, else the beginning,
// a line with the number of dropped bytes and the digest of the whole, and the
// end. It cuts at ends of lines where possible, and never within a character.
// Invalid UTF-8 becomes U+FFFD. The line and replacements are in addition to
// the limit.
//
// The line is for readers. Programs must use [Buffer.Truncated], since any text
// may contain such a line.
func (b *Buffer) String() string {
	last := string(b.last[b.next:]) + string(b.last[:b.next])
	if !b.Truncated() {
		return valid(string(b.first) + last)
	}
	return render(string(b.first), last, b.total, b.sum.Sum(nil))
}
