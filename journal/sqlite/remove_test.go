package sqlite_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// TestRemovedElsewhere removes a run behind the back of who has written to it:
// he may never come to write to another run, not even one of the same name.
func TestRemovedElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	mine, theirs := openAt(t, path, nil), openAt(t, path, nil)
	claim := func(j *sqlite.Journal, run string) pawl.Lease {
		l, err := j.Claim(t.Context(), pawl.Claim{Run: run, TTL: time.Minute, New: true})
		must(t, err)
		return l
	}
	old := claim(mine, "r")
	add(t, mine, old, 0, "old")
	must(t, theirs.Remove(t.Context(), "r", old.Epoch))
	other := claim(theirs, "other")
	add(t, theirs, other, 0, "other")
	late := pawl.Batch{Run: "r", Epoch: old.Epoch, After: 1, Records: [][]byte{[]byte("late")}}
	if err := mine.Append(t.Context(), late); !errors.Is(err, pawl.ErrUnknownRun) {
		t.Errorf("an append to a run that was removed: %v", err)
	}
	again := claim(theirs, "r")
	if err := mine.Append(t.Context(), late); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("an append to a run that was removed and created again: %v", err)
	}
	add(t, mine, again, 0, "new")
	for run, want := range map[string]string{"r": "new", "other": "other"} {
		for r, err := range mine.Read(t.Context(), run, 0) {
			if err != nil || string(r.Data) != want || r.Seq != 1 {
				t.Errorf("run %s has %q as %d, %v", run, r.Data, r.Seq, err)
			}
		}
	}
}

// TestCompact removes most of a database and gives the room back, with another
// process beside it that goes on writing.
func TestCompact(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	j, beside := openAt(t, path, nil), openAt(t, path, nil)
	stays, err := beside.Claim(t.Context(), pawl.Claim{Run: "stays", TTL: time.Minute, New: true})
	must(t, err)
	add(t, beside, stays, 0, "before")
	big := bytes.Repeat([]byte("x"), 1<<20)
	l, err := j.Claim(t.Context(), pawl.Claim{Run: "goes", TTL: time.Minute, New: true})
	must(t, err)
	must(t, j.Append(t.Context(), pawl.Batch{Run: "goes", Epoch: l.Epoch, Records: [][]byte{big}}))
	sum := sha256.Sum256(big)
	must(t, j.PutBlob(t.Context(), hex.EncodeToString(sum[:]), big))
	must(t, j.Remove(t.Context(), "goes", l.Epoch))
	if n, err := j.RemoveBlobs(t.Context(), time.Now().Add(time.Second), func(string) bool { return false }); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	was, is, err := j.Compact(t.Context())
	if err != nil || was < 2<<20 || is > 200<<10 {
		t.Errorf("the file had %d bytes and has %d, %v", was, is, err)
	}
	add(t, beside, stays, 1, "after")
	n := 0
	for _, err := range j.Read(t.Context(), "stays", 0) {
		if n++; err != nil {
			t.Error(err)
		}
	}
	if n != 2 {
		t.Errorf("%d records are there, not 2", n)
	}
}
