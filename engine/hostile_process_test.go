//go:build unix

package engine_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// A file is a ledger that outlives its process.
type file string

func (f file) add(inv pawl.Invocation) {
	w, err := os.OpenFile(string(f), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s %s %s\n", inv.Tool, inv.Call, inv.Key)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
}

func (f file) lines(t *testing.T) (lines []string) {
	t.Helper()
	r, err := os.Open(string(f))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for s := bufio.NewScanner(r); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

func (f file) count(t *testing.T, prefix string) (n int) {
	for _, l := range f.lines(t) {
		if strings.HasPrefix(l, prefix+" ") {
			n++
		}
	}
	return n
}

// doomed kills its process just before or after its nth append.
type doomed struct {
	*sqlite.Journal
	n, at  int
	before bool
}

func (j *doomed) Append(ctx context.Context, b pawl.Batch) error {
	j.n++
	if j.n == j.at && j.before {
		die()
	}
	err := j.Journal.Append(ctx, b)
	if j.n == j.at {
		die()
	}
	return err
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// TestHostileProcess is the other process of the tests below.
func TestHostileProcess(t *testing.T) {
	dir := os.Getenv("PAWL_HOSTILE_DIR")
	if dir == "" {
		t.Skip("it is the other process of other tests")
	}
	j, err := sqlite.Open(t.Context(), filepath.Join(dir, "pawl.db"), &sqlite.Options{Normal: true})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("PAWL_HOSTILE_STOP") != "" {
		stopped(t, j, dir)
		return
	}
	d := &doomed{Journal: j}
	if _, err := fmt.Sscanf(os.Getenv("PAWL_HOSTILE_KILL"), "%d %t", &d.at, &d.before); err != nil {
		t.Fatal(err)
	}
	h, err := engine.New(d, nil).Start(t.Context(), spender(file(filepath.Join(dir, "ledger")).add), "go", &engine.StartOptions{ID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	res, err := h.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("answer:", res.Answer)
}

func other(t *testing.T, dir string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestHostileProcess$", "-test.v", "-test.timeout=60s")
	cmd.Env = append(append(os.Environ(), "PAWL_HOSTILE_DIR="+dir), env...)
	return cmd
}

// TestKilled kills a process before and after every commit of a run and goes
// on in this one.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts some fifty processes")
	}
	for _, before := range []bool{true, false} {
		var ended atomic.Bool
		t.Run(fmt.Sprintf("before=%v", before), func(t *testing.T) {
			for n := 1; n <= 24; n++ {
				t.Run(fmt.Sprint(n), func(t *testing.T) {
					t.Parallel()
					if kill(t, n, before) {
						ended.Store(true)
					}
				})
			}
		})
		if !ended.Load() {
			t.Error("24 appends are not enough to reach the end of the run: raise the number")
		}
	}
}

func kill(t *testing.T, n int, before bool) (ended bool) {
	dir := t.TempDir()
	out, err := other(t, dir, fmt.Sprintf("PAWL_HOSTILE_KILL=%d %t", n, before)).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		if !strings.Contains(string(out), "answer: done") {
			t.Errorf("%s", out)
		}
		return true
	case !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL:
		t.Fatalf("%v\n%s", err, out)
	}
	j, err := sqlite.Open(t.Context(), filepath.Join(dir, "pawl.db"), &sqlite.Options{Normal: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	l := file(filepath.Join(dir, "ledger"))
	agent := spender(l.add)
	e := engine.New(j, nil)
	if n == 1 && before {
		if _, err := e.Resume(t.Context(), agent, "r", nil); err == nil || !strings.Contains(err.Error(), "never started") {
			t.Errorf("resume of a run without entries: %v", err)
		}
		h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
		if err != nil {
			t.Fatal(err)
		}
		ends(t, h, pawl.Success)
		return false
	}
	if s, err := engine.Load(t.Context(), j, "r"); err == nil && s.Status() == pawl.Success {
		return false // it was killed after its last commit
	}
	res := settleAll(t, e, agent, "r", func(call string) bool { return l.count(t, "pay "+call) > 0 })
	if res.Status != pawl.Success || res.Answer != "done" {
		t.Errorf("%v, %q", res.Verdict, res.Answer)
	}
	keys := map[string]string{}
	for _, line := range l.lines(t) {
		f := strings.Fields(line)
		if was, ok := keys[f[1]]; ok && was != f[2] {
			t.Errorf("%s ran under two keys", f[1])
		}
		keys[f[1]] = f[2]
	}
	for _, c := range []string{"pay c_3", "pay c_7"} {
		if l.count(t, c) != 1 {
			t.Errorf("%s took place %d times", c, l.count(t, c))
		}
	}
	for _, c := range []string{"look c_1", "put c_2", "look c_4", "look c_5", "put c_6", "look c_8"} {
		if l.count(t, c) == 0 {
			t.Errorf("%s never took place", c)
		}
	}
	sound(t, e, j, agent, "r")
	return false
}

const shortLease = time.Second

// sleeper's one tool waits for a file; the result says who ran it.
func sleeper(dir, who string) pawl.Agent {
	run := func(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
		if who == "first" {
			_ = os.WriteFile(filepath.Join(dir, "in"), nil, 0o600)
			<-ctx.Done()
			fmt.Println("tool stopped:", context.Cause(ctx))
			return pawl.Output{}, ctx.Err()
		}
		return pawl.Output{JSON: fmt.Appendf(nil, "%q", who)}, nil
	}
	return pawl.Agent{Name: "sleeper", Model: turns([]pawl.Call{call("look", 1)}, []pawl.Call{call("look", 2)}),
		Tools: []pawl.Tool{fake{name: "look", effect: pawl.Read, run: run}}}
}

func stopped(t *testing.T, j *sqlite.Journal, dir string) {
	e := engine.New(j, &engine.Options{Lease: shortLease})
	h, err := e.Start(t.Context(), sleeper(dir, "first"), "go", &engine.StartOptions{ID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Wait(t.Context())
	fmt.Println("fenced:", errors.Is(err, pawl.ErrFenced), err)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStoppedOwner stops the owner for longer than its lease, takes the run
// over, and wakes it up: it has lost, and changes nothing.
func TestStoppedOwner(t *testing.T) {
	dir := t.TempDir()
	cmd := other(t, dir, "PAWL_HOSTILE_STOP=1")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	soon(t, "the tool runs", func() bool { _, err := os.Stat(filepath.Join(dir, "in")); return err == nil })
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	j, err := sqlite.Open(t.Context(), filepath.Join(dir, "pawl.db"), &sqlite.Options{Normal: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	e := engine.New(j, nil)
	agent := sleeper(dir, "second")
	var h *engine.Handle
	refused, since := 0, time.Now()
	soon(t, "the lease lapses", func() bool {
		var held *pawl.HeldError
		if h, err = e.Resume(t.Context(), agent, "r", nil); err == nil && time.Since(since) < shortLease/3 && refused == 0 {
			t.Error("a run whose owner lives was taken at once")
		}
		if err != nil && !errors.As(err, &held) {
			t.Fatal(err)
		}
		refused++
		return err == nil
	})
	res, err := wait(t, h)
	if err != nil || res.Status != pawl.Success {
		t.Fatal(res.Verdict, err)
	}
	before, err := engine.Load(t.Context(), j, "r")
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the first process: %v", err)
	}
	if got := out.String(); !strings.Contains(got, "fenced: true") || !strings.Contains(got, "tool stopped:") {
		t.Errorf("the first process said\n%s", got)
	}
	after, err := engine.Load(t.Context(), j, "r")
	if err != nil || after.Seq() != before.Seq() {
		t.Errorf("the log went from %d to %d entries, %v", before.Seq(), after.Seq(), err)
	}
	sound(t, e, j, agent, "r")
}
