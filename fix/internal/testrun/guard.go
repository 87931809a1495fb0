package testrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// An edit can make a loop endless, and one that fills memory harms other programs long before
// the tests time out. So the memory is watched where the system reports it (Linux). Kernel limits
// do not work: those on address space forbid the race detector.

var errMemory = errors.New("the tests used up memory and were stopped")

// lookEvery is short against what filling the last fifth of memory takes.
const lookEvery = 200 * time.Millisecond

// guard ends a run, with errMemory, when less than so many bytes are available; zero means a fifth of what is at
// the beginning. It returns when ctx ends.
func guard(ctx context.Context, least int64, end context.CancelCauseFunc) {
	if least <= 0 {
		least = available() / 5
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for least > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if available() < least {
				end(errMemory)
				return
			}
		}
	}
}

// available returns how many bytes are available, or zero if unknown.
func available() (bytes int64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemAvailable:" {
			bytes = number(f[1]) << 10
		}
	}
	limit, _ := os.ReadFile("/sys/fs/cgroup/memory.max") // "max" without one
	used, _ := os.ReadFile("/sys/fs/cgroup/memory.current")
	if most := number(string(limit)); most > 0 {
		bytes = min(bytes, most-number(string(used)))
	}
	return bytes
}

// number reads a number; zero: there is none.
func number(text string) (n int64) {
	_, _ = fmt.Sscan(text, &n)
	return n
}
