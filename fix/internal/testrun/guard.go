package testrun

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"
)

// An edit can make a loop endless, and one that fills memory harms other programs long before
// the tests time out. So the memory of a test run is watched where the system reports it
// (Linux). Kernel limits do not work: those on address space forbid the race detector.

var errMemory = errors.New("the tests used up memory and were stopped")

// lookEvery is short against what filling the last fifth of memory takes.
const lookEvery = 200 * time.Millisecond

// share is the part of the memory there is that the tests may use.
const share = 0.8

// guard ends a session, with errMemory, when it uses more than most bytes; zero means a share
// of what is available at the beginning, divided by the slots. It returns when ctx ends.
func guard(ctx context.Context, session int, most int64, slots int, end context.CancelCauseFunc) {
	if most <= 0 {
		most = int64(share*float64(available())) / int64(slots)
	}
	if most <= 0 {
		return
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if resident(session) > most {
				end(errMemory)
				return
			}
		}
	}
}

// available returns how many bytes are available, or zero if unknown.
func available() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var most int64
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemAvailable:" {
			if kb, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				most = kb << 10
			}
		}
	}
	limit, err := os.ReadFile("/sys/fs/cgroup/memory.max") // "max" without one
	if n, bad := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil && bad == nil && n > 0 {
		most = min(most, n)
	}
	return most
}

// resident sums the memory of a session's processes, as proc_pid_stat(5)
// describes it: the session is the sixth field, the resident pages are the
// twenty-fourth. A process that is gone meanwhile counts nothing.
func resident(session int) (bytesUsed int64) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name, in parentheses, may hold anything: what counts follows the last.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 22 || f[3] != strconv.Itoa(session) {
			continue
		}
		if pages, err := strconv.ParseInt(f[21], 10, 64); err == nil {
			bytesUsed += pages * int64(os.Getpagesize())
		}
	}
	return bytesUsed
}
