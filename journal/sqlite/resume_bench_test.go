package sqlite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/tool"
)

// asking doubles n numbers and then asks a person.
func asking(n int) pawl.Agent {
	agent := doubling(n)
	agent.Tools = append(agent.Tools, tool.AskHuman())
	agent.Model = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		turn := len(r.Messages) / 2
		if turn == n {
			return pawl.Do(pawl.Call{Tool: "ask_human", Args: json.RawMessage(`{"question":"Go on?"}`)}), nil
		}
		return doubling(n).Model.(pawl.ModelFunc)(context.Background(), r)
	})
	return agent
}

func park(b *testing.B, e *engine.Engine, agent pawl.Agent, run string) {
	b.Helper()
	h, err := e.Start(b.Context(), agent, "go", &engine.StartOptions{ID: run})
	if err != nil {
		b.Fatal(err)
	}
	waits(b, h)
}

func waits(b *testing.B, h *engine.Handle) {
	b.Helper()
	if res, err := h.Wait(b.Context()); err != nil || res.Status != pawl.WaitingInput {
		b.Fatal(res.Verdict, err)
	}
}

// BenchmarkResume takes up a parked run of 500 iterations, to where it waits
// again, against a bare program that reads the same rows of the same file. They
// take turns, and the ratio is the median of the turns.
func BenchmarkResume(b *testing.B) {
	file := filepath.Join(b.TempDir(), "pawl.db")
	j := openAt(b, file, &sqlite.Options{Normal: true})
	agent, e := asking(500), engine.New(j, nil)
	const parked = 30 // in turn, since each resumption makes a log longer
	for i := range parked {
		park(b, e, agent, fmt.Sprint("r", i))
	}

	c, err := sqlite3.Open(file)
	if err != nil {
		b.Fatal(err)
	}
	rows, _, err := c.PrepareFlags(`SELECT id, data FROM batches WHERE id BETWEEN (SELECT ref FROM runs WHERE id = ?1) << 32 AND ((SELECT ref FROM runs WHERE id = ?1) << 32) + 4294967295 ORDER BY id`, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := rows.Close(); err != nil {
			b.Error(err)
		}
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	})
	var ours, bare, ratios []float64
	for i := 0; b.Loop(); i++ {
		run := fmt.Sprint("r", i%parked)
		at := time.Now()
		if err := rows.BindText(1, run); err != nil {
			b.Fatal(err)
		}
		n := 0
		for rows.Step() {
			n += len(rows.ColumnBlob(1, nil))
		}
		if err := rows.Reset(); err != nil || n == 0 {
			b.Fatal(n, err)
		}
		bare = append(bare, float64(time.Since(at)))
		at = time.Now()
		h, err := e.Resume(b.Context(), agent, run, nil)
		if err != nil {
			b.Fatal(err)
		}
		waits(b, h)
		ours = append(ours, float64(time.Since(at)))
		ratios = append(ratios, ours[len(ours)-1]/bare[len(bare)-1])
	}
	b.ReportMetric(median(ours), "ns/resume")
	b.ReportMetric(median(bare), "bare-ns")
	b.ReportMetric(median(ratios), "x-bare")
}

// BenchmarkParked parks 10,000 runs and looks at what that leaves behind in the
// process that parked them: memory and goroutines.
func BenchmarkParked(b *testing.B) {
	runs := 10_000
	if testing.Short() {
		runs = 500
	}
	for b.Loop() {
		j := openAt(b, filepath.Join(b.TempDir(), "pawl.db"), &sqlite.Options{Normal: true})
		agent, e := asking(1), engine.New(j, nil)
		park(b, e, agent, "first") // what the first one sets up is not the others'
		memory, goroutines := settled()
		for range runs {
			park(b, e, agent, "")
		}
		after, more := settled()
		b.ReportMetric(float64(max(0, after-memory))/float64(runs), "B/parked")
		b.ReportMetric(float64(more-goroutines), "goroutines")
		runtime.KeepAlive(e)
	}
}

func settled() (memory, goroutines int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), runtime.NumGoroutine()
}
