package main

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// What was measured on PostgreSQL; docs/scale.md says how.
const (
	rowsRun, rowsIteration   = 1, 2       // appends
	bytesRun, bytesIteration = 1600, 2000 // of log
	walRun, walIteration     = 3300, 2800
	renewal                  = 5 * time.Second  // a third of a lease
	recovery                 = 30 * time.Second // from a death to the resumption, at most
	connections              = 7                // of a worker: a pool of 4 and three that listen
)

// A load is a day of runs.
type load struct {
	Runs          int
	Peak          float64 // of the arrivals, as a multiple of their mean
	Iterations    float64 // of a run: geometric
	Turn          time.Duration
	Waits         float64 // the share of runs that wait once, in the middle
	Wait          time.Duration
	Deaths        int
	Slots, Worker int
	Seed          uint64
}

var usual = load{Runs: 1_000_000, Peak: 1.8, Iterations: 8, Turn: 12 * time.Second, Waits: 0.1, Wait: 2 * time.Hour, Deaths: 50, Slots: 2500, Worker: 100, Seed: 1}

// A result is what a day came to. Times are in seconds.
type result struct {
	started, ended, lost, claims             int
	busy, waiting                            float64 // integrals over the day
	busyMost, waitingMost, queuedMost, atEnd int
	claimsMost                               int
	rows, bytes, wal                         float64
	delays                                   []float64
}

// delay is a quantile of the time in the queue.
func (r *result) delay(q float64) time.Duration {
	if len(r.delays) == 0 {
		return 0
	}
	return time.Duration(r.delays[int(q*float64(len(r.delays)-1))] * float64(time.Second)).Round(10 * time.Millisecond)
}

type kind int

const (
	arrives kind = iota + 1
	rests        // it ends or begins to wait
	decided      // its person answers
	dies         // a worker is killed
)

type event struct {
	at   float64
	kind kind
	of   *run
}

// A run has work left: that until it rests, and that after its wait.
type run struct {
	first, second float64 // seconds of work
	wait          float64
	queuedAt      float64
	iterations    float64
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(v any)        { *e = append(*e, v.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// simulate plays a day: arrivals by a Poisson process whose rate goes up and down once a day,
// one queue, and slots that each drive a run until it waits or ends. What goes on at the end of the day
// is not played on.
func simulate(l load) result {
	const day = 86400.0
	r, random := result{}, rand.New(rand.NewPCG(l.Seed, 0)) //nolint:gosec // a simulation
	var all events
	next := func(at float64, k kind, of *run) { heap.Push(&all, event{at, k, of}) }
	mean := float64(l.Runs) / day
	arrive := func(after float64) { // by thinning of a process with the highest rate
		for {
			after += random.ExpFloat64() / (mean * l.Peak)
			rate := 1 + (l.Peak-1)*math.Sin(2*math.Pi*(after/day-0.25))
			if random.Float64() < rate/l.Peak {
				break
			}
		}
		next(after, arrives, nil)
	}
	arrive(0)
	for range l.Deaths {
		next(random.Float64()*day, dies, nil)
	}
	var queue []*run
	head, busy, waiting, now, second, claims := 0, 0, 0, 0.0, 0.0, 0
	take := func() {
		for busy < l.Slots && head < len(queue) {
			of := queue[head]
			queue[head] = nil
			head++
			r.delays = append(r.delays, now-of.queuedAt)
			busy++
			r.claims++
			if math.Floor(now) != second {
				second, claims = math.Floor(now), 0
			}
			claims++
			r.claimsMost = max(r.claimsMost, claims)
			next(now+of.first, rests, of)
		}
		if head > 1<<16 && head*2 > len(queue) {
			queue, head = slices.Clone(queue[head:]), 0
		}
	}
	for len(all) > 0 {
		e := heap.Pop(&all).(event)
		at := min(e.at, day)
		r.busy += float64(busy) * (at - now)
		r.waiting += float64(waiting) * (at - now)
		if now = at; e.at >= day {
			break
		}
		switch e.kind {
		case arrives:
			arrive(now)
			r.started++
			of := newRun(l, random)
			of.queuedAt = now
			queue = append(queue, of)
		case rests:
			busy--
			if e.of.wait > 0 {
				waiting++
				next(now+e.of.wait, decided, e.of)
				break
			}
			r.end(e.of)
		case decided:
			waiting--
			e.of.first, e.of.second, e.of.wait, e.of.queuedAt = e.of.second, 0, 0, now
			queue = append(queue, e.of)
		case dies:
			r.die(l, all, busy)
		}
		take()
		r.busyMost, r.waitingMost, r.queuedMost = max(r.busyMost, busy), max(r.waitingMost, waiting), max(r.queuedMost, len(queue)-head)
	}
	r.atEnd = busy + waiting + len(queue) - head
	slices.Sort(r.delays)
	return r
}

func newRun(l load, random *rand.Rand) *run {
	n := 1.0
	for random.Float64() > 1/l.Iterations {
		n++
	}
	of := &run{iterations: n}
	for range int(n) {
		of.first += random.ExpFloat64() * l.Turn.Seconds()
	}
	if random.Float64() < l.Waits {
		of.wait = random.ExpFloat64() * l.Wait.Seconds()
		of.second = of.first / 2
		of.first -= of.second
	}
	return of
}

// end books what a run wrote.
func (r *result) end(of *run) {
	r.ended++
	r.rows += rowsRun + rowsIteration*of.iterations
	r.bytes += bytesRun + bytesIteration*of.iterations
	r.wal += walRun + walIteration*of.iterations
}

// die delays the runs of one worker until others have resumed them.
func (r *result) die(l load, all events, busy int) {
	hit := busy / workers(l)
	for i := range all {
		if hit == 0 {
			break
		}
		if all[i].kind == rests {
			all[i].at += recovery.Seconds()
			hit--
			r.lost++
			r.claims++
		}
	}
	heap.Init(&all)
}
