package excerpt

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// Buffer is a writer that keeps the first and the last half of its limit,
// counts all bytes and computes their digest. It never needs more memory than
// the limit and never refuses a write, so it can receive any command's output.
// It must be used from one goroutine at a time.
type Buffer struct {
	whole       io.Writer // nil: the whole is discarded
	err         error     // of whole
	head, tail  int       // bytes kept of each
	first, last []byte    // last is a ring once it is full
	next        int       // index in last of the next byte, which replaces the oldest
	total       int64
	sum         hash.Hash
}

// New returns a Buffer that keeps at most limit bytes; zero or less is [DefaultLimit].
//
// If the stream is longer than that, all of it is written to whole: the earlier
// part at the moment of overflow, the rest as it arrives. So whole, which may
// be nil, gets either nothing or everything.
func New(limit int, whole io.Writer) *Buffer {
	head, tail := halves(limit)
	return &Buffer{whole: whole, head: head, tail: tail, sum: sha256.New()}
}

// Write accepts all of p. It always succeeds; see [Buffer.Err].
func (b *Buffer) Write(p []byte) (int, error) {
	n := len(p)
	if b.whole != nil && b.total+int64(n) > int64(b.head+b.tail) {
		if !b.Truncated() { // nothing is dropped yet, and the ring has not wrapped
			b.spool(b.first)
			b.spool(b.last)
		}
		b.spool(p)
	}
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

func (b *Buffer) spool(p []byte) {
	if b.err == nil && len(p) > 0 {
		_, b.err = b.whole.Write(p)
	}
}

// Err returns the error of the writer for the whole stream, which gets nothing
// more after it.
func (b *Buffer) Err() error { return b.err }

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

// Bytes returns the text of [Buffer.String].
func (b *Buffer) Bytes() []byte { return []byte(b.String()) }
