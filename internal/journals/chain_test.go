package journals

import (
	"encoding/hex"
	"testing"
)

// The digests are those that printf and sha256sum give: an auditor needs nothing of ours.
func TestChain(t *testing.T) {
	entries := [][]byte{[]byte("one"), []byte("two")}
	c := NewChain("r")
	digests := c.Digests(entries)
	const want = "c04c81d59c712959b29ee1f99b75967394842fc320d57c1438142b0751200f414aa46f3e279481e83239a48c5c2e5be7f820ac10e9589f8c8d44ded699992be0"
	if got := hex.EncodeToString(digests); got != want {
		t.Errorf("the digests are %s", got)
	}
	if end, n := c.Check(entries, digests); n != 2 || end != c.Next(entries[0]).Next(entries[1]) {
		t.Errorf("%d of 2 entries agree", n)
	}
	for i := range digests {
		digests[i]++
		if _, n := c.Check(entries, digests); n != i/DigestSize {
			t.Errorf("byte %d was changed, and %d entries agree", i, n)
		}
		digests[i]--
	}
	if _, n := c.Check(entries, digests[:40]); n != 1 {
		t.Errorf("the second digest is not whole, and %d entries agree", n)
	}
}
