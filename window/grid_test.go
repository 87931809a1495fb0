package window_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/window"
)

// cell is one place of the grid: what each way costs, compared to the optimum.
type cell struct{ sum, worst float64 }

func (c *cell) add(ratio float64) { c.sum, c.worst = c.sum+ratio, max(c.worst, ratio) }

// billed is what a run of n turns costs.
func billed(t *testing.T, x trace, n, ceiling int, loss float64, policies ...pawl.Policy) (m *meter) {
	synctest.Test(t, func(t *testing.T) {
		m = &meter{trace: x.results, turns: n, read: simRead, write: simWrite}
		play(t, m.agent(ceiling, loss, policies...))
	})
	return m
}

// losses are the chances that the cache is lost before a call.
var losses = [...]float64{0.02, 0.1}

// TestGrid holds what a run costs to what an offline optimum makes of the same
// course of results: at most 1.2 times as much at 100 turns, 1.25 times at 20, on
// average over the seeds, wherever in the grid. Where the cache is lost before one
// call in fifty, or in ten, it is still held to the optimum of a cache that never
// is, as nobody can know what will be lost, and to what sending everything costs.
// PAWL_PROOF=1 plays all of it, and shows the table of docs/context.md.
func TestGrid(t *testing.T) { // Promises: B5, N4.
	whole := os.Getenv("PAWL_PROOF") != ""
	never := window.Compact(&window.Options{Never: true})
	var table strings.Builder
	fmt.Fprintln(&table, "| result | turns | Pawl | worst seed | ceiling unknown | everything, cached | 80% of the window | everything, no cache | 2% lost | everything | 10% lost | everything | summaries / masks |")
	fmt.Fprintln(&table, "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, size := range []int{300, 600, 1200, 3000, 6000} {
		for _, n := range []int{20, 100} {
			var ours, open, all, plain, eighty cell
			var lossy, lossyAll [2]cell
			seeds, made, masked := 0, 0, 0
			for _, x := range traces(t) {
				if x.mean != size || !whole && (x.seed > 0 || size == 600 || size == 3000) {
					continue
				}
				seeds++
				best := x.opt100
				if n == 20 {
					best = x.opt20
				}
				m := billed(t, x, n, n, 0)
				ours.add(m.bill / best)
				made += m.made
				masked += m.masked
				open.add(billed(t, x, n, 1000, 0).bill / best)
				if whole {
					all.add(billed(t, x, n, n, 0, never).bill / best)
					eighty.add(baseline(x.results, n, simRead, simWrite, 160_000) / best)
					plain.add(baseline(x.results, n, 1, 1, math.Inf(1)) / best)
					for i, loss := range losses {
						lossy[i].add(billed(t, x, n, n, loss).bill / best)
						lossyAll[i].add(billed(t, x, n, n, loss, never).bill / best)
					}
				}
			}
			if seeds == 0 {
				continue
			}
			mean := func(c cell) float64 { return c.sum / float64(seeds) }
			if most := map[int]float64{20: 1.25, 100: 1.2}[n]; mean(ours) > most || mean(open) > most {
				t.Errorf("results of %d tokens, %d turns: %.3f times the optimum, and %.3f where the ceiling is far: more than %v", size, n, mean(ours), mean(open), most)
			}
			for i, most := range []float64{1.25, 1.75} {
				if whole && (mean(lossy[i]) > most || mean(lossy[i]) > 1.02*mean(lossyAll[i])) {
					t.Errorf("results of %d tokens, %d turns, the cache lost with a chance of %v: %.3f times the optimum without loss, more than %v, or than everything at %.3f", size, n, losses[i], mean(lossy[i]), most, mean(lossyAll[i]))
				}
			}
			fmt.Fprintf(&table, "| %d | %d | %.3f | %.3f | %.3f | %.2f | %.2f | %.1f | %.2f | %.2f | %.2f | %.2f | %.1f / %.1f |\n", size, n, mean(ours), ours.worst, mean(open),
				mean(all), mean(eighty), mean(plain), mean(lossy[0]), mean(lossyAll[0]), mean(lossy[1]), mean(lossyAll[1]), float64(made)/float64(seeds), float64(masked)/float64(seeds))
		}
	}
	t.Logf("costs, in parts of the optimum:\n%s", table.String())
}
