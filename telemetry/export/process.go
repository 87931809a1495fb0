package export

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"
)

var started = time.Now()

// ownProcess are the metrics of this process that the dashboard and an operator need, under
// the names that programs in Go have for them. The last two need /proc.
func ownProcess() []family {
	all := []family{
		single("go_goroutines", "gauge", "Goroutines.", float64(runtime.NumGoroutine())),
		single("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.", float64(started.UnixMilli())/1000),
	}
	stat, err := os.ReadFile("/proc/self/stat") // see proc(5)
	if err != nil {
		return all
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // from the third on; the name before may hold anything
	field := func(n int) float64 {
		if n-3 >= len(fields) {
			return 0
		}
		f, _ := strconv.ParseFloat(string(fields[n-3]), 64) // zero if it is no number
		return f
	}
	const ticks = 100 // a second, in the units of /proc on every system that Go runs on
	return append(all,
		single("process_cpu_seconds_total", "counter", "Time of the processors, in user and system mode.", (field(14)+field(15))/ticks),
		single("process_resident_memory_bytes", "gauge", "Resident memory.", field(24)*float64(os.Getpagesize())),
	)
}

func single(name, kind, about string, value float64) family {
	return family{name: name, kind: kind, about: about, samples: []sample{{value: value}}}
}
