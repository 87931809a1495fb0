package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// crowd is 10,000 concurrent runs of ten turns each, with a model that takes 20
// ms: 220 ms is ideal. Each crowd has its own process, to measure its memory.
func crowd(b *bench) {
	const ideal = 0.22
	runs := b.size(10_000)
	var all [2][]cost
	for range min(b.rounds, 3) {
		for i, kind := range []string{"pawl", "floor"} {
			b.try(func() error {
				c, err := apart(b.ctx, kind, runs)
				all[i] = append(all[i], c)
				return err
			})
		}
	}
	if b.err != nil {
		return
	}
	ours, bare := all[0], all[1]
	b.line(fmt.Sprintf("C  %d runs at once", runs), typical(ours, byClock)/ideal, " × ideal", 6,
		fmt.Sprintf("floor %s × ideal; CPU %s s, floor %s s", digits(typical(bare, byClock)/ideal), digits(typical(ours, byCPU)), digits(typical(bare, byCPU))))
	each := func(c []cost) float64 { return typical(c, byBytes) / float64(runs) / 1024 }
	b.line("C  memory of each of them (RSS)", each(ours), " KB", 30, "floor "+digits(each(bare))+" KB")
}

const crowdEnv = "PAWL_BENCH_CROWD"

// apart drives a crowd in its own process, whose peak memory is the cost's
// bytes.
func apart(ctx context.Context, kind string, runs int) (c cost, err error) {
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	child := exec.CommandContext(ctx, self)
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", crowdEnv, kind, runs))
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err == nil {
		_, err = fmt.Sscan(string(out), &c.clock, &c.cpu, &c.bytes)
	}
	return c, err
}

// crowded runs the crowd in that process. It returns false in any other
// process.
func crowded(ctx context.Context, out io.Writer) (bool, error) {
	var kind string
	var runs int
	if n, err := fmt.Sscan(os.Getenv(crowdEnv), &kind, &runs); n == 0 || err != nil {
		return false, nil
	}
	b := &bench{ctx: ctx}
	model := slow(counting(10))
	one := b.bare(model)
	if kind == "pawl" {
		one = b.started(engine.New(memory.New(), nil), b.prepare(agent(model, adding{})))
	}
	c := b.measure(func() error {
		var wg sync.WaitGroup
		errs := make([]error, runs)
		for i := range runs {
			wg.Go(func() { errs[i] = one() })
		}
		wg.Wait()
		return errors.Join(errs...)
	})
	fmt.Fprintln(out, c.clock, c.cpu, peakRSS())
	return true, b.err
}

// peakRSS returns the process's peak memory, or 0 if the system does not report
// it.
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
