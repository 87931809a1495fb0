package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// An iteration and the start of a run allocate no more than the table says, with a margin of a
// twentieth for what the collector takes out of pools.
func TestAllocations(t *testing.T) {
	if raced() {
		t.Skip("with the race detector, pools forget what they are given")
	}
	t.Setenv("PAWL_VERIFY", "0")
	b := &bench{ctx: t.Context()}
	each := func(runs int, work func() error) float64 {
		return testing.AllocsPerRun(runs, func() { b.try(work) })
	}
	for turns, most := range map[int]float64{10: 66, 100: 59, 1000: 60} {
		if got := each(1000/turns, b.whole(counter(turns))) / float64(turns); got > most*1.05 {
			t.Errorf("an iteration of %d turns makes %.1f allocations, more than %v", turns, got, most)
		}
	}
	e := engine.New(memory.New(), nil)
	started := func(replies int) float64 {
		p := b.prepare(replying(replies))
		return each(100, func() error {
			h, err := p.Start(b.ctx, e, "go", nil)
			if err != nil {
				return err
			}
			return b.wait(h, pawl.StatusSuccess)
		})
	}
	const more = 10
	one := started(1)
	if got := one - (started(1+more)-one)/more; got > 39*1.05 {
		t.Errorf("to start a run makes %.1f allocations, more than 39", got)
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
}

// A run that waits for its model in its second turn has a stack of 16 KB, since the validation of
// arguments takes more than 8. A frame that grows on the way to an entry makes that 32 KB, and no other
// test fails.
func TestStacks(t *testing.T) {
	if raced() {
		t.Skip("with the race detector, frames are larger")
	}
	t.Setenv("PAWL_VERIFY", "0")
	const runs = 200
	b := &bench{ctx: t.Context()}
	e, replies, gate := engine.New(memory.New(), nil), counting(2), make(chan bool)
	var arrived sync.WaitGroup
	arrived.Add(runs)
	p := b.prepare(agent(pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) == 3 {
			arrived.Done()
			<-gate
		}
		return replies(ctx, r)
	}), adding{}))
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.StackInuse
	}
	before := inUse()
	for range runs {
		b.try(func() error {
			_, err := p.Start(b.ctx, e, "go", nil)
			return err
		})
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
	arrived.Wait()
	if each := (inUse() - before) / runs; each > 18<<10 {
		t.Errorf("a run has a stack of %d bytes, more than 16 KB", each)
	}
	close(gate)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// raced reports whether the race detector is on.
func raced() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
