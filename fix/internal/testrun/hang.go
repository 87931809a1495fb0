package testrun

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
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

// look is what the events of a run show of tests that did not end.
type look struct {
	late    bool          // some did not
	ended   bool          // some did
	slowest time.Duration // of these
	waits   bool          // something may yet have come
}

// endless reports whether waiting longer for a test is pointless.
func (l look) endless() bool {
	return l.late && l.ended && !l.waits && l.slowest*farSlower < firstLimit
}

// read takes in a line of the events of go test.
func (l *look) read(line []byte) {
	var e struct {
		Action, Test, Output string
		Elapsed              float64
	}
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Action {
	case "pass", "fail":
		// A test that the time-out cut off also fails, after all of the time.
		if took := time.Duration(e.Elapsed * float64(time.Second)); e.Test != "" && took < firstLimit*9/10 {
			l.ended, l.slowest = true, max(l.slowest, took)
		}
	case "output":
		l.late = l.late || strings.HasPrefix(e.Output, "panic: test timed out after ")
		if m := goroutineState.FindStringSubmatch(e.Output); m != nil {
			l.waits = l.waits || slices.Contains(waiting, m[1])
		}
	}
}
