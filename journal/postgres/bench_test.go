//go:build unix

package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
)

// BenchmarkAppend measures one append against a bare INSERT of the same bytes
// into one table, on one connection and as durable. They take turns, and the
// ratio is the median of the turns, because what else a machine does disturbs
// both alike.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []struct{ records, bytes int }{{1, 500}, {2, 300}, {50, 500}} {
		b.Run(fmt.Sprintf("records=%d/bytes=%d", size.records, size.bytes), func(b *testing.B) {
			j, ctx := fresh(b), context.Background()
			l, err := j.Claim(ctx, pawl.Claim{Run: "r", Owner: "bench", TTL: time.Hour, New: true})
			must(b, err)
			batch := pawl.Batch{Run: "r", Epoch: l.Epoch, Head: pawl.Head{Agent: "bench", Loop: "react", Status: pawl.StatusRunning, Created: time.Now(), Labels: map[string]string{"team": "ops"}}}
			for range size.records {
				batch.Records = append(batch.Records, bytes.Repeat([]byte("r"), size.bytes))
			}
			floor, n := openBare(b), 0
			data := bytes.Join(batch.Records, nil)
			var ours, bare []float64
			for b.Loop() {
				at := time.Now()
				_, err = floor.Exec(ctx, `INSERT INTO bare VALUES ($1, $2)`, n, data)
				must(b, err)
				bare = append(bare, float64(time.Since(at)))
				n++
				at = time.Now()
				must(b, j.Append(ctx, batch))
				ours = append(ours, float64(time.Since(at)))
				batch.After += uint64(size.records)
			}
			ratios := make([]float64, len(ours))
			for i := range ours {
				ratios[i] = ours[i] / bare[i]
			}
			b.ReportMetric(median(ours), "ns/append")
			b.ReportMetric(median(bare), "bare-ns/insert")
			b.ReportMetric(median(ratios), "x-bare")
		})
	}
}

// openBare is a connection to a table with one statement, which waits for the disk.
func openBare(b *testing.B) *pgx.Conn {
	b.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, started(b).url()+"&synchronous_commit=on&default_transaction_isolation=read%20committed")
	must(b, err)
	b.Cleanup(func() { _ = c.Close(ctx) })
	name := schema()
	_, err = c.Exec(ctx, `CREATE SCHEMA `+name+`; CREATE TABLE `+name+`.bare (seq bigint PRIMARY KEY, data bytea); SET search_path = `+name, pgx.QueryExecModeSimpleProtocol)
	must(b, err)
	return c
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
