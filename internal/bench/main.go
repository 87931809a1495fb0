// Bench measures Pawl against the minimal cost of the same work, and prints one
// table: the measurement, the goal, whether the goal is met, and the minimum.
// Compared works alternate in one process, and a figure is the median of the
// rounds, so that ratios are valid on a busy machine.
//
//	go run ./internal/bench
//	go run ./internal/bench -rows '^A|start' -rounds 15
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"
)

// The rows, by name. A row may print several lines.
var rows = []struct {
	name    string
	measure func(*bench)
}{
	{"A", loop}, {"B", durable}, {"C", crowd}, {"D", parallel}, {"E", stream},
	{"start", start}, {"resume", resume},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	is, err := crowded(ctx, os.Stdout)
	if !is {
		err = run(ctx, os.Args[1:], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("rows", ".", "measure only the rows whose names this `regexp` matches: A to E, start, resume")
	rounds := flags.Int("rounds", 5, "take the median of this many `rounds`")
	profile := flags.String("cpuprofile", "", "write a profile of the processor time to this `file`")
	small := flags.Bool("small", false, "do a hundredth of the work, to see that it runs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			defer f.Close()
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	dir, err := os.MkdirTemp("", "pawl-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{ctx: ctx, out: out, rounds: max(1, *rounds), divide: 1, dir: dir}
	if *small {
		b.divide = 100
	}
	b.print("work", "measured", "goal", "met", "beside")
	b.print("---", "---", "---", "---", "---")
	for _, r := range rows {
		if !chosen.MatchString(r.name) {
			continue
		}
		r.measure(b)
		if b.close(); b.err != nil {
			return fmt.Errorf("row %s: %w", r.name, b.err)
		}
	}
	return nil
}

// bench is one execution. After its first error it does nothing more.
type bench struct {
	ctx    context.Context
	out    io.Writer
	rounds int
	divide int
	dir    string // for files
	files  int
	opened []func() error // functions that close open resources
	err    error
}

// try prepares a measurement.
func (b *bench) try(work func() error) {
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	if b.err == nil {
		b.err = work()
	}
}

// close closes what a row has opened.
func (b *bench) close() {
	for _, c := range slices.Backward(b.opened) {
		if err := c(); b.err == nil {
			b.err = err
		}
	}
	b.opened = nil
}

// size returns n, or less of it under -small.
func (b *bench) size(n int) int { return max(1, n/b.divide) }

// turns returns the numbers of turns of a loop's runs.
func (b *bench) turns() []int {
	if b.divide > 1 {
		return []int{10}
	}
	return []int{10, 100, 1000}
}

// A cost is the cost of one work: seconds by the clock and of the processor,
// and allocations.
type cost struct{ clock, cpu, allocs, bytes float64 }

func byClock(c cost) float64  { return c.clock }
func byCPU(c cost) float64    { return c.cpu }
func byAllocs(c cost) float64 { return c.allocs }
func byBytes(c cost) float64  { return c.bytes }

// measure does some work once.
func (b *bench) measure(work func() error) cost {
	if b.err != nil {
		return cost{}
	}
	runtime.GC() // free the garbage of other works
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	at, used := time.Now(), cpu()
	b.try(work)
	c := cost{clock: time.Since(at).Seconds(), cpu: (cpu() - used).Seconds()}
	runtime.ReadMemStats(&after)
	c.allocs, c.bytes = float64(after.Mallocs-before.Mallocs), float64(after.TotalAlloc-before.TotalAlloc)
	return c
}

// alternate does each work once per round, in turn, and returns the costs.
func (b *bench) alternate(rounds int, works ...func() error) [][]cost {
	all := make([][]cost, len(works))
	for range rounds {
		for i, work := range works {
			all[i] = append(all[i], b.measure(work))
		}
	}
	return all
}

// typical returns the median of the rounds.
func typical(rounds []cost, of func(cost) float64) float64 {
	v := make([]float64, len(rounds))
	for i, c := range rounds {
		v[i] = of(c)
	}
	return median(v)
}

// ratio returns the median ratio of two works' costs in the same round.
func ratio(ours, floor []cost, of func(cost) float64) float64 {
	v := make([]float64, len(ours))
	for i := range ours {
		v[i] = of(ours[i]) / of(floor[i])
	}
	return median(v)
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// line prints a figure, whose goal is a maximum.
func (b *bench) line(work string, measured float64, unit string, goal float64, beside string) {
	if b.err != nil {
		return
	}
	met := "no"
	if measured <= goal {
		met = "yes"
	}
	b.print(work, digits(measured)+unit, "≤ "+digits(goal), met, beside)
}

func (b *bench) print(cells ...any) {
	fmt.Fprintf(b.out, "| %-40s | %12s | %6s | %-3s | %s |\n", cells...)
}

// digits formats a figure with up to three digits.
func digits(v float64) string {
	switch {
	case math.IsNaN(v), math.IsInf(v, 0):
		return "–"
	case v == math.Trunc(v), v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
