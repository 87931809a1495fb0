package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// adding is the tool of the benchmarks: it adds two numbers.
type adding struct{}

func (adding) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "add", Description: "Add two numbers.", Effect: pawl.Read, Input: json.RawMessage(
		`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`)}
}

func (adding) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	out, err := sum(inv.Args)
	return pawl.Output{JSON: out}, err
}

func sum(args []byte) ([]byte, error) {
	var in struct{ A, B int }
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%d", in.A+in.B), nil
}

var errHistory = errors.New("the history did not come along")

// counting asks for add with fresh arguments on each of n turns and then
// answers; it checks that the whole history comes along.
func counting(n int) pawl.ModelFunc {
	return func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		turn := len(r.Messages) / 2
		if len(r.Messages) != 2*turn+1 {
			return pawl.Reply{}, errHistory
		}
		if turn == n {
			return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "done"}}, Usage: pawl.Usage{Input: 10, Output: 2}}, nil
		}
		return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: "add", Args: fmt.Appendf(nil, `{"a":%d,"b":1}`, turn)}}, Usage: pawl.Usage{Input: 10, Output: 2}}, nil
	}
}

func counter(n int) pawl.Agent {
	return pawl.Agent{Name: "counter", Model: counting(n), Tools: []pawl.Tool{adding{}},
		Limits: pawl.Limits{Iterations: 10_000, Tokens: 1 << 40}}
}

// floor is the least a loop can be: append to a slice, look the tool up, decode
// its arguments.
func floor(ctx context.Context, model pawl.ModelFunc) error {
	tools := map[string]func([]byte) ([]byte, error){"add": sum}
	r := pawl.Request{Messages: []pawl.Message{{Role: pawl.User, Parts: []pawl.Part{pawl.Text{Text: "go"}}}}}
	for {
		reply, err := model(ctx, r)
		if err != nil {
			return err
		}
		r.Messages = append(r.Messages, pawl.Message{Role: pawl.Assistant, Parts: reply.Parts})
		var results []pawl.Part
		for _, p := range reply.Parts {
			call, ok := p.(pawl.Call)
			if !ok {
				continue
			}
			out, err := tools[call.Tool](call.Args)
			if err != nil {
				return err
			}
			results = append(results, pawl.ToolResult{Call: call.ID, Content: out})
		}
		if results == nil {
			return nil
		}
		r.Messages = append(r.Messages, pawl.Message{Role: pawl.User, Parts: results})
	}
}

// BenchmarkLoop is the cost of an iteration (one model turn with one tool
// call), and its ratio to the floor measured in the same run. An operation is
// a thousand iterations of ours, then as many of the floor, because turning the
// clock and the counters of the benchmark on and off stops the world.
func BenchmarkLoop(b *testing.B) {
	const iterations = 1000
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint("turns=", n), func(b *testing.B) {
			agent := counter(n)
			var ours, bare, oursCPU, bareCPU time.Duration
			var bytes, allocs uint64
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				begin, used := time.Now(), cpu()
				for range iterations / n {
					result, err := engine.Run(b.Context(), agent, "go")
					if err != nil || result.Status != pawl.Success {
						b.Fatal(result, err)
					}
				}
				ours += time.Since(begin)
				oursCPU += cpu() - used
				runtime.ReadMemStats(&after)
				bytes += after.TotalAlloc - before.TotalAlloc
				allocs += after.Mallocs - before.Mallocs
				begin, used = time.Now(), cpu()
				for range iterations / n {
					if err := floor(b.Context(), counting(n)); err != nil {
						b.Fatal(err)
					}
				}
				bare += time.Since(begin)
				bareCPU += cpu() - used
			}
			all := float64(b.N * iterations)
			b.ReportMetric(0, "ns/op") // ours and the floor's together: it says nothing
			b.ReportMetric(float64(ours.Nanoseconds())/all, "ns/iteration")
			b.ReportMetric(float64(bytes)/all, "B/iteration")
			b.ReportMetric(float64(allocs)/all, "allocs/iteration")
			b.ReportMetric(float64(ours)/float64(bare), "x-floor")
			if bareCPU > 0 {
				b.ReportMetric(float64(oursCPU)/float64(bareCPU), "x-floor-cpu")
				b.ReportMetric(float64(oursCPU.Nanoseconds())/all, "cpu-ns/iteration")
			}
		})
	}
}

// waiting is a tool that takes ten milliseconds.
type waiting struct{}

func (waiting) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "wait", Description: "Wait.", Effect: pawl.Read, Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
}

func (waiting) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	time.Sleep(10 * time.Millisecond)
	return pawl.Output{JSON: json.RawMessage("1")}, nil
}

