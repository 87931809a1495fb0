package memory_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/journaltest"
	"github.com/pawl-run/pawl/journal/memory"
)

func TestContract(t *testing.T) {
	journaltest.Run(t, func(*testing.T) pawl.Journal { return memory.New() }, nil)
}

// TestCompact holds the log to less than twice its bytes.
func TestCompact(t *testing.T) {
	const runs, batches = 1000, 20
	leases := make([]pawl.Lease, runs)
	rec := bytes.Repeat([]byte("x"), 250)
	j := memory.New()
	for i := range leases {
		leases[i] = claim(t, j, fmt.Sprint("run-", i))
	}
	before := heap()
	for n := range uint64(batches) {
		for _, l := range leases {
			b := pawl.Batch{Run: l.Run, Epoch: l.Epoch, After: n * 2, Records: [][]byte{rec, rec}}
			check.Must(t, j.Append(context.Background(), b))
		}
	}
	per := (heap() - before) / runs
	runtime.KeepAlive(j)
	if payload := uint64(2 * batches * len(rec)); per > payload*2 {
		t.Errorf("%d bytes of records take %d bytes", payload, per)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func claim(tb testing.TB, j pawl.Journal, run string) pawl.Lease {
	tb.Helper()
	l, err := j.Claim(context.Background(), pawl.Claim{Run: run, Owner: "me", TTL: time.Minute, New: true})
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func BenchmarkAppend(b *testing.B) {
	for _, records := range []int{1, 2} {
		b.Run(fmt.Sprint("records=", records), func(b *testing.B) {
			j := memory.New()
			batch := pawl.Batch{Head: pawl.Head{Labels: map[string]string{"team": "ops"}, Status: pawl.StatusRunning}}
			for range records {
				batch.Records = append(batch.Records, bytes.Repeat([]byte("x"), 250))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				// A run of forty records, then the next.
				if at := i % (40 / records); at == 0 {
					l := claim(b, j, fmt.Sprint("run-", i))
					batch.Run, batch.Epoch, batch.After = l.Run, l.Epoch, 0
				}
				check.Must(b, j.Append(context.Background(), batch))
				batch.After += uint64(records)
				if i%100_000 == 99_999 {
					j = memory.New() // or the benchmark measures the collector
					batch.Run = ""
					l := claim(b, j, "again")
					batch.Run, batch.Epoch, batch.After = l.Run, l.Epoch, 0
				}
			}
		})
	}
}

func BenchmarkAppendParallel(b *testing.B) {
	j := memory.New()
	b.RunParallel(func(pb *testing.PB) {
		rec := bytes.Repeat([]byte("x"), 250)
		batch := pawl.Batch{Records: [][]byte{rec, rec}}
		for i := 0; pb.Next(); i++ {
			if i%20 == 0 {
				l := claim(b, j, fmt.Sprintf("run-%p-%d", &rec, i))
				batch.Run, batch.Epoch, batch.After = l.Run, l.Epoch, 0
			}
			if err := j.Append(context.Background(), batch); err != nil {
				b.Error(err)
				return
			}
			batch.After += 2
		}
	})
}
