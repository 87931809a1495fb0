//go:build linux || darwin

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// writing has one Write, made by the run itself or by a child run.
var writing = map[string]string{
	"paying.yaml":        "name: paying\nmodel: script:paying.script.yaml\ntools:\n  - {name: pay, description: Pay., command: [stub, note, ledger.txt]}\n",
	"paying.script.yaml": "replies: [{calls: [{tool: pay}]}, {text: paid}]\n",
	"desk.yaml":          "name: desk\nmodel: script:desk.script.yaml\ntools:\n  - agent: ./clerk.yaml\n",
	"desk.script.yaml":   "replies: [{calls: [{tool: clerk, args: {input: Pay.}}]}, {text: done}]\n",
	"clerk.yaml":         "name: clerk\ndescription: Pays.\nmodel: script:paying.script.yaml\ntools:\n  - {name: pay, description: Pay., command: [stub, note, ledger.txt]}\n",
}

// writers are the kinds of runs, and how each is started: with which spec, and
// with what after the input.
var writers = map[string][]string{
	"plain":          {"paying.yaml"},
	"thread":         {"paying.yaml", "--thread", "t"},
	"key":            {"paying.yaml", "--key", "k"},
	"child":          {"desk.yaml"},
	"child of a key": {"desk.yaml", "--key", "k"},
}

// next is what people do right after the process was killed.
var next = map[string]func(w *writer){
	"resume":         func(*writer) {},
	"did not happen": func(w *writer) { w.settle("--did-not-happen") },
	"happened":       func(w *writer) { w.settle("--happened", "1") },
	"cancel":         func(w *writer) { w.cancelled = true; w.pawl("cancel", w.run) },
	"all at once": func(w *writer) {
		var all sync.WaitGroup
		all.Go(func() { w.settle("--did-not-happen") })
		all.Go(func() { w.settle("--happened", "1") })
		all.Go(func() { w.pawl("resume", w.run) })
		all.Go(func() { w.settle("--did-not-happen") })
		all.Wait()
	},
	"killed again": func(w *writer) {
		c, _ := w.start("resume", w.run)
		time.Sleep(time.Duration(w.rand.Int64N(int64(200 * time.Millisecond))))
		_ = c.Process.Kill()
		_ = c.Wait() // it may have ended before
	},
}

// A writer is a run whose process is killed at its Write.
type writer struct {
	dir, run string
	rand     *rand.Rand
	doubts   int

	cancelled bool // its command may have been ended

	mu     sync.Mutex
	faults []string
	said   bytes.Buffer
}

func (w *writer) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

func (w *writer) start(args ...string) (*exec.Cmd, *bytes.Buffer) {
	c := exec.Command("spawl", args...)
	var said bytes.Buffer
	c.Dir, c.Env, c.Stdout, c.Stderr = w.dir, append(os.Environ(), "PAWL_DATABASE=sqlite:runs.db"), &said, &said
	if err := c.Start(); err != nil {
		w.fault("%v", err)
	}
	return c, &said
}

// pawl runs the program to its end.
func (w *writer) pawl(args ...string) (code int, said string) {
	c, out := w.start(args...)
	_ = c.Wait() // its status says it
	code, said = c.ProcessState.ExitCode(), out.String()
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(&w.said, "$ pawl %s (%d)\n%s", strings.Join(args, " "), code, said)
	return code, said
}

// settle resolves the Write for the run, and for the child that it may
// have. It is refused unless the Write is in doubt.
func (w *writer) settle(what ...string) {
	for _, run := range []string{w.run, w.run + ".c_1"} {
		w.pawl(append([]string{"settle", run, "c_1"}, what...)...)
	}
}

