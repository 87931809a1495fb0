package testrun

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/gotest"
)

// A test that never ends costs its whole time-out, and a time-out of a minute is
// meant for tests that are slow. So the first run is given a shorter one. What
// does not end in it counts as endless if it has every look of it; else the tests
// run once more, with all the time that they may have.
const (
	firstLimit = 10 * time.Second
	farSlower  = 50 // times the slowest test that ended
)

// waiting are the states of goroutines that something outside may wake up. One
// that spins, or waits for a lock or another goroutine, is none of these.
var waiting = []string{"sleep", "IO wait", "syscall", "select", "wait", "GC"}

var goroutineState = regexp.MustCompile(`^goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[([^\],]+)`)

// endings is what the events of a run show of the tests that ended, and of those that did not.
type endings struct {
	seen    func(packages, failed int) // called as packages end; may be nil
	ended   int                        // packages
	failed  int                        // of them
	slowest time.Duration              // of them, if it ended by itself

	late  bool          // some tests did not end
	some  bool          // some did
	test  time.Duration // the slowest of these
	waits bool          // something may yet have come
}

// endless reports whether waiting longer for a test is pointless.
func (n *endings) endless() bool {
	return n.late && n.some && !n.waits && n.test*farSlower < firstLimit
}

// add takes in an event of go test.
func (n *endings) add(e gotest.Event) {
	took := time.Duration(e.Elapsed * float64(time.Second))
	switch {
	case e.Action == "output":
		n.late = n.late || strings.HasPrefix(e.Output, "panic: test timed out after ")
		if m := goroutineState.FindStringSubmatch(e.Output); m != nil {
			n.waits = n.waits || slices.Contains(waiting, m[1])
		}
	case e.Action != "pass" && e.Action != "fail":
	case e.Test != "":
		// A test that the time-out cut off also fails, after all of the time.
		if took < firstLimit*9/10 {
			n.some, n.test = true, max(n.test, took)
		}
	case e.Package != "":
		n.slowest = max(n.slowest, took)
		if n.ended++; e.Action == "fail" {
			n.failed++
		}
		if n.seen != nil {
			n.seen(n.ended, n.failed)
		}
	}
}
