package window_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The parameters of the simulation, in tokens. A token of input costs 1.
const (
	simSystem  = 7000 // prompt and tools
	simTask    = 1000
	simReply   = 300 // of each turn
	simNote    = 25  // what stands for a result that is left out
	simSummary = 1500
	simAsk     = 400 // what asks for a summary
	simKeep    = 5
	simOutput  = 5
	simRead    = 0.1
	simWrite   = 1.25
)

// trace is a course of tool results with what an offline optimum makes of it.
type trace struct {
	mean, seed                 int
	opt20, opt100, masks, sums float64 // by the program this was ported from
	results                    []int   // tokens
}

func traces(t testing.TB) (all []trace) {
	f, err := os.Open("testdata/traces.txt")
	must(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Fields(lines.Text())
		var x trace
		if _, err := fmt.Sscan(strings.Join(fields[:6], " "), &x.mean, &x.seed, &x.opt20, &x.opt100, &x.masks, &x.sums); err != nil {
			t.Fatal(err)
		}
		for _, field := range fields[6:] {
			n, err := strconv.Atoi(field)
			must(t, err)
			x.results = append(x.results, n)
		}
		all = append(all, x)
	}
	return all
}

// optimum is the least that n requests can cost when before each of them the
// results of all but the latest turns may be left out, or these turns summarised,
// and the future is known, the requests before which the cache is lost too. It goes
// over all schedules; a state is whether there is a summary, where the turns after it
// begin, and up to where results are left out.
func optimum(results []int, n int, masks, summaries bool, lost ...int) float64 {
	type at struct{ flag, start, bound int }
	reply, result := make([]float64, n+1), make([]float64, n+1)
	for i := range n {
		reply[i+1] = reply[i] + simReply
		result[i+1] = result[i] + float64(results[i])
	}
	const head = simSystem + simTask
	costs := map[at]float64{{}: simWrite * head}
	for i := 1; i < n; i++ {
		const hit = simRead
		simRead := hit // of what was sent before
		if slices.Contains(lost, i) {
			simRead = simWrite
		}
		fresh := float64(simReply + results[i-1])
		next := map[at]float64{}
		lower := func(k at, v float64) {
			if was, ok := next[k]; !ok || v < was {
				next[k] = v
			}
		}
		summary, old := math.Inf(1), i-simKeep
		for k, cost := range costs {
			front := head + simSummary*float64(k.flag) + reply[k.bound] - reply[k.start] + float64(k.bound-k.start)*simNote
			before := front + reply[i-1] - reply[k.bound] + result[i-1] - result[k.bound]
			lower(k, cost+simRead*before+simWrite*fresh)
			if masks && old > k.bound {
				again := reply[i] - reply[k.bound] + float64(old-k.bound)*simNote + result[i] - result[old]
				lower(at{k.flag, k.start, old}, cost+simRead*front+simWrite*again)
			}
			if summaries && old > 0 {
				summary = min(summary, cost+simRead*before+simWrite*(fresh+simAsk)+simOutput*simSummary)
			}
		}
		if !math.IsInf(summary, 1) { // the request for it has the head, which is in the cache again
			tail := simSummary + reply[i] - reply[old] + result[i] - result[old]
			lower(at{1, old, old}, summary+hit*head+simWrite*tail)
		}
		costs = next
	}
	least := math.Inf(1)
	for _, cost := range costs {
		least = min(least, cost)
	}
	return least
}

// TestOptimum holds the port to the figures of the program it was ported from.
func TestOptimum(t *testing.T) {
	for _, x := range traces(t) {
		if os.Getenv("PAWL_PROOF") == "" && x.seed > 0 {
			continue
		}
		for _, c := range []struct {
			got, want float64
		}{
			{optimum(x.results, 20, true, true), x.opt20}, {optimum(x.results, 100, true, true), x.opt100},
			{optimum(x.results, 100, true, false), x.masks}, {optimum(x.results, 100, false, true), x.sums},
		} {
			if math.Abs(c.got-c.want) > 0.01*c.want/100 { // the other one drops unlikely states
				t.Errorf("mean %d, seed %d: %.2f, want %.2f", x.mean, x.seed, c.got, c.want)
			}
		}
	}
}

// baseline is what a run of n turns costs by a rule that knows no prices:
// everything stays (beyond infinite), or all but the latest turns are summarised
// beyond so many tokens.
func baseline(results []int, n int, read, write, beyond float64) (cost float64) {
	summary, start, cached := 0.0, 0, 0.0
	const head = simSystem + simTask
	total := func(i int) (sum float64) {
		for k := start; k < i; k++ {
			sum += simReply + float64(results[k])
		}
		return head + summary + sum
	}
	for i := range n {
		size := total(i)
		if size > beyond && i-start > simKeep {
			cost += read*cached + write*(size+simAsk-cached) + simOutput*simSummary
			summary, start, cached = simSummary, i-simKeep, head
			size = total(i)
		}
		cost += read*cached + write*(size-cached)
		cached = size
	}
	return cost
}
