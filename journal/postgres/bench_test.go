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
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/postgres"
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
			if err != nil {
				b.Fatal(err)
			}
			batch := pawl.Batch{Run: "r", Epoch: l.Epoch, Head: pawl.Head{Agent: "bench", Loop: "react", Status: pawl.StatusRunning, Created: time.Now(), Labels: map[string]string{"team": "ops"}}}
			for range size.records {
				batch.Records = append(batch.Records, bytes.Repeat([]byte("r"), size.bytes))
			}
			floor, n := openBare(b), 0
			data := bytes.Join(batch.Records, nil)
			var ours, bare []float64
			for b.Loop() {
				at := time.Now()
				if _, err := floor.Exec(ctx, `INSERT INTO bare VALUES ($1, $2)`, n, data); err != nil {
					b.Fatal(err)
				}
				bare = append(bare, float64(time.Since(at)))
				n++
				at = time.Now()
				if err := j.Append(ctx, batch); err != nil {
					b.Fatal(err)
				}
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
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close(ctx) })
	name := schema()
	if _, err := c.Exec(ctx, `CREATE SCHEMA `+name+`; CREATE TABLE `+name+`.bare (seq bigint PRIMARY KEY, data bytea); SET search_path = `+name, pgx.QueryExecModeSimpleProtocol); err != nil {
		b.Fatal(err)
	}
	return c
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// BenchmarkCrowd measures appends of many runs at once, which the server commits together.
func BenchmarkCrowd(b *testing.B) {
	for _, runs := range []int{1, 8, 64} {
		b.Run(fmt.Sprint("runs=", runs), func(b *testing.B) {
			j := openAt(b, started(b).url()+"&pool_max_conns=16", schema())
			b.SetParallelism(max(1, runs/2)) // times GOMAXPROCS
			b.RunParallel(func(pb *testing.PB) {
				run := fmt.Sprintf("run-%p", pb)
				l, err := j.Claim(context.Background(), pawl.Claim{Run: run, Owner: "bench", TTL: time.Hour, New: true})
				if err != nil {
					b.Error(err)
					return
				}
				batch := pawl.Batch{Run: run, Epoch: l.Epoch, Records: [][]byte{bytes.Repeat([]byte("r"), 500)}, Head: pawl.Head{Status: pawl.StatusRunning}}
				for pb.Next() {
					if err := j.Append(context.Background(), batch); err != nil {
						b.Error(err)
						return
					}
					batch.After++
				}
			})
		})
	}
}

// BenchmarkRead measures reading a run of 500 iterations against a bare SELECT of its rows.
func BenchmarkRead(b *testing.B) {
	j, ctx := fresh(b), context.Background()
	l, err := j.Claim(ctx, pawl.Claim{Run: "r", Owner: "bench", TTL: time.Hour, New: true})
	if err != nil {
		b.Fatal(err)
	}
	record := bytes.Repeat([]byte("r"), 300)
	for n := range uint64(1000) {
		if err := j.Append(ctx, pawl.Batch{Run: "r", Epoch: l.Epoch, After: 2 * n, Records: [][]byte{record, record}}); err != nil {
			b.Fatal(err)
		}
	}
	var ours, bare []float64
	for b.Loop() {
		at := time.Now()
		bareRead(b, j)
		bare = append(bare, float64(time.Since(at)))
		at = time.Now()
		n := 0
		for _, err := range j.Read(ctx, "r", 1) {
			if n++; err != nil {
				b.Fatal(err)
			}
		}
		if n != 2000 {
			b.Fatal(n)
		}
		ours = append(ours, float64(time.Since(at)))
	}
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / bare[i]
	}
	b.ReportMetric(median(ours), "ns/run")
	b.ReportMetric(median(ratios), "x-bare")
}

func bareRead(b *testing.B, j *postgres.Journal) {
	b.Helper()
	c, err := j.Conn(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Release()
	rows, err := c.Query(context.Background(), `SELECT data FROM batches ORDER BY run, seq`)
	if err != nil {
		b.Fatal(err)
	}
	var all [][]byte
	for rows.Next() {
		var data []byte
		if err := rows.Scan(&data); err != nil {
			b.Fatal(err)
		}
		all = append(all, data)
	}
	err = rows.Err()
	if err != nil || len(all) != 1000 {
		b.Fatal(len(all), err)
	}
}

// BenchmarkNews measures how long after its posting a signal is known to one
// who watches, and the posting itself.
func BenchmarkNews(b *testing.B) {
	j, ctx := fresh(b), context.Background()
	if _, err := j.Claim(ctx, pawl.Claim{Run: "r", Owner: "bench", TTL: time.Hour, New: true}); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	heard := make(chan struct{}, 1)
	go func() {
		for range j.WatchSignals(ctx) {
			heard <- struct{}{}
		}
	}()
	<-heard
	var posting, news []float64
	for n := 0; b.Loop(); n++ {
		at := time.Now()
		if _, err := j.Send(ctx, pawl.Signal{Run: "r", Kind: pawl.SignalCancel, Request: fmt.Sprint(n), Body: []byte(`1`)}); err != nil {
			b.Fatal(err)
		}
		posting = append(posting, float64(time.Since(at)))
		at = time.Now()
		<-heard
		news = append(news, float64(time.Since(at)))
	}
	b.ReportMetric(median(posting), "ns/post")
	b.ReportMetric(median(news), "ns/then-heard")
}

// BenchmarkLetter measures how long after another engine has posted a signal
// the owner of a run heeds it, who listens or only looks.
func BenchmarkLetter(b *testing.B) {
	for _, c := range []struct {
		name string
		of   func(*postgres.Journal) pawl.Journal
	}{
		{"listening", func(j *postgres.Journal) pawl.Journal { return j }},
		{"looking", func(j *postgres.Journal) pawl.Journal {
			return struct { // with no word of news
				pawl.Journal
				pawl.Inbox
			}{j, j}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			name := schema()
			j, other := openAt(b, started(b).url(), name), openAt(b, started(b).url(), name)
			here := engine.New(c.of(j), nil)
			b.Cleanup(func() { _ = here.Close() })
			newIdle().begin(b, here) // as long as there is a run, there is somebody who listens
			time.Sleep(time.Second)
			var took []float64
			for b.Loop() {
				tool := newIdle()
				run := tool.begin(b, here)
				at := time.Now()
				if _, err := other.Send(b.Context(), pawl.Signal{Run: run.ID(), Kind: pawl.SignalCancel, Request: "cancel.1", Body: []byte(`{"reason":"enough"}`)}); err != nil {
					b.Fatal(err)
				}
				took = append(took, float64((<-tool.ended).Sub(at)))
				if result, err := run.Wait(b.Context()); err != nil || result.Status != pawl.StatusCancelled {
					b.Fatal(result.Verdict, err)
				}
			}
			b.ReportMetric(median(took), "ns/letter-heeded")
			b.ReportMetric(slices.Max(took), "ns/slowest")
		})
	}
}
