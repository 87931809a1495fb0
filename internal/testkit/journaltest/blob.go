package journaltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/pawl-run/pawl"
)

func (c *check) store() pawl.Blobs {
	c.Helper()
	b, ok := c.Journal.(pawl.Blobs)
	if !ok {
		c.Skip("this journal keeps no blobs")
	}
	return b
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// samples are blobs of awkward sizes.
func samples() [][]byte {
	return [][]byte{{}, {0}, []byte("text"), bytes.Repeat([]byte{0xff, 0, 'x'}, 5000), bytes.Repeat([]byte("0123456789abcdef"), 4<<16)}
}

var blobs = []rule{
	{"blob/round", "a blob comes back byte for byte, and storing it again is harmless", func(c *check) {
		s := c.store()
		for _, data := range samples() {
			for range 2 {
				c.ok(s.PutBlob(c.Context(), digest(data), data), "storing")
			}
		}
		c.blobsAre()
	}},
	{"blob/unknown", "a blob that was not stored is ErrUnknownBlob", func(c *check) {
		_, err := c.store().Blob(c.Context(), digest([]byte("nothing")))
		c.is(err, pawl.ErrUnknownBlob, "asking for it")
	}},
	{"blob/own", "slices handed in are not kept, and those handed out belong to the caller", func(c *check) {
		s := c.store()
		data, name := []byte("text"), digest([]byte("text"))
		c.ok(s.PutBlob(c.Context(), name, data), "storing")
		copy(data, "xxxx")
		for range 2 {
			got, err := s.Blob(c.Context(), name)
			c.ok(err, "asking for it")
			c.same("text", string(got), "the blob")
			copy(got, "yyyy")
		}
	}},
	{"blob/race", "many may store the same blob at once", func(c *check) {
		s := c.store()
		data := samples()[3]
		c.ok(errors.Join(race(16, func(int) error { return s.PutBlob(c.Context(), digest(data), data) })...), "storing")
		got, err := s.Blob(c.Context(), digest(data))
		c.ok(err, "asking for it")
		if !bytes.Equal(got, data) {
			c.failf("%d bytes came back, or others, for %d", len(got), len(data))
		}
	}},
	{"blob/reopened", "blobs outlive a restart", func(c *check) {
		for _, data := range samples() {
			c.ok(c.store().PutBlob(c.Context(), digest(data), data), "storing")
		}
		c.reopen()
		c.blobsAre()
	}},
}

func (c *check) blobsAre() {
	c.Helper()
	for _, data := range samples() {
		got, err := c.store().Blob(c.Context(), digest(data))
		c.ok(err, "asking for it")
		if !bytes.Equal(got, data) {
			c.failf("%d bytes came back, or others, for %d", len(got), len(data))
		}
	}
}
