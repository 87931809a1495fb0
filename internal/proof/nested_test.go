//go:build linux || darwin

package proof_test

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// TestKillTen kills ten processes of one run, each at the same step of its
// life, so that most do nothing but take the run up.
func TestKillTen(t *testing.T) {
	steps := []int{3, 5, 7, 9, 11, 13, 15, 17}
	alongside(t, sample(steps, 3, 8), func(n int) string { return fmt.Sprint("point ", n) }, func(t *testing.T, n int) {
		c := newCell(t)
		shots := []shot{{stop: "after tool pay|1"}}
		for range 9 {
			shots = append(shots, shot{stop: fmt.Sprint("#", n)})
		}
		c.compare(c.play(shots...))
		if c.killed < 5 && len(c.faults) == 0 { // one that waits for a person has few points
			c.fault("only %d of ten processes were killed", c.killed)
		}
		c.complain(t)
	})
}

// TestPaidTwice is the measurement that others made of their runtimes: a payment
// is made, its process is killed before that is on record, and somebody goes on.
// How many are made twice? None; and all of them by an engine whose journal
// acknowledges an intent that it has not written.
func TestPaidTwice(t *testing.T) {
	const many = 209
	var twice, unasked, without atomic.Int64
	payments := sample(make([]struct{}, many), 26, 200)
	alongside(t, payments, func(struct{}) string { return "payment" }, func(t *testing.T, _ struct{}) {
		c := newCell(t)
		c.play(shot{stop: "after tool pay|1"})
		c.complain(t)
		if c.count("ledger", ledgerCall, runID, "c_5") > 1 {
			twice.Add(1)
		}
		if c.settlements(t) != 1 {
			unasked.Add(1)
		}
		s := newCell(t)
		s.sabotage = "late model.replied"
		s.play(shot{stop: "after tool pay|1"})
		if s.count("ledger", ledgerCall, runID, "c_5") > 1 {
			without.Add(1)
		}
	})
	n := int64(len(payments))
	t.Logf("of %d payments %d were made twice, and %d when the intent is not on disk first", n, twice.Load(), without.Load())
	if twice.Load() > 0 || unasked.Load() > 0 || without.Load() != n {
		t.Errorf("%d were made twice, of %d nobody was asked, %d were made twice without intents", twice.Load(), unasked.Load(), without.Load())
	}
}

// settlements counts the resolutions of calls in doubt.
func (c *cell) settlements(t *testing.T) (n int) {
	t.Helper()
	for _, typ := range c.types(t) {
		if typ == "tool.settled" {
			n++
		}
	}
	return n
}