// BenchmarkParallel is one turn with 50 calls of a 10 ms tool; 10 ms is ideal. The
// floor, which takes turns with it, is 50 goroutines that sleep for 10 ms: a timer
// rings late on a machine that others use too.
func BenchmarkParallel(b *testing.B) {
	calls := make([]pawl.Call, 50)
	for i := range calls {
		calls[i] = pawl.Call{Tool: "wait", Args: fmt.Appendf(nil, `{"n":%d}`, i)}
	}
	agent := pawl.Agent{Name: "parallel", Tools: []pawl.Tool{waiting{}}, Model: pawl.ModelFunc(
		func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if len(r.Messages) > 1 {
				return pawl.Say("done"), nil
			}
			return pawl.Do(calls...), nil
		})}
	var ours, bare, ratios []float64
	var used time.Duration
	for b.Loop() {
		begin := time.Now()
		var wg sync.WaitGroup
		for range calls {
			wg.Go(func() { time.Sleep(10 * time.Millisecond) })
		}
		wg.Wait()
		bare = append(bare, time.Since(begin).Seconds()*1e3)
		was := cpu()
		begin = time.Now()
		if result, err := engine.Run(b.Context(), agent, "go"); err != nil || result.ToolCalls != 50 {
			b.Fatal(result, err)
		}
		ours = append(ours, time.Since(begin).Seconds()*1e3)
		used += cpu() - was
		ratios = append(ratios, ours[len(ours)-1]/bare[len(bare)-1])
	}
	b.ReportMetric(0, "ns/op") // ours and the floor's together: it says nothing
	b.ReportMetric(median(ours), "ms")
	b.ReportMetric(median(bare), "floor-ms")
	b.ReportMetric(median(ratios), "x-floor")
	if used > 0 {
		b.ReportMetric(float64(used.Microseconds())/float64(len(ours)), "cpu-µs")
	}
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// streaming says its answer in chunks.
type streaming struct {
	chunks int
	then   pawl.ModelFunc
}

func (m streaming) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		for range m.chunks {
			if !yield(pawl.Chunk{Text: "word "}, nil) {
				return
			}
		}
		reply, err := m.then(ctx, r)
		yield(pawl.Chunk{Reply: &reply}, err)
	}
}

// BenchmarkStream is the cost of a chunk above the wire, watched and not: the
// run with 200 chunks a reply less the run without any.
func BenchmarkStream(b *testing.B) {
	const turns, chunks = 10, 200
	for _, watched := range []bool{false, true} {
		b.Run(fmt.Sprint("watched=", watched), func(b *testing.B) {
			once := func(chunks int) time.Duration {
				agent := counter(turns)
				agent.Model = streaming{chunks, counting(turns)}
				e := engine.New(memory.New(), nil)
				begin := time.Now()
				run, err := e.Start(b.Context(), agent, "go", nil)
				if err != nil {
					b.Fatal(err)
				}
				if watched {
					for _, err := range run.Entries(b.Context()) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
				if result, err := run.Wait(b.Context()); err != nil || result.Status != pawl.Success {
					b.Fatal(result, err)
				}
				return time.Since(begin)
			}
			var with, without time.Duration
			b.ReportAllocs()
			for b.Loop() {
				with += once(chunks)
				b.StopTimer()
				without += once(0)
				b.StartTimer()
			}
			b.ReportMetric(float64((with-without).Nanoseconds())/float64(b.N*(turns+1)*chunks), "ns/chunk")
		})
	}
}

// BenchmarkMany is ten thousand runs at once of ten turns each with a model
// that takes 20 ms: 220 ms is ideal.
func BenchmarkMany(b *testing.B) {
	const turns = 10
	runs := 10_000
	if testing.Short() {
		runs = 1000
	}
	quick := counting(turns)
	agent := counter(turns)
	agent.Model = pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		time.Sleep(20 * time.Millisecond)
		return quick(ctx, r)
	})
	var peak uint64
	for b.Loop() {
		e := engine.New(memory.New(), nil)
		var wg sync.WaitGroup
		for range runs {
			wg.Go(func() {
				run, err := e.Start(b.Context(), agent, "go", nil)
				if err != nil {
					b.Error(err)
					return
				}
				if result, err := run.Wait(b.Context()); err != nil || result.Status != pawl.Success {
					b.Error(result, err)
				}
			})
		}
		wg.Wait()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapSys+m.StackSys)
		runtime.KeepAlive(e)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(220*time.Millisecond), "x-ideal")
	b.ReportMetric(float64(peak)/float64(runs)/1024, "KB/run")
	if rss := peakRSS(); rss > 0 { // of the whole process, so that this benchmark must run alone
		b.ReportMetric(float64(rss)/float64(runs)/1024, "KB-RSS/run")
	}
}

// peakRSS is the most memory the process has had, where the system says; else 0.
func peakRSS() (bytes int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscanf(rest, "%d kB", &bytes); err != nil {
		return 0
	}
	return bytes << 10
}
