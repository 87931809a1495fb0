//go:build linux || darwin

package cli_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// paysTwice makes two Writes.
var paysTwice = map[string]string{
	"paying.yaml":        "name: paying\nmodel: script:paying.script.yaml\ntools:\n  - {name: pay, description: Pay., command: [stub, note, ledger.txt]}\n",
	"paying.script.yaml": "replies: [{calls: [{tool: pay}]}, {calls: [{tool: pay}]}, {text: paid}]\n",
}

// A workforce is the workers of one database, of which one is killed now and then.
type workforce struct {
	*testing.T
	dir     string
	journal *sqlite.Journal
	workers [3]*exec.Cmd
	said    [3]bytes.Buffer
	queued  int
}

func (w *workforce) pawl(said *bytes.Buffer, args ...string) *exec.Cmd {
	c := exec.Command("spawl", args...)
	c.Dir, c.Env, c.Stderr = w.dir, append(os.Environ(), "PAWL_DATABASE=sqlite:runs.db"), said
	return c
}

func (w *workforce) start(i int) {
	c := w.pawl(&w.said[i], "worker", "paying.yaml", "--slots", "2", "--grace", "20s")
	if err := c.Start(); err != nil {
		w.Fatal(err)
	}
	w.workers[i] = c
}

// stop ends a worker by a signal. It reports whether that ended it.
func (w *workforce) stop(i int, with syscall.Signal) bool {
	c := w.workers[i]
	if c == nil {
		return false
	}
	w.workers[i] = nil
	_ = c.Process.Signal(with)
	_ = c.Wait() // its status says it
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	return ok && (with == syscall.SIGKILL && status.Signaled() && status.Signal() == with || with == syscall.SIGTERM && status.ExitStatus() == 130)
}

// open is how many runs have not ended.
func (w *workforce) open() (n int) {
	for h, err := range w.journal.List(w.Context(), pawl.Query{}) {
		if err != nil {
			w.Fatal(err)
		}
		if !h.Status.Ended() {
			n++
		}
	}
	return n
}

// hurry resumes by hand the runs that a worker took and was killed before it resumed them.
// Other workers wait until the lease lapses, which only the long form has the time for.
func (w *workforce) hurry() {
	for h, err := range w.journal.List(w.Context(), pawl.Query{Status: pawl.StatusQueued}) {
		if err != nil {
			w.Fatal(err)
		}
		if engine.ParseOwner(h.Lease.Owner).Gone() {
			var said bytes.Buffer
			if err := w.pawl(&said, "resume", h.Run).Run(); err != nil {
				w.Logf("pawl resume %s: %v\n%s", h.Run, err, &said) // a worker was faster
			}
		}
	}
}

// fill has as many runs queued as wanted.
func (w *workforce) fill(most int) {
	for n := w.open(); n < most; n++ {
		if code, _, said := invoke(w.T, w.Context(), nil, "run", "paying.yaml", "go", "--queue"); code != 0 {
			w.Fatalf("a run is not queued: %s", said)
		}
		w.queued++
	}
}

// TestKillWorkers kills workers of one database at any time. Every queued run ends, none
// is lost, each Write is made once, and nobody is asked. There are 5 kills, 1,000 under
// PAWL_PROOF=1, any number with PAWL_PROOF_KILLS; PAWL_PROOF_SEED repeats a series, as far
// as times repeat.
func TestKillWorkers(t *testing.T) {
	want := 5
	switch n, err := strconv.Atoi(os.Getenv("PAWL_PROOF_KILLS")); {
	case err == nil:
		want = n
	case os.Getenv("PAWL_PROOF") != "":
		want = 1000
	case testing.Short():
		want = 3
	}
	seed, err := strconv.ParseUint(os.Getenv("PAWL_PROOF_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("PAWL_PROOF_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	files(t, paysTwice)
	w := &workforce{T: t}
	if w.dir, err = os.Getwd(); err != nil {
		t.Fatal(err)
	}
	if w.journal, err = sqlite.Open(t.Context(), filepath.Join(w.dir, "runs.db"), nil); err != nil {
		t.Fatal(err)
	}
	defer w.journal.Close()
	for i := range w.workers {
		w.start(i)
	}
	defer func() {
		for i := range w.workers {
			w.stop(i, syscall.SIGKILL)
		}
	}()
	killed := 0
	for tries := 0; killed < want && tries < 2*want+10; tries++ {
		w.fill(6)
		time.Sleep(time.Duration(random.Int64N(int64(300 * time.Millisecond))))
		i := random.IntN(len(w.workers))
		if w.stop(i, syscall.SIGKILL) {
			killed++
		}
		w.start(i)
	}
	for end := time.Now().Add(time.Minute); w.open() > 0 && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
		if os.Getenv("PAWL_PROOF") == "" {
			w.hurry()
		}
	}
	for i := range w.workers {
		if !w.stop(i, syscall.SIGTERM) {
			t.Errorf("a worker does not end as told:\n%s", &w.said[i])
		}
	}
	w.hold()
	t.Logf("%d workers killed, %d runs", killed, w.queued)
	if killed < want {
		t.Errorf("%d kills landed, not %d", killed, want)
	}
}

// hold holds what was done against what is promised.
func (w *workforce) hold() {
	runs, resumed := 0, 0
	for h, err := range w.journal.List(w.Context(), pawl.Query{}) {
		if err != nil {
			w.Fatal(err)
		}
		runs++
		code, log, said := invoke(w.T, w.Context(), nil, "events", h.Run)
		resumed += strings.Count(log, `"type":"run.resumed"`) - 1
		if h.Status != pawl.StatusSuccess || code != 0 || strings.Contains(log, `"type":"tool.doubted"`) {
			w.Errorf("run %s is %v: %s%s", h.Run, h.Status, said, log)
		}
	}
	ledger, err := os.ReadFile(filepath.Join(w.dir, "ledger.txt"))
	if err != nil {
		w.Fatal(err)
	}
	made := map[string]int{}
	for line := range strings.Lines(string(ledger)) {
		made[line]++
	}
	for line, n := range made {
		if n > 1 {
			w.Errorf("a Write was made %d times: %s", n, line)
		}
	}
	if runs != w.queued || len(made) != 2*runs {
		w.Errorf("of %d queued runs there are %d, with %d Writes", w.queued, runs, len(made))
	}
	w.Logf("runs were resumed %d times more", resumed)
}
