//go:build linux || darwin

package proof_test

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A site is one point of one of the processes of the undisturbed run.
type site struct {
	process int
	point   string
	nth     int // in its process
}

func (s site) String() string { return fmt.Sprintf("%s %d of process %d", s.point, s.nth, s.process+1) }

func (s site) stop() string { return fmt.Sprintf("%s|%d", s.point, s.nth) }

// shots kill at the site, and at others after that.
func (s site) shots(then ...string) []shot {
	list := append(make([]shot, s.process), shot{stop: s.stop()})
	for _, t := range then {
		list = append(list, shot{stop: t})
	}
	return list
}

// sites lists the points of processes: of each one its first, second and last
// time there. Without PAWL_PROOF each point has one of these, in turn, so that
// every point there is is in the list whichever way it is made.
func sites(processes [][]string) (list []site) {
	all := map[string][]site{}
	for i, points := range processes {
		count := map[string]int{}
		for _, p := range points {
			count[p]++
			all[p] = append(all[p], site{i, p, count[p]})
		}
	}
	for i, p := range slices.Sorted(maps.Keys(all)) {
		s := all[p]
		if len(s) > 2 {
			s = []site{s[0], s[1], s[len(s)-1]}
		}
		if !whole {
			s = s[i%len(s):][:1]
		}
		list = append(list, s...)
	}
	return list
}

// alongside runs cells beside each other, as many as the machine can take.
func alongside[T any](t *testing.T, list []T, name func(T) string, run func(*testing.T, T)) {
	t.Helper()
	turnstile := make(chan struct{}, 2*runtime.NumCPU())
	t.Run("cells", func(t *testing.T) {
		for _, x := range list {
			t.Run(name(x), func(t *testing.T) {
				t.Parallel()
				turnstile <- struct{}{}
				defer func() { <-turnstile }()
				run(t, x)
			})
		}
	})
}

// whole is whether to kill at every place, which takes minutes; make proof does.
var whole = os.Getenv("PAWL_PROOF") != ""

// sample is a list as it is for the whole proof, else one of so many, evenly and
// the same each time; when there is little time, as under the race detector, one
// of so many more, for there each process is the same program again.
func sample[T any](list []T, every, short int) (some []T) {
	switch {
	case whole:
		return list
	case testing.Short():
		every = short
	}
	for i := 0; i < len(list); i += every {
		some = append(some, list[i])
	}
	return some
}

// TestKillPoints kills the process before and after everything it does, the
// first, second or last time it does it, and has another end the run. Without
// PAWL_PROOF it does not kill before something: nothing is durable between that point
// and the one after what came earlier.
func TestKillPoints(t *testing.T) { // Promises: L13, N3.
	since := time.Now()
	var killed atomic.Int64
	list := slices.DeleteFunc(sites(base().passed), func(s site) bool { return !whole && strings.HasPrefix(s.point, "before ") })
	list = sample(list, 1, 10)
	alongside(t, list, site.String, func(t *testing.T, s site) {
		c := newCell(t)
		c.compare(c.play(s.shots()...))
		if c.killed != 1 && len(c.faults) == 0 {
			c.fault("%d processes were killed, not one", c.killed)
		}
		killed.Add(int64(c.killed))
		c.complain(t)
	})
	t.Logf("%d processes killed at %d points in %v", killed.Load(), len(list), time.Since(since).Round(time.Second))
}

// recoveries are the states a process can leave behind that differ in what the
// next one has to do about them.
var recoveries = []string{
	"after claim new|1",
	"after append run.started|1",
	"after model request|1",
	"after append model.failed|1",
	"after tool look|2",
	"before tool pay|1",
	"after tool pay|1",
	"after tool wire|1",
	"after child model request|1",
	"after child tool pay|1",
	"after child append tool.finished+run.paused|1",
	"after append child.stopped+run.paused|1",
	"before release|1",
}

// TestKillRecovery kills the process that takes the run up before and after
// everything it does at first, and the one after that in the same place.
func TestKillRecovery(t *testing.T) {
	type cell struct{ first, again string }
	var list []cell
	passed := make([][][]string, len(recoveries))
	firsts := sample(recoveries, 1, 6)
	alongside(t, firsts, strings.Clone, func(t *testing.T, first string) {
		c := newCell(t)
		c.records = true
		c.play(shot{stop: first})
		c.complain(t)
		passed[slices.Index(recoveries, first)] = c.passed
	})
	for _, first := range firsts {
		passed := passed[slices.Index(recoveries, first)]
		if len(passed) < 2 {
			t.Fatalf("nobody took up a run killed %s", first)
		}
		for _, p := range passed[1][:min(len(passed[1]), 10)] {
			if again := (cell{first, p + "|1"}); !slices.Contains(list, again) {
				list = append(list, again)
			}
		}
	}
	var killed atomic.Int64
	list = sample(list, 8, 24) // 8 and 10 have a remainder, so that each recovery is killed elsewhere
	alongside(t, list, func(c cell) string { return c.first + ", then " + c.again }, func(t *testing.T, x cell) {
		c := newCell(t)
		c.compare(c.play(shot{stop: x.first}, shot{stop: x.again}))
		if c.killed != 2 && len(c.faults) == 0 {
			c.fault("%d processes were killed, not two", c.killed)
		}
		killed.Add(int64(c.killed))
		c.complain(t)
	})
	t.Logf("%d processes killed in %d recoveries", killed.Load(), len(list))
}

// TestKillDecision kills who decides, before and after the decision is durable
// and before he is told so; he says it again.
func TestKillDecision(t *testing.T) {
	for _, stop := range []string{"before post decision|1", "after post decision|1", "before post answer|1", "after post answer|1", "before acknowledge|1", "after acknowledge|2"} {
		t.Run(strings.TrimSuffix(stop, "|1"), func(t *testing.T) {
			t.Parallel()
			c := newCell(t)
			if r, killed := c.process("run", shot{}); killed || len(r.Result.Pending) != 3 {
				t.Fatalf("it came to %v", r.Result.Verdict)
			}
			if _, killed := c.process("decide", shot{stop: stop}); !killed {
				t.Error("nobody was killed")
			}
			c.process("decide", shot{})
			c.compare(c.play())
			c.complain(t)
		})
	}
}
