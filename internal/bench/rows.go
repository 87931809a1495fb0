package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// loop measures an iteration (one model turn with one tool call) in memory.
func loop(b *bench) {
	goals, kB := map[int]float64{10: 6.5, 100: 5, 1000: 5}, map[int]float64{10: 4, 100: 2.5, 1000: 2.5}
	for _, n := range b.turns() {
		runs := max(1, b.size(10_000)/n)
		all := float64(runs * n)
		c := b.alternate(b.rounds, times(runs, b.whole(counter(n))), times(runs, b.bare(counting(n))))
		b.line(fmt.Sprintf("A  loop, %d turns", n), ratio(c[0], c[1], byCPU), " × floor", goals[n],
			"floor "+digits(typical(c[1], byCPU)/all*1e6)+" µs of CPU an iteration")
		b.line(fmt.Sprintf("A  allocations an iteration, %d turns", n), typical(c[0], byAllocs)/all, "", 30,
			"floor "+digits(typical(c[1], byAllocs)/all))
		b.line(fmt.Sprintf("A  kB an iteration, %d turns", n), typical(c[0], byBytes)/all/1e3, " kB", kB[n],
			"floor "+digits(typical(c[1], byBytes)/all/1e3)+" kB")
	}
}

// durable measures the loop with each step on disk before its effect, against a
// minimal program that appends the same bytes at the same commit points.
func durable(b *bench) {
	for _, mode := range []struct {
		name       string
		normal     bool
		iterations int
		goals      map[int]float64
	}{
		{"NORMAL", true, 2000, map[int]float64{10: 1.3, 100: 1.1, 1000: 1.1}},
		{"FULL", false, 500, map[int]float64{10: 1.5, 100: 1.5, 1000: 1.5}},
	} {
		for _, n := range b.turns() {
			same := &commits{Journal: memory.New()}
			b.try(func() error { return b.run(same, counter(n), "", pawl.StatusSuccess) })
			runs := max(1, b.size(mode.iterations)/n)
			j, bare := b.open(mode.normal), b.appends(mode.name)
			c := b.alternate(b.rounds, times(runs, func() error { return b.run(j, counter(n), "", pawl.StatusSuccess) }),
				times(runs, func() error { return bare.append(same.data) }))
			b.line(fmt.Sprintf("B  SQLite %s, %d turns", mode.name, n), ratio(c[0], c[1], byClock), " × bare", mode.goals[n],
				fmt.Sprintf("bare %s µs an iteration; by CPU %s ×", digits(typical(c[1], byClock)/float64(runs*n)*1e6), digits(ratio(c[0], c[1], byCPU))))
			b.close()
		}
	}
}

// parallel measures one turn with 50 calls of a tool that takes 10 ms.
func parallel(b *bench) {
	const takes = 10 * time.Millisecond
	c := b.alternate(5*b.rounds, b.whole(batch(50, takes)), func() error {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { time.Sleep(takes) })
		}
		wg.Wait()
		return nil
	})
	b.line("D  50 calls of 10 ms", typical(c[0], byClock)*1e3, " ms", 11, "floor "+digits(typical(c[1], byClock)*1e3)+" ms")
}

// stream measures a chunk of a watched run, including the rest of the run.
func stream(b *bench) {
	const turns, chunks = 10, 200
	runs := b.size(100)
	model := streaming{chunks, counting(turns)}
	watched := b.prepare(agent(model, adding{}))
	said := float64(runs * (turns + 1) * chunks)
	arrived := 0
	c := b.alternate(b.rounds, times(runs, func() error {
		h, err := watched.Start(b.ctx, engine.New(memory.New(), nil), "go", &engine.StartOptions{Watch: true})
		if err != nil {
			return err
		}
		for e, err := range h.Entries(b.ctx) {
			if err != nil {
				return err
			}
			if d, ok := e.Event.(pawl.ModelDelta); ok {
				arrived += len(d.Text) / len("word ")
			}
		}
		return b.wait(h, pawl.StatusSuccess)
	}), times(runs, b.bare(model.keep)))
	b.line("E  a streamed chunk, watched", typical(c[0], byClock)/said*1e9, " ns", 150,
		fmt.Sprintf("floor %s ns; by CPU %s ns", digits(typical(c[1], byClock)/said*1e9), digits(typical(c[0], byCPU)/said*1e9)))
	b.line("E  chunks lost", said*float64(b.rounds)-float64(arrived), "", 0, fmt.Sprintf("of %.0f", said*float64(b.rounds)))
}

// start measures a run that answers at once, on an engine that has driven others.
func start(b *bench) {
	runs := b.size(1000)
	const more = 10
	e := engine.New(memory.New(), nil)
	of := func(replies int) func() error { return times(runs, b.started(e, b.prepare(replying(replies)))) }
	c := b.alternate(b.rounds, of(1), of(1+more), times(runs, func() error {
		result, err := engine.Run(b.ctx, replying(1), "go")
		return ended(result, pawl.StatusSuccess, err)
	}))
	each := func(i int, of func(cost) float64) float64 { return typical(c[i], of) / float64(runs) }
	above := func(of func(cost) float64) float64 { return each(0, of) - (each(1, of)-each(0, of))/more }
	b.line("starting a run, above its iterations", above(byCPU)*1e6, " µs", 25,
		"of CPU; with one iteration "+digits(each(0, byCPU)*1e6)+", not prepared "+digits(each(2, byCPU)*1e6)+" µs")
	b.line("the same, allocations", above(byAllocs), "", 40,
		"with one iteration "+digits(each(0, byAllocs))+", not prepared "+digits(each(2, byAllocs)))
}

// resume measures resuming a run of 500 iterations until it waits again.
func resume(b *bench) {
	turns, times := b.size(500), 3*b.rounds
	j := b.open(true)
	for i := range times { // separate runs, since resuming makes a log longer
		b.try(func() error { return b.run(j, asking(turns), fmt.Sprint(i), pawl.StatusWaitingInput) })
	}
	rows, ours, bare := b.reads(b.file()), 0, 0
	c := b.alternate(times, func() error {
		h, err := engine.New(j, nil).Resume(b.ctx, asking(turns), fmt.Sprint(ours), nil)
		if ours++; err != nil {
			return err
		}
		return b.wait(h, pawl.StatusWaitingInput)
	}, func() error {
		bare++
		return rows.read(fmt.Sprint(bare - 1))
	})
	b.line(fmt.Sprintf("resuming a run of %d iterations", turns), ratio(c[0], c[1], byClock), " × bare", 2.5,
		fmt.Sprintf("bare reading of its rows %s ms; by CPU %s ×", digits(typical(c[1], byClock)*1e3), digits(ratio(c[0], c[1], byCPU))))
}
