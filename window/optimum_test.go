package window_test

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// The parameters of the simulation, in tokens. A token of input costs 1.
const (
	simSystem  = 7000 // prompt and tools
	simTask    = 1000
	simReply   = 300 // of each turn
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
