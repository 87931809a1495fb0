//go:build linux || darwin

package cli_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

// errand has calls of each kind, alone and beside each other, and one that
// needs approval.
const errand = `
name: errand
model: script:errand.script.yaml
tools:
  - {name: look, description: Look., command: [stub, note, ledger.txt], effect: read}
  - {name: put, description: Put., command: [stub, once, ledger.txt], effect: idempotent}
  - {name: pay, description: Pay., command: [stub, note, ledger.txt]}
  - {name: send, description: Send., command: [stub, note, ledger.txt], approval: required}
`

const errandScript = `
replies:
  - {calls: [{tool: look}], delay: 10ms}
  - {calls: [{tool: look}, {tool: put}, {tool: look}]}
  - {calls: [{tool: pay}], delay: 10ms}
  - {calls: [{tool: put}, {tool: pay}, {tool: look}]}
  - {calls: [{tool: send}]}
  - {text: done, delay: 10ms}
`

// An hourglass is a run of the program whose processes are killed at random.
type hourglass struct {
	*testing.T
	rand   *rand.Rand
	life   time.Duration // of a process, about
	left   int           // kills to come
	killed int
}

// pawl runs the program, and kills it at some moment if there are kills left.
func (h *hourglass) pawl(args ...string) {
	h.Helper()
	c := exec.Command("spawl", args...)
	c.Env = append(os.Environ(), "PAWL_DATABASE=sqlite:runs.db")
	// A file, no pipe: what it started may have that for longer than it lives.
	said, err := os.Create("said.txt")
	if err != nil {
		h.Fatal(err)
	}
	defer func() { _ = said.Close() }()
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		h.Fatal(err)
	}
	if h.left > 0 {
		t := time.AfterFunc(time.Duration(h.rand.Int64N(int64(h.life))), func() { _ = c.Process.Kill() })
		defer t.Stop()
	}
	_ = c.Wait() // its status says it
	if s, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() && s.Signal() == syscall.SIGKILL {
		h.killed++
		h.left--
		return
	}
	if code := c.ProcessState.ExitCode(); code != 0 && code != 5 {
		text, _ := os.ReadFile("said.txt")
		h.Errorf("pawl %s: exit %d\n%s", strings.Join(args, " "), code, text)
	}
}

// runs are the runs there are.
func (h *hourglass) runs() (run, status string) {
	h.Helper()
	_, out, _ := invoke(h.T, h.Context(), nil, "runs", "--json")
	if out == "" {
		return "", ""
	}
	var r struct{ Run, Status string }
	if err := json.Unmarshal([]byte(out), &r); err != nil { // more than one is no JSON document
		h.Fatalf("%v: %s", err, out)
	}
	return r.Run, r.Status
}

func (h *hourglass) ledger() []string {
	data, _ := os.ReadFile("ledger.txt") // none is empty
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// end brings the run to its end, as a person does who is told that it is
// interrupted, that it waits, or nothing at all.
func (h *hourglass) end() pawl.Result {
	h.Helper()
	for range 60 {
		run, status := h.runs()
		switch status {
		case "":
			h.pawl("run", "errand.yaml", "go")
		case "success":
			var r pawl.Result
			_, out, _ := invoke(h.T, h.Context(), nil, "show", run, "--json")
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				h.Fatal(err)
			}
			if code, _, stderr := invoke(h.T, h.Context(), nil, "replay", run); code != 0 {
				h.Errorf("replay: %s", stderr)
			}
			return r
		case "waiting_approval":
			h.pawl("approve", run, "--all")
		case "waiting_doubt":
			h.settle(run)
		default:
			h.pawl("resume", run)
		}
	}
	_, status := h.runs()
	h.Fatalf("it does not end: %s", status)
	return pawl.Result{}
}

// settle tells the truth about what is in doubt.
func (h *hourglass) settle(run string) {
	h.Helper()
	_, out, _ := invoke(h.T, h.Context(), nil, "show", run, "--json")
	var r pawl.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Pending) == 0 {
		h.Fatalf("%v: %s", err, out)
	}
	for _, p := range r.Pending {
		said := []string{"--did-not-happen"}
		if slices.ContainsFunc(h.ledger(), func(l string) bool { return strings.HasPrefix(l, p.Call+" ") }) {
			said = []string{"--happened", `"noted"`}
		}
		h.pawl(append([]string{"settle", run, p.Call}, said...)...)
	}
}

// TestKillCommand kills the program itself at random moments, up to five times
// a run: what it did, what it says and what it costs is what it is when nobody
// does.
func TestKillCommand(t *testing.T) {
	want := 10
	switch n, err := strconv.Atoi(os.Getenv("PAWL_PROOF_KILLS")); {
	case err == nil:
		want = n
	case os.Getenv("PAWL_PROOF") != "":
		want = 300
	case testing.Short():
		want = 2
	}
	seed, err := strconv.ParseUint(os.Getenv("PAWL_PROOF_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("PAWL_PROOF_SEED=%d", seed)
	begin := func(kills int, life time.Duration, n uint64) *hourglass {
		files(t, map[string]string{"errand.yaml": errand, "errand.script.yaml": errandScript})
		return &hourglass{T: t, rand: rand.New(rand.NewPCG(seed, n)), left: kills, life: life}
	}
	calm := begin(0, 0, 0)
	since := time.Now()
	undisturbed := calm.end()
	life := time.Since(since)
	effects := sorted(calm.ledger())

	killed := 0
	for n := uint64(1); killed < want && !t.Failed(); n++ {
		h := begin(min(5, want-killed), life, n)
		got := h.end()
		killed += h.killed
		if diff := cmp.Diff(effects, sorted(h.ledger())); diff != "" {
			t.Errorf("effects, once each (-undisturbed +killed):\n%s", diff)
		}
		if extra := got.Usage.ModelCalls - undisturbed.Usage.ModelCalls; extra < 0 || extra > h.killed {
			t.Errorf("%d model calls more, of %d kills", extra, h.killed)
		}
		if diff := cmp.Diff(undisturbed.Steps, got.Steps); diff != "" || got.Answer != undisturbed.Answer || got.ToolCalls != undisturbed.ToolCalls {
			t.Errorf("it ends with %q after %d calls (-undisturbed +killed):\n%s", got.Answer, got.ToolCalls, diff)
		}
		if t.Failed() {
			_, events, _ := invoke(t, t.Context(), nil, "events", got.Run)
			t.Logf("run %d, killed %d times\n%s", n, h.killed, events)
		}
	}
	t.Logf("%d processes killed", killed)
}

// sorted are the effects without those of Reads that were made again, and
// without the names of runs.
func sorted(ledger []string) []string {
	for i, line := range ledger {
		call, _, _ := strings.Cut(line, " ")
		ledger[i] = call
	}
	slices.Sort(ledger)
	reads := map[string]bool{"c_1": true, "c_2": true, "c_4": true, "c_8": true}
	return slices.CompactFunc(ledger, func(a, b string) bool { return a == b && reads[a] })
}
