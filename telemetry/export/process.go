package export

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

var started = time.Now()

// ownProcess are the metrics of the runtime and of this process that its dashboard and an
// operator need, under the names that programs in Go have for them. Those of the process need
// /proc.
func ownProcess() []family {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	info := single("go_info", "gauge", "The version of Go.", 1)
	info.samples[0].labels = []attribute.KeyValue{attribute.String("version", runtime.Version())}
	return append([]family{
		info,
		single("go_goroutines", "gauge", "Goroutines.", float64(runtime.NumGoroutine())),
		single("go_memstats_heap_alloc_bytes", "gauge", "Memory in use on the heap.", float64(m.HeapAlloc)),
		single("go_memstats_sys_bytes", "gauge", "Memory that was obtained from the system.", float64(m.Sys)),
		single("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970.", float64(started.UnixMilli())/1000),
	}, fromProc()...)
}

// fromProc reads what Linux says about this process; see proc(5).
func fromProc() []family {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return nil
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
	all := []family{
		single("process_cpu_seconds_total", "counter", "Time of the processors, in user and system mode.", (field(14)+field(15))/ticks),
		single("process_virtual_memory_bytes", "gauge", "Virtual memory.", field(23)),
		single("process_resident_memory_bytes", "gauge", "Resident memory.", field(24)*float64(os.Getpagesize())),
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		all = append(all, single("process_open_fds", "gauge", "Open files.", float64(len(open))))
	}
	limits, _ := os.ReadFile("/proc/self/limits") // without it there is no limit to show
	_, after, _ := bytes.Cut(limits, []byte("Max open files"))
	soft, _, _ := bytes.Cut(bytes.TrimSpace(after), []byte(" "))
	if most, err := strconv.ParseFloat(string(soft), 64); err == nil {
		all = append(all, single("process_max_fds", "gauge", "The most files that may be open.", most))
	}
	return all
}

func single(name, kind, about string, value float64) family {
	return family{name: name, kind: kind, about: about, samples: []sample{{value: value}}}
}
