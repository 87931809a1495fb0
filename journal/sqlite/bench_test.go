package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// The records of one iteration of a loop, about a kilobyte in two commits:
// tool.finished with model.called, and model.replied with tool.started.
var iteration = [2][][]byte{
	{bytes.Repeat([]byte("f"), 250), bytes.Repeat([]byte("c"), 150)},
	{bytes.Repeat([]byte("r"), 400), bytes.Repeat([]byte("s"), 200)},
}

// BenchmarkAppend measures whole runs of some iterations, with claim and
// release, against a bare program that does the least there is to do for the
// same bytes at the same commit points. They take turns, and the ratio is the
// median of the turns, because what else a machine does disturbs both alike.
func BenchmarkAppend(b *testing.B) {
	for _, normal := range []bool{true, false} {
		for _, n := range []int{10, 100, 1000} {
			name := map[bool]string{true: "NORMAL", false: "FULL"}[normal]
			b.Run(fmt.Sprintf("%s/iterations=%d", name, n), func(b *testing.B) {
				j := openAt(b, filepath.Join(b.TempDir(), "ours.db"), &sqlite.Options{Normal: normal})
				floor := openBare(b, name)
				var ours, bare []float64
				oursBytes, bareBytes := int64(0), int64(0)
				for i := 0; b.Loop(); i++ {
					at, w := time.Now(), written()
					floor.run(b, n)
					bare = append(bare, float64(time.Since(at))/float64(n))
					bareBytes += written() - w
					at, w = time.Now(), written()
					turn(b, j, fmt.Sprintf("run-%08d", i), n)
					ours = append(ours, float64(time.Since(at))/float64(n))
					oursBytes += written() - w
				}
				ratios := make([]float64, len(ours))
				for i := range ours {
					ratios[i] = ours[i] / bare[i]
				}
				total := float64(len(ours) * n)
				b.ReportMetric(median(ours), "ns/iteration")
				b.ReportMetric(median(bare), "bare-ns/iteration")
				b.ReportMetric(median(ratios), "x-bare")
				b.ReportMetric(float64(oursBytes)/total, "written-B/iteration")
				b.ReportMetric(float64(bareBytes)/total, "bare-written-B/iteration")
			})
		}
	}
}

func turn(b *testing.B, j *sqlite.Journal, run string, n int) {
	b.Helper()
	ctx := context.Background()
	l, err := j.Claim(ctx, pawl.Claim{Run: run, Owner: "bench", TTL: time.Minute, New: true})
	if err != nil {
		b.Fatal(err)
	}
	batch := pawl.Batch{Run: run, Epoch: l.Epoch}
	batch.Head = pawl.Head{Agent: "bench", Loop: "react", Status: pawl.StatusRunning, Created: time.Now(), Labels: map[string]string{"team": "ops"}}
	for i := range n {
		for _, records := range iteration {
			batch.Records = records
			batch.Head.Updated, batch.Head.Iterations = time.Now(), i
			if err := j.Append(ctx, batch); err != nil {
				b.Fatal(err)
			}
			batch.After += uint64(len(records))
		}
	}
	if _, err := j.Claim(ctx, pawl.Claim{Run: run, Epoch: l.Epoch}); err != nil {
		b.Fatal(err)
	}
}

// A bare program has one table and one statement.
type bare struct {
	insert *sqlite3.Stmt
	seq    int64
	commit [2][]byte
}

func openBare(b *testing.B, synchronous string) *bare {
	b.Helper()
	c, err := sqlite3.Open(filepath.Join(b.TempDir(), "bare.db"))
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ` + synchronous + `; CREATE TABLE log (seq INTEGER PRIMARY KEY, data BLOB)`); err != nil {
		b.Fatal(err)
	}
	insert, _, err := c.PrepareFlags(`INSERT INTO log VALUES (?, ?)`, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := insert.Close(); err != nil {
			b.Error(err)
		}
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	})
	f := &bare{insert: insert}
	for i, records := range iteration {
		f.commit[i] = bytes.Join(records, nil)
	}
	return f
}

func (f *bare) run(b *testing.B, n int) {
	b.Helper()
	for range n {
		for _, data := range f.commit {
			f.seq++
			if err := f.insert.BindInt64(1, f.seq); err != nil {
				b.Fatal(err)
			}
			if err := f.insert.BindBlob(2, data); err != nil {
				b.Fatal(err)
			}
			if err := f.insert.Exec(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// written is how many bytes this process has handed to write calls, where the system counts that.
func written() int64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "wchar: "); ok {
			v, _ := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
			return v
		}
	}
	return 0
}
