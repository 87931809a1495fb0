//go:build unix

package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// lease is how long a worker's lease lasts without a heartbeat.
const lease = 15 * time.Second

// TestKillWorkers kills the workers of a database at any time. Every queued run ends, none is
// lost, each Write is made once, and nobody is asked. There are 6 kills, 1,000 under
// PAWL_PROOF=1, any number with PAWL_PROOF_KILLS; PAWL_PROOF_SEED repeats a series, as far as
// times repeat.
func TestKillWorkers(t *testing.T) {
	kills, workers := 6, 3
	if os.Getenv("PAWL_PROOF") != "" {
		kills, workers = 1000, 8
	}
	if n, err := strconv.Atoi(os.Getenv("PAWL_PROOF_KILLS")); err == nil {
		kills, workers = n, 8
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		j, err := sqlite.Open(t.Context(), filepath.Join(dir, "runs.db"), nil)
		must(t, err)
		defer j.Close()
		killWorkers(t, dir, "sqlite:"+filepath.Join(dir, "runs.db"), j, kills, workers)
	})
	t.Run("postgres", func(t *testing.T) {
		database := started(t).url()
		raw(t, `DROP SCHEMA IF EXISTS pawl CASCADE`)
		killWorkers(t, t.TempDir(), database, openAt(t, database, "pawl"), kills, workers)
	})
}

// A workforce is the workers of one database.
type workforce struct {
	*testing.T
	dir, database string
	journal       pawl.Journal
	queued        []string
}

func (w *workforce) pawl(said *bytes.Buffer, args ...string) *exec.Cmd {
	c := exec.Command(program(w.T), args...)
	c.Dir, c.Env, c.Stderr = w.dir, append(os.Environ(), "PAWL_DATABASE="+w.database), said
	return c
}

// stop ends a worker by a signal. It reports whether that ended it.
func stop(c *exec.Cmd, with syscall.Signal) bool {
	_ = c.Process.Signal(with)
	_ = c.Wait() // its status says it
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	return ok && (with == syscall.SIGKILL && status.Signaled() && status.Signal() == with || with == syscall.SIGTERM && status.ExitStatus() == 130)
}

