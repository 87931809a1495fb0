package window_test

import (
	"math/rand/v2"
	"os"
	"testing"
)

// TestLossy: where the cache is lost before one call in fifty, at random, a run costs at
// most 1.15 times what an offline optimum makes of the same results and losses, on average
// over the seeds: where a pause shows the loss, and where the provider forgets what it had
// and only its bill says so.
func TestLossy(t *testing.T) {
	whole := os.Getenv("PAWL_PROOF") != ""
	for _, size := range []int{300, 600, 1200, 3000, 6000} {
		for _, n := range []int{20, 100} {
			for _, shown := range []bool{true, false} {
				var ratios cell
				seeds, losses := 0, 0
				for _, x := range traces(t) {
					if x.mean != size || !whole && (n == 20 || size != 1200) {
						continue
					}
					bubbled(t, func(t *testing.T) {
						m := &meter{trace: x.results, turns: n, read: simRead, write: simWrite}
						chance, pauses := rand.New(rand.NewPCG(uint64(x.seed), uint64(size))), 0.02
						if !shown {
							m.unseen, pauses = func() bool { return chance.Float64() < 0.02 }, 0
						}
						play(t, m.agent(n, pauses))
						ratios.add(m.bill / optimum(x.results, n, true, true, m.lost...))
						losses += len(m.lost)
					})
					seeds++
				}
				if seeds == 0 {
					continue
				}
				mean := ratios.sum / float64(seeds)
				t.Logf("results of %d tokens, %d turns, %d losses in %d runs, shown: %v: %.3f times the optimum, at worst %.3f", size, n, losses, seeds, shown, mean, ratios.worst)
				if mean > 1.15 {
					t.Errorf("results of %d tokens, %d turns, shown: %v: %.3f times the optimum", size, n, shown, mean)
				}
			}
		}
	}
}
