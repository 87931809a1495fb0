package engine

import "testing"

// Held is how much of the pools is in use, and how many calls wait.
func Held() (used int64, waiting int) {
	for i := range pools {
		p := &pools[i]
		p.mu.Lock()
		used, waiting = used+p.used, waiting+len(p.queue)
		p.mu.Unlock()
	}
	return used, waiting
}

func ready(t *ticket) bool {
	select {
	case <-t.ready:
		return true
	default:
		return false
	}
}

// Four times as many calls as a run may have fill a pool, whatever that number is.
func TestPoolIsFourTimesARun(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 7, 10, 256, 1000} {
		var p pool
		for i := range 4 * n {
			if !p.try(whole / (4 * n)) {
				t.Fatalf("of agents with %d calls, call %d finds no room", n, i+1)
			}
		}
		if p.try(whole / (4 * n)) {
			t.Errorf("of agents with %d calls, more than %d run in a process", n, 4*n)
		}
	}
}

// Calls are admitted in the order in which they ask, large shares and small ones.
func TestPoolIsFair(t *testing.T) {
	const quarter, tenth = whole / 4, whole / 10
	var p pool
	for range 4 {
		if !p.try(quarter) {
			t.Fatal("there is room for four quarters")
		}
	}
	first, second, third := p.wait(quarter), p.wait(tenth), p.wait(tenth)
	if p.try(1) {
		t.Error("a call went past those that wait")
	}
	p.give(quarter)
	if !ready(first) || ready(second) {
		t.Error("the first in the queue was not the first to be admitted")
	}
	p.leave(second) // it waits no more
	p.give(quarter)
	if !ready(third) || ready(second) {
		t.Error("the one behind a call that left was not admitted")
	}
	p.leave(third) // which gives its share back
	for range 2 {
		p.give(quarter)
	}
	p.give(quarter)
	if p.used != 0 || len(p.queue) != 0 {
		t.Errorf("%d of the pool are in use, %d calls wait", p.used, len(p.queue))
	}
}
