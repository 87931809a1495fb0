//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/postgres"
)

func logOf(t *testing.T, j *postgres.Journal, run string) (out []string) {
	t.Helper()
	for r, err := range j.Read(t.Context(), run, 0) {
		must(t, err)
		out = append(out, string(r.Data))
	}
	return out
}

// appending takes a run over and appends batches until ctx ends or something
// breaks. Each record holds its seq and its place in the batch, so that a
// reader can tell what is missing.
func appending(ctx context.Context, j *postgres.Journal, run, me string, acknowledged func(end uint64)) error {
	c := pawl.Claim{Run: run, Owner: me, TTL: time.Minute, New: true}
	for h, err := range j.List(ctx, pawl.Query{Run: run}) {
		if err != nil {
			return err
		}
		c.New, c.Over = false, h.Lease.Epoch // the one before was killed
	}
	l, err := j.Claim(ctx, c)
	// Where the log ends is asked now: what the one before had sent may have been done until then.
	end := uint64(0)
	for h, err := range j.List(ctx, pawl.Query{Run: run}) {
		if err != nil {
			return err
		}
		end = h.Seq
	}
	for err == nil && ctx.Err() == nil {
		b := pawl.Batch{Run: run, Epoch: l.Epoch, After: end, Head: pawl.Head{Status: pawl.StatusRunning}}
		n := 1 + rand.IntN(3)
		for k := range n {
			end++
			filler := strings.Repeat("x", rand.IntN(400)*rand.IntN(30))
			b.Records = append(b.Records, fmt.Appendf(nil, "%d %d/%d %s", end, k+1, n, filler))
		}
		if err = j.Append(ctx, b); err == nil {
			acknowledged(end)
		}
	}
	return err
}

// whole reads a log of appending, insists on whole batches without a gap, and returns its end.
func whole(t *testing.T, j *postgres.Journal, run string) uint64 {
	t.Helper()
	end, k, n := uint64(0), 0, 0
	for r, err := range j.Read(t.Context(), run, 0) {
		must(t, err)
		var seq uint64
		wantK := k%max(n, 1) + 1
		if _, err := fmt.Sscanf(string(r.Data[:min(len(r.Data), 40)]), "%d %d/%d", &seq, &k, &n); err != nil {
			t.Fatalf("%s: record %d: %v", run, r.Seq, err)
		}
		if r.Seq != end+1 || seq != r.Seq || k != wantK {
			t.Fatalf("%s: after %d comes record %d, which says that it is %d and part %d of %d", run, end, r.Seq, seq, k, n)
		}
		end = r.Seq
	}
	if k != n {
		t.Fatalf("%s ends with part %d of a batch of %d", run, k, n)
	}
	return end
}

// headOf is where the head says that the log ends.
func headOf(t *testing.T, j *postgres.Journal, run string) uint64 {
	t.Helper()
	for h, err := range j.List(t.Context(), pawl.Query{Run: run}) {
		must(t, err)
		return h.Seq
	}
	return 0
}
