package main

import (
	"math"
	"testing"
	"time"
)

func small() load {
	l := usual
	l.Runs, l.Slots, l.Worker, l.Deaths = 50_000, 1000, 50, 20
	return l
}

// Nothing is lost, and queues obey Little's law: how many are there is how many come, times how
// long each stays.
func TestSimulation(t *testing.T) {
	l := small()
	r := simulate(l)
	if r.started != r.ended+r.atEnd {
		t.Errorf("%d started, %d ended, %d are there", r.started, r.ended, r.atEnd)
	}
	near := func(what string, got, want, part float64) {
		t.Helper()
		if math.Abs(got-want) > part*want {
			t.Errorf("%s: %.1f, by calculation %.1f", what, got, want)
		}
	}
	const day = 86400
	near("runs", float64(r.started), float64(l.Runs), 0.02)
	near("driven", r.busy/day, float64(l.Runs)/day*l.Iterations*l.Turn.Seconds(), 0.05)
	near("waiting", r.waiting/day, float64(l.Runs)/day*l.Waits*l.Wait.Seconds(), 0.15) // the day ends before some waits do
	near("rows", r.rows, float64(r.ended)*(rowsRun+rowsIteration*l.Iterations), 0.02)
	near("claims", float64(r.claims-r.lost), float64(r.started)*(1+l.Waits), 0.02)
	if r.lost == 0 || r.delay(0.99) > time.Second {
		t.Errorf("%d lost their worker; 1 %% waited longer than %v though slots were free", r.lost, r.delay(0.99))
	}
	again := simulate(l)
	if again.busy != r.busy || again.started != r.started {
		t.Error("the same seed gives another day")
	}
}

// With too few slots runs queue, and more of them help.
func TestSlots(t *testing.T) {
	l := small()
	before := time.Duration(math.MaxInt64)
	for _, slots := range []int{60, 80, 120} {
		l.Slots, l.Worker = slots, 10
		r := simulate(l)
		if r.busyMost > slots {
			t.Errorf("%d of %d slots are used", r.busyMost, slots)
		}
		if d := r.delay(0.99); d >= before {
			t.Errorf("with %d slots 1 %% wait longer than %v, before %v", slots, d, before)
		} else {
			before = d
		}
	}
	if before > time.Second {
		t.Errorf("with twice the slots of the mean 1 %% wait longer than %v", before)
	}
}
