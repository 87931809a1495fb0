package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// words listens to a journal from its first word on.
func words(t testing.TB, j *sqlite.Journal) <-chan string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	heard, done := make(chan string), make(chan bool)
	go func() {
		defer close(done)
		for run, err := range j.WatchLogs(ctx) {
			if err != nil {
				t.Error(err)
			}
			select {
			case heard <- run:
			case <-ctx.Done():
			}
		}
	}()
	t.Cleanup(func() { stop(); <-done })
	if first := <-heard; first != "" {
		t.Fatalf("the first word is of %q, want of any run", first)
	}
	return heard
}

// begun is a run in a journal that can be appended to.
func begun(t testing.TB, j *sqlite.Journal, run string) (add func()) {
	t.Helper()
	lease, err := j.Claim(t.Context(), pawl.Claim{Run: run, Owner: "me", TTL: time.Hour, New: true})
	must(t, err)
	last := uint64(0)
	return func() {
		err := j.Append(t.Context(), pawl.Batch{Run: run, Epoch: lease.Epoch, After: last, Records: [][]byte{[]byte("{}")}})
		must(t, err)
		last++
	}
}

// beside is a journal beside another process's, as it were, and what adds to a run
// of that one.
func beside(t testing.TB, o *sqlite.Options) (j *sqlite.Journal, theirs func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j.db")
	other, err := sqlite.Open(t.Context(), path, nil)
	must(t, err)
	t.Cleanup(func() { _ = other.Close() })
	theirs = begun(t, other, "theirs")
	theirs()
	j, err = sqlite.Open(t.Context(), path, o)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j, theirs
}

// TestWatchLogs holds that one who watches is told which run this process adds
// to, and that something is there to be read when another has added anything.
func TestWatchLogs(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		t.Run(fmt.Sprintf("readOnly=%v", readOnly), func(t *testing.T) {
			j, theirs := beside(t, &sqlite.Options{ReadOnly: readOnly})
			heard := words(t, j)
			for n := uint64(1); n < 5; n++ {
				theirs()
				for have := n; have == n; {
					if run := <-heard; run != "" {
						t.Fatalf("word of run %q, which nobody has added to here", run)
					}
					have = 0
					for _, err := range j.Read(t.Context(), "theirs", 1) {
						must(t, err)
						have++
					}
				}
			}
			if readOnly {
				return
			}
			ours := begun(t, j, "ours")
			ours()
			for run := range heard {
				if run == "ours" {
					return
				}
			}
		})
	}
}

// TestWatchClosed ends the watching with the journal.
func TestWatchClosed(t *testing.T) {
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "j.db"), nil)
	must(t, err)
	for range j.WatchLogs(t.Context()) {
		must(t, j.Close())
	}
}
