// Command scale simulates a day of runs and prints what a journal and its workers need for it.
// docs/scale.md has its results and what they rest on.
//
//	go run ./docs/scale -runs 1000000 -slots 4000
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	l := usual
	flag.IntVar(&l.Runs, "runs", l.Runs, "runs a day")
	flag.Float64Var(&l.Peak, "peak", l.Peak, "arrivals in the busiest moment, as a multiple of the mean, up to 2")
	flag.Float64Var(&l.Iterations, "iterations", l.Iterations, "iterations of a run, on average")
	flag.DurationVar(&l.Turn, "turn", l.Turn, "time of an iteration, on average")
	flag.Float64Var(&l.Waits, "waits", l.Waits, "the share of runs that wait for a person once")
	flag.DurationVar(&l.Wait, "wait", l.Wait, "time of such a wait, on average")
	flag.IntVar(&l.Deaths, "deaths", l.Deaths, "workers that are killed in a day")
	flag.IntVar(&l.Slots, "slots", l.Slots, "runs that all workers together drive at once")
	flag.IntVar(&l.Worker, "worker", l.Worker, "slots of a worker")
	flag.Uint64Var(&l.Seed, "seed", l.Seed, "seed of the random numbers")
	flag.Parse()
	if l.Runs < 1 || l.Slots < 1 || l.Worker < 1 || l.Peak < 1 || l.Peak > 2 || l.Iterations < 1 || l.Turn <= 0 || l.Waits < 0 || l.Waits > 1 || l.Deaths < 0 {
		fmt.Fprintln(os.Stderr, "scale: every number must be positive, -peak between 1 and 2, -waits between 0 and 1")
		os.Exit(2)
	}
	report(os.Stdout, l, simulate(l))
}

func report(w io.Writer, l load, r result) {
	day := (24 * time.Hour).Seconds()
	row := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-34s "+format+"\n", append([]any{what}, args...)...)
	}
	row("runs started, ended", "%d, %d", r.started, r.ended)
	row("driven at once, mean and peak", "%.0f, %d of %d slots (%d workers)", r.busy/day, r.busyMost, l.Slots, workers(l))
	row("waiting for people, mean and peak", "%.0f, %d", r.waiting/day, r.waitingMost)
	row("queued, peak", "%d", r.queuedMost)
	row("time in the queue, 50, 99, 99.9 %", "%v, %v, %v", r.delay(0.5), r.delay(0.99), r.delay(0.999))
	row("claims, mean and busiest second", "%.1f, %d", float64(r.claims)/day, r.claimsMost)
	row("runs that lost their worker", "%d", r.lost)
	row("appends a second, mean and peak", "%.0f, %.0f", r.rows/day, r.rows/day*l.Peak)
	row("lease renewals a second, mean", "%.0f", r.busy/day/renewal.Seconds())
	row("rows of a day", "%.1f million", r.rows/1e6)
	row("bytes of log of a day, of WAL", "%.1f GB, %.1f GB", r.bytes/1e9, r.wal/1e9)
	row("connections", "%d (%d for each of %d workers)", connections*workers(l), connections, workers(l))
}

func workers(l load) int { return (l.Slots + l.Worker - 1) / l.Worker }
