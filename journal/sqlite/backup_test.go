package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// TestBackup copies the database while runs append to it. The copy has
// what was acknowledged before the copying began, every log in it is whole, and it can be
// appended to.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "pawl.db"), filepath.Join(dir, "copy.db")
	j, err := sqlite.Open(t.Context(), path, nil)
	must(t, err)
	defer j.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	const runs = 4
	begun, ended := make(chan uint64, runs), make(chan error, runs)
	for n := range runs {
		go func() { ended <- appending(ctx, j, fmt.Sprint("r", n), begun) }()
	}
	for range runs {
		<-begun
	}
	must(t, j.Backup(t.Context(), copied))
	stop()
	for range runs {
		must(t, <-ended)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if c, err := sqlite.Open(t.Context(), copied, &sqlite.Options{ReadOnly: true}); err != nil || c.Close() != nil {
		t.Fatal(err)
	}
	c, err := sqlite.Open(t.Context(), copied, nil)
	must(t, err)
	defer c.Close()
	n := 0
	for h, err := range c.List(t.Context(), pawl.Query{}) {
		must(t, err)
		n++
		if h.Seq < atLeast {
			t.Errorf("run %s ends at %d in the copy", h.Run, h.Seq)
		}
		last := uint64(0)
		for row, err := range c.Read(t.Context(), h.Run, 1) {
			if err != nil || row.Seq != last+1 {
				t.Fatalf("run %s after %d: %v", h.Run, last, err)
			}
			last = row.Seq
		}
		if last != h.Seq {
			t.Errorf("run %s ends at %d, its head says %d", h.Run, last, h.Seq)
		}
		lease, err := c.Claim(t.Context(), pawl.Claim{Run: h.Run, Owner: "restored", TTL: time.Minute, Over: h.Lease.Epoch})
		if err == nil {
			err = c.Append(t.Context(), batchAfter(h.Run, lease.Epoch, last))
		}
		if err != nil {
			t.Errorf("the copy takes no append: %v", err)
		}
	}
	if n != runs {
		t.Errorf("the copy has %d runs", n)
	}
	if err := j.Backup(t.Context(), copied); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second copy in its place: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".pawl-*")); err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
}

// atLeast is how many entries each run has before the copying begins.
const atLeast = 20

func batchAfter(run string, epoch, after uint64) pawl.Batch {
	return pawl.Batch{
		Run: run, Epoch: epoch, After: after, Records: [][]byte{fmt.Appendf(nil, `{"seq":%d,"text":"%0500d"}`, after+1, after)},
		Head: pawl.Head{Run: run, Agent: "a", Status: pawl.StatusRunning, Seq: after + 1, Created: time.Unix(1, 0), Updated: time.Unix(2, 0)},
	}
}

// appending appends to a new run until ctx ends, and says when the run has enough entries.
func appending(ctx context.Context, j *sqlite.Journal, run string, begun chan<- uint64) error {
	lease, err := j.Claim(context.WithoutCancel(ctx), pawl.Claim{Run: run, Owner: "o", TTL: time.Minute, New: true})
	for after := uint64(0); err == nil && (ctx.Err() == nil || after < atLeast); after++ {
		if err = j.Append(context.WithoutCancel(ctx), batchAfter(run, lease.Epoch, after)); after == atLeast {
			begun <- after
		}
	}
	return err
}