// kill starts the run and kills it some time after the intent to write is durable.
// It reports whether it did.
func (w *writer) kill(args []string) bool {
	c, said := w.start(append([]string{"run", "--events", "events.jsonl", args[0], "go"}, args[1:]...)...)
	var events []byte
	begun := func() bool {
		events, _ = os.ReadFile(filepath.Join(w.dir, "events.jsonl")) // which may not be there yet
		return bytes.Contains(events, []byte(`"type":"tool.started"`))
	}
	for end := time.Now().Add(time.Minute); !begun() && time.Now().Before(end); {
		time.Sleep(200 * time.Microsecond)
	}
	if part := w.rand.Float64(); part > 0.25 { // rather early than late
		time.Sleep(time.Duration(part * part * part * float64(120*time.Millisecond)))
	}
	_ = c.Process.Kill()
	_ = c.Wait() // its status says it
	var first struct{ Run string }
	if err := json.NewDecoder(bytes.NewReader(events)).Decode(&first); err != nil || !begun() {
		w.fault("it does not come to its Write: %v\n%s", err, said)
		return false
	}
	w.run = first.Run
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// effects is how often the Write was made.
func (w *writer) effects() int {
	data, _ := os.ReadFile(filepath.Join(w.dir, "ledger.txt")) // none is no effect
	return strings.Count(string(data), "\n")
}

// end brings the run to its end, as a person does who settles a doubt at once and
// wrongly, and holds what was done against what is promised. Only cancelling cuts a Write
// short, so only then a person has to look, and does.
func (w *writer) end() {
	for range 20 {
		_, said := w.pawl("show", w.run, "--json")
		if strings.Contains(said, `"status":"success"`) {
			break
		}
		if strings.Contains(said, `"status":"waiting_doubt"`) {
			if w.cancelled && w.effects() > 0 {
				w.settle("--happened", "1")
			} else {
				w.settle("--did-not-happen")
			}
		} else {
			w.pawl("resume", w.run)
		}
	}
	_, events := w.pawl("events", w.run)
	_, more := w.pawl("events", w.run+".c_1")
	if w.doubts = strings.Count(events+more, `"type":"tool.doubted"`); w.doubts > 0 && !w.cancelled {
		w.fault("%d doubts", w.doubts)
	}
	if n := w.effects(); n != 1 {
		w.fault("%d effects", n)
	}
	if code, _ := w.pawl("replay", w.run); code != 0 {
		w.fault("it is replayed otherwise")
	}
}

// TestKillWrites kills the program at the intent to make a Write and after it, in
// runs of every kind. Whatever people do then, in whichever order and at the same
// time, the Write is made once, and nobody is asked what its wrapper knows.
// There are 2 kills of each kind, 200 under PAWL_PROOF=1, any number with
// PAWL_PROOF_KILLS; PAWL_PROOF_SEED repeats a series, as far as times repeat.
func TestKillWrites(t *testing.T) { // Promises: N1.
	t.Parallel()
	want := 2
	switch n, err := strconv.Atoi(os.Getenv("PAWL_PROOF_KILLS")); {
	case err == nil:
		want = n
	case os.Getenv("PAWL_PROOF") != "":
		want = 200
	case testing.Short():
		want = 1
	}
	seed, err := strconv.ParseUint(os.Getenv("PAWL_PROOF_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("PAWL_PROOF_SEED=%d", seed)
	for kind, args := range writers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			tries, killed, doubts, twice := uint64(0), 0, 0, 0
			did := map[string]int{}
			try := func() (n uint64, more bool) {
				mu.Lock()
				defer mu.Unlock()
				tries++
				return tries, killed < want && tries < uint64(10*want+10)
			}
			var all sync.WaitGroup
			for range min(want, runtime.NumCPU()) {
				all.Go(func() {
					for n, more := try(); more; n, more = try() {
						w := &writer{rand: rand.New(rand.NewPCG(seed, n<<8+uint64(len(kind))))}
						var err error
						if w.dir, err = os.MkdirTemp("", "pawl-writes"); err != nil { //nolint:usetesting // hundreds of worlds are not kept until the end
							t.Error(err)
							return
						}
						for name, text := range writing {
							if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
								t.Error(err)
							}
						}
						names := slices.Sorted(maps.Keys(next))
						what := names[w.rand.IntN(len(names))]
						was := w.kill(args)
						if was {
							next[what](w)
							w.end()
						}
						mu.Lock()
						if doubts += w.doubts; was {
							killed++
							did[what]++
						}
						if w.effects() > 1 {
							twice++
						}
						if len(w.faults) > 0 {
							t.Errorf("%s: %s\n%s", what, strings.Join(w.faults, "; "), &w.said)
						}
						mu.Unlock()
						if err := os.RemoveAll(w.dir); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			t.Logf("%d processes killed, %d doubts, %d effects made twice; then %v", killed, doubts, twice, did)
			if killed < want {
				t.Errorf("%d kills landed, not %d", killed, want)
			}
		})
	}
}
