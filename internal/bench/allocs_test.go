package main

import (
	"runtime/debug"
	"slices"
	"testing"

	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// An iteration and the start of a run allocate no more than the table says, with a margin of a
// twentieth.
func TestAllocations(t *testing.T) {
	if raced() {
		t.Skip("with the race detector, there are more")
	}
	t.Setenv("PAWL_VERIFY", "0")
	b := &bench{ctx: t.Context()}
	each := func(runs int, work func() error) float64 {
		return testing.AllocsPerRun(runs, func() { b.try(work) })
	}
	for turns, most := range map[int]float64{10: 68, 100: 60, 1000: 62} {
		if got := each(1000/turns, b.whole(counter(turns))) / float64(turns); got > most*1.05 {
			t.Errorf("an iteration of %d turns makes %.1f allocations, more than %v", turns, got, most)
		}
	}
	e := engine.New(memory.New(), nil)
	started := func(replies int) float64 { return each(100, b.started(e, b.prepare(replying(replies)))) }
	const more = 10
	one := started(1)
	if got := one - (started(1+more)-one)/more; got > 40*1.05 {
		t.Errorf("to start a run makes %.1f allocations, more than 40", got)
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
}

// raced reports whether the race detector is on.
func raced() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
