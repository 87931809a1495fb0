package sqlite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// double is the tool of the benchmark.
type double struct{}

func (double) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "double", Description: "Double a number.", Effect: pawl.Idempotent,
		Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}
}

func (double) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var in struct{ N int }
	err := json.Unmarshal(inv.Args, &in)
	return pawl.Output{JSON: fmt.Appendf(nil, "%d", 2*in.N)}, err
}

func doubling(n int) pawl.Agent {
	return pawl.Agent{
		Name: "doubling", Tools: []pawl.Tool{double{}}, Limits: pawl.Limits{Iterations: 10_000, Tokens: 1 << 40},
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			turn := len(r.Messages) / 2
			if turn == n {
				return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "done"}}, Usage: pawl.Usage{Input: 10, Output: 2}}, nil
			}
			return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: "double", Args: fmt.Appendf(nil, `{"n":%d}`, turn)}}, Usage: pawl.Usage{Input: 10, Output: 2}}, nil
		}),
	}
}

// commits is a journal that remembers what was appended at each commit.
type commits struct {
	*memory.Journal
	mu   sync.Mutex
	data [][]byte
}

func (c *commits) Append(ctx context.Context, b pawl.Batch) error {
	c.mu.Lock()
	c.data = append(c.data, bytes.Join(b.Records, nil))
	c.mu.Unlock()
	return c.Journal.Append(ctx, b)
}

// BenchmarkLoop measures whole durable runs, every step on disk before its
// effect, against a bare program that appends the same bytes at the same
// commit points and does nothing else.
func BenchmarkLoop(b *testing.B) {
	for _, normal := range []bool{true, false} {
		for _, n := range []int{10, 100, 1000} {
			name := map[bool]string{true: "NORMAL", false: "FULL"}[normal]
			b.Run(fmt.Sprintf("%s/iterations=%d", name, n), func(b *testing.B) {
				agent := doubling(n)
				same := &commits{Journal: memory.New()}
				run := func(j pawl.Journal) {
					handle, err := engine.New(j, nil).Start(b.Context(), agent, "go", nil)
					if err != nil {
						b.Fatal(err)
					}
					if result, err := handle.Wait(b.Context()); err != nil || result.ToolCalls != n {
						b.Fatal(result.Verdict, err)
					}
				}
				run(same)
				j := openAt(b, filepath.Join(b.TempDir(), "ours.db"), &sqlite.Options{Normal: normal})
				floor := openBare(b, name)
				var ours, bare []float64
				var oursBytes int64
				var oursCPU, bareCPU time.Duration
				for b.Loop() {
					used, at := cpu(), time.Now()
					floor.all(b, same.data)
					bare = append(bare, float64(time.Since(at))/float64(n))
					bareCPU += cpu() - used
					w := written()
					used, at = cpu(), time.Now()
					run(j)
					ours = append(ours, float64(time.Since(at))/float64(n))
					oursCPU += cpu() - used
					oursBytes += written() - w
				}
				ratios := make([]float64, len(ours))
				for i := range ours {
					ratios[i] = ours[i] / bare[i]
				}
				b.ReportMetric(median(ours), "ns/iteration")
				b.ReportMetric(median(ratios), "x-bare")
				if bareCPU > 0 {
					b.ReportMetric(float64(oursCPU)/float64(bareCPU), "x-bare-cpu")
				}
				b.ReportMetric(float64(oursBytes)/float64(len(ours)*n), "written-B/iteration")
			})
		}
	}
}

func (f *bare) all(b *testing.B, commits [][]byte) {
	b.Helper()
	for _, data := range commits {
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

// pausing is a tool that takes 10 ms.
type pausing struct{ double }

func (p pausing) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	time.Sleep(10 * time.Millisecond)
	return p.double.Run(ctx, inv)
}

// BenchmarkParallel is a run of one turn with 50 calls of a 10 ms tool, each of
// which is durable before it begins and again when it is over.
func BenchmarkParallel(b *testing.B) {
	var calls []pawl.Part
	for i := range 50 {
		calls = append(calls, pawl.Call{Tool: "double", Args: fmt.Appendf(nil, `{"n":%d}`, i)})
	}
	agent := pawl.Agent{Name: "pausing", Tools: []pawl.Tool{pausing{}}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) > 1 {
			return pawl.Say("done"), nil
		}
		return pawl.Reply{Parts: calls}, nil
	})}
	for _, normal := range []bool{true, false} {
		b.Run(map[bool]string{true: "NORMAL", false: "FULL"}[normal], func(b *testing.B) {
			j := openAt(b, filepath.Join(b.TempDir(), "ours.db"), &sqlite.Options{Normal: normal})
			for b.Loop() {
				handle, err := engine.New(j, nil).Start(b.Context(), agent, "go", nil)
				if err != nil {
					b.Fatal(err)
				}
				if result, err := handle.Wait(b.Context()); err != nil || result.ToolCalls != len(calls) {
					b.Fatal(result.Verdict, err)
				}
			}
		})
	}
}
