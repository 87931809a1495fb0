//go:build linux || darwin

package proof_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// A shot is where, or when, a process is killed.
type shot struct {
	stop  string        // of a gate; empty: it is not stopped
	after time.Duration // from its start, when it is not stopped; zero: it is let live
}

// A worker is another process.
type worker struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	out    bytes.Buffer
	err    bytes.Buffer
	told   []string      // the points it passed
	at     chan string   // where it stopped
	ready  chan struct{} // closed when it says so
	silent chan struct{} // closed when it says no more
}

func spawn(dir, part, stop string, env ...string) (*worker, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r, pipe, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w := &worker{cmd: exec.Command(exe), at: make(chan string, 1), ready: make(chan struct{}), silent: make(chan struct{})}
	w.cmd.Env = append(os.Environ(), append([]string{envPart + "=" + part, envDir + "=" + dir, envStop + "=" + stop,
		"GOTRACEBACK=all", "GOGC=800", "GORACE=atexit_sleep_ms=0"}, env...)...) // a short life; a second at every end, raced
	w.cmd.Stdout, w.cmd.Stderr = &w.out, &w.err
	w.cmd.ExtraFiles = []*os.File{pipe}
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	_ = pipe.Close() // ours; the process has its own
	go func() {
		defer close(w.silent)
		defer r.Close()
		for s := bufio.NewScanner(r); s.Scan(); {
			word, rest, _ := strings.Cut(s.Text(), " ")
			switch word {
			case "stop":
				w.at <- rest
			case "ready":
				close(w.ready)
			default:
				w.told = append(w.told, rest)
			}
		}
	}()
	return w, nil
}

// patience is the longest a process may take for all it has to do. On a machine
// with nothing else to do it takes less than a hundredth.
const patience = 60 * time.Second

// A stuck process is one that neither stops nor ends.
type stuck struct{ dump string }

func (s *stuck) Error() string { return "the process is stuck\n" + s.dump }

// end waits for the end of a process, and brings it about where the shot says so.
// It reports whether it was killed: by us, and by nothing else.
func (w *worker) end(s shot, patience time.Duration) (killed bool, err error) {
	var fire <-chan time.Time
	if s.after > 0 {
		fire = time.After(s.after)
	}
	late := time.AfterFunc(patience, func() { _ = w.cmd.Process.Signal(syscall.SIGQUIT) }) // Go tells where it is
	defer late.Stop()
	kill := false
	select {
	case <-w.at:
		kill = true
	case <-fire:
		kill = true
	case <-w.silent:
	}
	if kill {
		_ = w.cmd.Process.Signal(syscall.SIGKILL) // it may have ended by itself a moment before
	}
	_ = w.cmd.Wait() // its status says it
	<-w.silent
	status, _ := w.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL && kill:
		return true, nil
	case strings.Contains(w.err.String(), "SIGQUIT"):
		return false, &stuck{w.err.String()}
	case !status.Exited() || status.ExitStatus() != 0:
		return false, fmt.Errorf("it ended with %v\n%s", w.cmd.ProcessState, w.err.String())
	}
	return false, nil
}

func (w *worker) report() (r report, err error) {
	err = json.Unmarshal(w.out.Bytes(), &r)
	return r, err
}

// A cell is one run and all that befalls it.
type cell struct {
	world
	killed  int        // processes
	passed  [][]string // the points of each process, when they tell
	records bool
	env     []string // of its processes, beside what they need
	seen    history
	faults  []string // what does not hold
	rounds  int
	waits   bool // for an owner that gives no sign of life
}

func (c *cell) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// process has a process play a part, and looks at what it left behind.
func (c *cell) process(part string, s shot) (r report, killed bool) {
	env := append([]string{envSabotage + "=" + c.sabotage}, c.env...)
	if c.records {
		env = append(env, envRecord+"=1")
	}
	w, err := spawn(c.dir, part, s.stop, env...)
	if err == nil {
		killed, err = w.end(s, patience)
	}
	if err == nil && !killed {
		r, err = w.report()
	}
	switch {
	case err != nil:
		c.fault("%s: %v", part, err)
	case killed:
		c.killed++
	case s.stop != "" && s.stop[0] != '#':
		c.fault("the kill did not land: no %s", s.stop)
	}
	if w != nil {
		c.passed = append(c.passed, w.told)
	}
	c.audit()
	return r, killed
}

// play kills the run's processes one after another as told, and then lets one
// end it, while somebody outside gives it what it waits for.
func (c *cell) play(shots ...shot) pawl.Result {
	const most = 60
	for ; c.rounds < most && len(c.faults) == 0; c.rounds++ {
		var s shot
		if len(shots) > 0 {
			s, shots = shots[0], shots[1:]
		}
		r, killed := c.process("run", s)
		if killed || len(c.faults) > 0 {
			continue
		}
		switch {
		case r.Held != "" && !c.waits:
			c.fault("a run nobody owns is held: %s", r.Held)
		case r.Held != "", c.waits && r.Result.Status == pawl.StatusPaused: // so may a child be
			time.Sleep(lease / 4)
		case r.Result.Status == pawl.StatusSuccess:
			return *r.Result
		case len(r.Result.Pending) == 0:
			c.fault("it came to %v, and waits for nothing", r.Result.Verdict)
		default:
			c.help(r.Result.Pending)
		}
	}
	if len(c.faults) == 0 {
		c.fault("it does not end in %d processes", most)
	}
	return pawl.Result{}
}

// help gives a run what it waits for.
func (c *cell) help(pending []pawl.Pending) {
	j, err := open(c.dir)
	if err != nil {
		c.fault("%v", err)
		return
	}
	defer func() { _ = j.Close() }()
	w := world{dir: c.dir, sabotage: c.sabotage}
	for _, p := range pending {
		if err := w.give(newEngine(j), p); err != nil {
			c.fault("%v", err)
		}
	}
}

// log is the run's entries, for who reads of a fault.
func (c *cell) log() string {
	var b strings.Builder
	j, err := open(c.dir)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = j.Close() }()
	for _, run := range c.runs(j) {
		for row, err := range j.Read(context.Background(), run, 1) {
			if err != nil {
				return err.Error()
			}
			if line := string(row.Data); row.Seq > 1 {
				fmt.Fprintln(&b, line[:min(len(line), 160)])
			}
		}
	}
	for _, file := range []string{"ledger", "attempts", "bill"} {
		fmt.Fprintln(&b, file+":")
		for _, l := range c.notes(file) {
			fmt.Fprintln(&b, " ", strings.Join(l, " "))
		}
	}
	return b.String()
}

// complain fails the test if anything did not hold.
func (c *cell) complain(t *testing.T) {
	t.Helper()
	if len(c.faults) > 0 {
		t.Errorf("%s\n%s", strings.Join(c.faults, "\n"), c.log())
	}
}

// base is the run that nobody disturbs, and every point of its processes.
var base = sync.OnceValue(func() *witness {
	dir, err := os.MkdirTemp("", "pawl-proof")
	if err != nil {
		panic(err)
	}
	baseDir = dir
	c := &cell{world: world{dir: dir}, records: true}
	res := c.play()
	if len(c.faults) > 0 {
		panic(strings.Join(c.faults, "\n") + "\n" + c.log())
	}
	w := c.witness(res)
	w.passed = c.passed
	return w
})

var baseDir string

func tidy() {
	if baseDir != "" {
		_ = os.RemoveAll(baseDir)
	}
}

// newCell is a world in which nothing has happened yet.
func newCell(t *testing.T) *cell {
	return &cell{world: world{dir: t.TempDir()}}
}

var must = check.Must
