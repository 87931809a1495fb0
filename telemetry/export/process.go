package export

import (
	"bytes"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// started is when the process was, nearly.
var started = time.Now()

// runtimeMetrics are those of the Go runtime by the names that its client for
// Prometheus gave them, which dashboards know.
var runtimeMetrics = []struct{ from, name, kind, help string }{
	{"/sched/goroutines:goroutines", "go_goroutines", "gauge", "Number of goroutines that exist."},
	{"/memory/classes/heap/objects:bytes", "go_memstats_heap_alloc_bytes", "gauge", "Bytes of heap objects, reachable or not swept yet."},
	{"/memory/classes/total:bytes", "go_memstats_sys_bytes", "gauge", "Bytes of memory obtained from the system."},
	{"/gc/cycles/total:gc-cycles", "go_gc_cycles_total", "counter", "Completed garbage collections."},
}

// process is what there is to say of the process itself.
func process() []family {
	one := func(name, kind, help, labels string, v float64) family {
		return family{name, kind, help, []sample{{labels: labels, value: number(v)}}}
	}
	all := []family{
		one("go_info", "gauge", "The Go version.", `version="`+quoted.Replace(runtime.Version())+`"`, 1),
		one("process_start_time_seconds", "gauge", "Start of the process since the Unix epoch in seconds.", "", float64(started.UnixMilli())/1000),
	}
	samples := make([]metrics.Sample, len(runtimeMetrics))
	for i, m := range runtimeMetrics {
		samples[i].Name = m.from
	}
	metrics.Read(samples)
	for i, m := range runtimeMetrics {
		if samples[i].Value.Kind() == metrics.KindUint64 {
			all = append(all, one(m.name, m.kind, m.help, "", float64(samples[i].Value.Uint64())))
		}
	}
	if cpu, resident, ok := used(); ok {
		all = append(all,
			one("process_cpu_seconds_total", "counter", "User and system CPU time spent in seconds.", "", cpu),
			one("process_resident_memory_bytes", "gauge", "Resident memory size in bytes.", "", resident))
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		all = append(all, one("process_open_fds", "gauge", "Number of open file descriptors.", "", float64(len(open)-1))) // one is for looking
	}
	return all
}

// used is what the process has used, from proc_pid_stat(5); not where there is none.
func used() (cpu, resident float64, ok bool) {
	raw, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, false
	}
	// The name stands in parentheses and may hold any; fields are counted behind it.
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	const utime, stime, rss = 14 - 3, 15 - 3, 24 - 3
	if len(fields) <= rss {
		return 0, 0, false
	}
	const ticks = 100 // a second, as Linux has it for whoever asks
	n := func(i int) float64 {
		v, _ := strconv.ParseFloat(fields[i], 64)
		return v
	}
	return (n(utime) + n(stime)) / ticks, n(rss) * float64(os.Getpagesize()), true
}
