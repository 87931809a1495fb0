package worker

import (
	"fmt"
	"io"
)

// WriteMetrics writes figures of the worker in Prometheus' text format.
func (w *Worker) WriteMetrics(to io.Writer) {
	gauge := func(kind, name, about string, value int64) {
		fmt.Fprintf(to, "# HELP %[2]s %[3]s\n# TYPE %[2]s %[1]s\n%[2]s %[4]d\n", kind, name, about, value)
	}
	w.mu.Lock()
	busy := w.busy
	w.mu.Unlock()
	gauge("gauge", "pawl_worker_slots", "Runs that this process takes at most.", int64(w.slots()))
	gauge("gauge", "pawl_worker_busy", "Runs that this process drives.", int64(busy))
	gauge("counter", "pawl_worker_taken_total", "Queued runs that this process has taken.", w.counts.claims.Load())
	gauge("counter", "pawl_worker_takes_total", "Looks at the queue by this process with a free slot.", w.counts.takes.Load())
	gauge("counter", "pawl_worker_resumed_total", "Runs that were due or signalled, or whose process ended, and that this process has resumed.", w.counts.recovered.Load())
}

// slots is how many runs the worker drives at most before it takes no more.
func (w *Worker) slots() int {
	if w.options.Slots <= 0 {
		return DefaultSlots
	}
	return w.options.Slots
}
