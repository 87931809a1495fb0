package server

import (
	"fmt"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// TestChaptersAreShared: readers who are given the same page of the journal do
// not take entries from each other when one has sent its own, and clears or reuses
// its room.
func TestChaptersAreShared(t *testing.T) {
	const run, entries = "r", pastFrames + 10
	j := memory.New()
	lease, err := j.Claim(t.Context(), pawl.Claim{Run: run, Owner: "o", TTL: 1 << 40, New: true})
	if err != nil {
		t.Fatal(err)
	}
	var records [][]byte
	for seq := range entries {
		records = append(records, fmt.Appendf(nil, `{"seq":%d,"type":"noted"}`, seq+1))
	}
	if err := j.Append(t.Context(), pawl.Batch{Run: run, Epoch: lease.Epoch, Records: records, Head: pawl.Head{Run: run, Seq: entries, Status: pawl.StatusRunning}}); err != nil {
		t.Fatal(err)
	}
	h := newHubs(j, func(string) *engine.Handle { return nil })
	defer h.close()
	var readers [3]*reader
	for i := range readers {
		if readers[i], _, err = h.enter(t.Context(), run, 0); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		for _, r := range readers {
			r.leave()
		}
	}()
	var taken [len(readers)][]frame
	for i, r := range readers { // all have theirs before one sends it
		if taken[i], _, _, err = r.take(t.Context(), nil); err != nil || len(taken[i]) != pastFrames {
			t.Fatal(len(taken[i]), err)
		}
	}
	clear(taken[0])
	if _, _, _, err = readers[0].take(t.Context(), taken[0]); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(readers); i++ {
		for n, f := range taken[i] {
			if f.seq != uint64(n+1) || len(f.text) == 0 {
				t.Fatalf("reader %d has entry %d and %d bytes in place of entry %d", i, f.seq, len(f.text), n+1)
			}
		}
	}
}