func killWorkers(t *testing.T, dir, database string, j pawl.Journal, kills, workers int) {
	seed, err := strconv.ParseUint(os.Getenv("PAWL_PROOF_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("PAWL_PROOF_SEED=%d", seed)
	for name, text := range map[string]string{
		"paying.yaml":        "name: paying\nmodel: script:paying.script.yaml\ntools:\n  - {name: pay, description: Pay., command: [sh, -c, \"echo $PAWL_RUN $PAWL_CALL >> ledger.txt\"]}\n",
		"paying.script.yaml": "replies: [{calls: [{tool: pay}]}, {calls: [{tool: pay}], delay: 50ms}, {text: paid, delay: 50ms}]\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	w := &workforce{T: t, dir: dir, database: database, journal: j}
	again := w.first()
	var killed, begun atomic.Int64
	var told sync.Map
	var all sync.WaitGroup
	began := time.Now()
	for i := range workers {
		chance := rand.New(rand.NewPCG(seed, uint64(i)))
		all.Go(func() {
			for {
				var said bytes.Buffer
				c := w.pawl(&said, "worker", "paying.yaml", "--slots", "2", "--grace", "20s")
				if err := c.Start(); err != nil {
					t.Error(err)
					return
				}
				if begun.Add(1) > int64(kills) { // it works to the end
					told.Store(c, &said)
					return
				}
				time.Sleep(time.Duration(chance.Int64N(int64(1500 * time.Millisecond))))
				if !stop(c, syscall.SIGKILL) {
					t.Errorf("a worker has ended by itself:\n%s", &said)
					return
				}
				if n := killed.Add(1); n%100 == 0 {
					t.Logf("%d kills after %v", n, time.Since(began).Round(time.Second))
				}
			}
		})
	}
	working := make(chan struct{})
	go func() { defer close(working); all.Wait() }()
	for more := true; more; {
		for n := w.open(); n < 3*workers; n++ {
			again()
		}
		select {
		case <-working:
			more = false
		case <-time.After(50 * time.Millisecond):
		}
	}
	for end := time.Now().Add(4 * lease); w.open() > 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	told.Range(func(c, said any) bool {
		if !stop(c.(*exec.Cmd), syscall.SIGTERM) {
			t.Errorf("a worker does not end as told:\n%s", said)
		}
		return true
	})
	w.hold()
	t.Logf("%d workers killed in %v", killed.Load(), time.Since(began).Round(time.Second))
	if killed.Load() < int64(kills) {
		t.Errorf("%d kills landed, not %d", killed.Load(), kills)
	}
}

// first has the command queue a run, and returns how to queue another one like it, which
// takes no process.
func (w *workforce) first() func() {
	var said bytes.Buffer
	c := w.pawl(&said, "run", "paying.yaml", "go", "--queue")
	id, err := c.Output()
	if err != nil {
		w.Fatalf("%v: %s", err, &said)
	}
	var entries []pawl.Entry
	var head pawl.Head
	w.queued = append(w.queued, strings.TrimSpace(string(id)))
	for e, err := range engine.Entries(w.Context(), w.journal, w.queued[0], 1) {
		must(w, err)
		if entries = append(entries, e); e.Seq == 2 {
			break
		}
	}
	for h, err := range w.journal.List(w.Context(), pawl.Query{Run: w.queued[0]}) {
		must(w, err)
		head = h
	}
	return func() {
		id := fmt.Sprintf("%s-%d", w.queued[0], len(w.queued))
		l, err := w.journal.Claim(w.Context(), pawl.Claim{Run: id, Owner: "filler", TTL: time.Minute, New: true})
		must(w, err)
		b := pawl.Batch{Run: id, Epoch: l.Epoch, Head: head}
		b.Head.Run, b.Head.Lease = id, pawl.Lease{}
		for _, e := range entries {
			e.Run = id
			record, err := e.AppendJSON(nil)
			must(w, err)
			b.Records = append(b.Records, record)
		}
		must(w, w.journal.Append(w.Context(), b))
		engine.Release(w.journal, l)
		w.queued = append(w.queued, id)
	}
}

// open is how many runs have not ended.
func (w *workforce) open() (n int) {
	for _, status := range []pawl.Status{pawl.StatusQueued, pawl.StatusRunning, pawl.StatusPaused, pawl.StatusWaitingDoubt} {
		for _, err := range w.journal.List(w.Context(), pawl.Query{Status: status}) {
			must(w, err)
			n++
		}
	}
	return n
}

// hold holds what was done against what is promised.
func (w *workforce) hold() {
	ledger, err := os.ReadFile(filepath.Join(w.dir, "ledger.txt"))
	must(w, err)
	made, writes := map[string]int{}, 0
	for line := range strings.Lines(string(ledger)) {
		made[strings.TrimSpace(line)]++
		writes++
	}
	resumed, longest := 0, time.Duration(0)
	for _, run := range w.queued {
		status, last := pawl.Status(0), time.Time{}
		for e, err := range engine.Entries(context.Background(), w.journal, run, 1) {
			if err != nil {
				w.Fatalf("run %s is lost: %v", run, err)
			}
			switch ev := e.Event.(type) {
			case pawl.RunResumed:
				if resumed++; ev.Epoch > 2 && !last.IsZero() {
					longest = max(longest, e.Time.Sub(last))
				}
			case pawl.ToolDoubted:
				w.Errorf("somebody is asked about call %s of run %s", ev.Call, run)
			case pawl.ToolStarted:
				if n := made[run+" "+ev.Call]; n != 1 {
					w.Errorf("the Write %s of run %s was made %d times", ev.Call, run, n)
				}
			case pawl.RunStopped:
				status = ev.Status
			}
			last = e.Time
		}
		if status != pawl.StatusSuccess {
			w.Errorf("run %s ended as %v", run, status)
		}
	}
	if writes != len(made) || writes != 2*len(w.queued) {
		w.Errorf("%d runs made %d Writes, %d of them different", len(w.queued), writes, len(made))
	}
	w.Logf("%d runs with %d Writes; they were resumed %d times more, after %v at most", len(w.queued), writes, resumed-len(w.queued), longest.Round(time.Millisecond))
}
