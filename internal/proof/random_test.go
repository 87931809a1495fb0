//go:build linux || darwin

package proof_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// tries is how many processes TestKillRandom kills: 50, fewer in a hurry,
// 10,000 for the proof, or what PAWL_PROOF_KILLS says.
func tries(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("PAWL_PROOF_KILLS")); err == nil {
		return n
	}
	switch {
	case whole:
		return 10_000
	case testing.Short():
		return 10
	}
	t.Log("50 processes; 10,000 under PAWL_PROOF=1, any number with PAWL_PROOF_KILLS")
	return 50
}

// aim is a shot at random: one half of them at any point, rather an early one
// because what is left of a run is less and less, the other at any time.
func aim(r *rand.Rand, life time.Duration) shot {
	if r.IntN(2) == 0 {
		return shot{stop: fmt.Sprint("#", 1+r.IntN(1+r.IntN(len(base().passed[0]))))}
	}
	return shot{after: 1 + time.Duration(r.Int64N(int64(life)))}
}

// TestKillRandom kills processes anywhere, up to ten of a run one after
// another, and has one more end the run. PAWL_PROOF_SEED repeats a series, as
// far as times repeat.
func TestKillRandom(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("PAWL_PROOF_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	want := tries(t)
	begin := time.Now()
	newCell(t).process("run", shot{}) // to know how long one lives
	life := time.Since(begin)
	t.Logf("PAWL_PROOF_SEED=%d, killing processes at any point or within %v", seed, life)

	var mu sync.Mutex
	var killed, runs, nested int
	var faults []string
	next := func() (n int, more bool) {
		mu.Lock()
		defer mu.Unlock()
		runs++
		return runs, killed < want && len(faults) < 3
	}
	var all sync.WaitGroup
	since := time.Now()
	for range 2 * runtime.NumCPU() {
		all.Go(func() {
			for {
				n, more := next()
				if !more {
					return
				}
				r := rand.New(rand.NewPCG(seed, uint64(n)))
				var shots []shot
				for range 1 + r.IntN(10) {
					shots = append(shots, aim(r, life))
				}
				dir, err := os.MkdirTemp("", "pawl-random") //nolint:usetesting // ten thousand worlds are not kept until the end
				if err != nil {
					t.Error(err)
					return
				}
				c := &cell{world: world{dir: dir}}
				c.compare(c.play(shots...))
				mu.Lock()
				killed += c.killed
				nested = max(nested, c.killed)
				if len(c.faults) > 0 {
					faults = append(faults, fmt.Sprintf("run %d, shots %+v:\n%s\n%s", n, shots, strings.Join(c.faults, "\n"), c.log()))
				}
				mu.Unlock()
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	took := time.Since(since)
	t.Logf("%d processes of %d runs killed, up to %d of one, in %v: %.0f a second", killed, runs, nested, took.Round(time.Second), float64(killed)/took.Seconds())
	for _, f := range faults {
		t.Error(f)
	}
	if killed < want && len(faults) == 0 {
		t.Errorf("%d kills landed, not %d", killed, want)
	}
}

// A process that does nothing any more is found out, and where it stands.
func TestStuck(t *testing.T) {
	c := newCell(t)
	w, err := spawn(c.dir, "stuck", "")
	must(t, err)
	select {
	case <-w.ready:
	case <-w.silent:
	}
	_, err = w.end(shot{}, 300*time.Millisecond)
	if _, is := err.(*stuck); !is || !strings.Contains(err.Error(), "proof_test.hang") {
		t.Errorf("of a process that hangs we learn: %v", err)
	}
}
