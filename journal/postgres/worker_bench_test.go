//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/postgres"
	"github.com/pawl-run/pawl/runs/worker"
)

// timed is a journal that adds up how long its callers wait for it.
type timed struct {
	*postgres.Journal

	calls, waited *atomic.Int64
}

func (j timed) since(at time.Time) {
	j.calls.Add(1)
	j.waited.Add(int64(time.Since(at)))
}

func (j timed) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	defer j.since(time.Now())
	return j.Journal.Claim(ctx, c)
}

func (j timed) Append(ctx context.Context, b pawl.Batch) error {
	defer j.since(time.Now())
	return j.Journal.Append(ctx, b)
}

func (j timed) Take(ctx context.Context, t pawl.Take) ([]pawl.Head, error) {
	defer j.since(time.Now())
	return j.Journal.Take(ctx, t)
}

func (j timed) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	return func(yield func(pawl.Row, error) bool) {
		defer j.since(time.Now())
		j.Journal.Read(ctx, run, from)(yield)
	}
}

func (j timed) Signals(ctx context.Context, run string, after int64) iter.Seq2[pawl.Signal, error] {
	return func(yield func(pawl.Signal, error) bool) {
		defer j.since(time.Now())
		j.Journal.Signals(ctx, run, after)(yield)
	}
}

// crew makes the one agent of a worker, and adds up how long its runs are driven.
type crew struct {
	agent  pawl.Agent
	engine *engine.Engine
	left   *sync.WaitGroup
	driven *atomic.Int64
	began  sync.Map // by run
}

func (c *crew) Names(context.Context) ([]string, error) { return []string{c.agent.Name}, nil }

func (c *crew) Again(_ context.Context, s *pawl.State) (worker.Work, error) {
	c.began.Store(s.Run(), time.Now())
	return worker.Work{Agent: c.agent, Engine: c.engine}, nil
}

// rests is called when a run is released.
func (c *crew) rests(r pawl.Result) {
	began, _ := c.began.Load(r.Run)
	c.driven.Add(int64(time.Since(began.(time.Time))))
	c.left.Done()
}

// BenchmarkWorkers has four workers of 25 slots drive 10,000 queued runs (1,000 if -short) of one model call
// each, which takes 100 ms. It reports how many runs a second are taken and driven, how many
// calls of the journal a run costs, and which part of their time the runs wait for it.
func BenchmarkWorkers(b *testing.B) {
	runs := 10_000
	if testing.Short() {
		runs = 1000
	}
	agent := pawl.Agent{Name: "a", Model: pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
		return pawl.Say("done"), nil
	})}
	var calls, waited, driven atomic.Int64
	var took time.Duration
	for b.Loop() {
		schema := schema()
		first := openAt(b, started(b).url(), schema)
		var filling, left sync.WaitGroup
		queue := engine.New(first, nil)
		for part := range 8 {
			filling.Go(func() {
				for i := part; i < runs; i += 8 {
					if _, err := queue.Queue(context.Background(), agent, "go", &engine.StartOptions{Labels: map[string]string{"tenant": fmt.Sprint(i % 10)}}); err != nil {
						b.Error(err)
					}
				}
			})
		}
		filling.Wait()
		left.Add(runs)
		ctx, stop := context.WithCancel(context.Background())
		began := time.Now()
		var workers []*worker.Worker
		var all sync.WaitGroup
		for range 4 {
			j := timed{openAt(b, started(b).url(), schema), &calls, &waited}
			c := &crew{agent: agent, engine: engine.New(j, nil), left: &left, driven: &driven}
			w := worker.New(j, c, &worker.Options{Slots: 25, Rests: c.rests})
			all.Go(func() { w.Run(ctx) })
			workers = append(workers, w)
		}
		left.Wait()
		took += time.Since(began)
		stop()
		all.Wait()
		for _, w := range workers {
			if err := w.Close(); err != nil {
				b.Error(err)
			}
		}
	}
	n := float64(runs * b.N)
	b.ReportMetric(n/took.Seconds(), "runs/s")
	b.ReportMetric(float64(calls.Load())/n, "calls/run")
	b.ReportMetric(100*float64(waited.Load())/float64(driven.Load()), "%database")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkReserve has 16 callers of four journals take from one rate, as workers do before
// each model call.
func BenchmarkReserve(b *testing.B) {
	schema := schema()
	var journals [4]*postgres.Journal
	for i := range journals {
		journals[i] = openAt(b, started(b).url(), schema)
	}
	var next atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for i := range 16 {
		all.Go(func() {
			for next.Add(1) <= int64(b.N) {
				if _, err := journals[i%4].Reserve(context.Background(), "acme", time.Millisecond, time.Microsecond, time.Hour); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
