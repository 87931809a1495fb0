package journals

import (
	"crypto/sha256"
	"fmt"
)

// DigestSize is the length of a digest in bytes.
const DigestSize = sha256.Size

// A Chain is the digest of a log at an entry. It depends on the run's id and on the bytes of
// all entries up to that one. Everybody who can write to a journal can compute it, so it proves
// nothing unless a copy of it is kept elsewhere.
type Chain [DigestSize]byte

// NewChain returns the digest of an empty log: the SHA-256 of the run's id.
func NewChain(run string) Chain { return sha256.Sum256([]byte(run)) }

// Next returns the digest after one more entry: the SHA-256 of the digest before it and the
// SHA-256 of the entry.
func (c Chain) Next(entry []byte) Chain {
	sum := sha256.Sum256(entry)
	return sha256.Sum256(append(c[:], sum[:]...))
}

// Digests returns the digests of the entries that follow, back to back.
func (c Chain) Digests(entries [][]byte) []byte {
	out := make([]byte, 0, len(entries)*DigestSize)
	for _, entry := range entries {
		c = c.Next(entry)
		out = append(out, c[:]...)
	}
	return out
}

// Check compares the entries that follow with the digests that [Chain.Digests] made of
// them. It returns how many entries agree, and the digest at the last of these.
func (c Chain) Check(entries [][]byte, digests []byte) (Chain, int) {
	for i, entry := range entries {
		next := c.Next(entry)
		if len(digests) < (i+1)*DigestSize || Chain(digests[i*DigestSize:]) != next {
			return c, i
		}
		c = next
	}
	return c, len(entries)
}

// A DamageError says at which entry a log is no longer what was appended.
type DamageError struct {
	Run string
	Seq uint64
	Why string
}

// Error names the run and the entry.
func (e *DamageError) Error() string {
	return fmt.Sprintf("run %s: the log is damaged at entry %d: %s", e.Run, e.Seq, e.Why)
}
