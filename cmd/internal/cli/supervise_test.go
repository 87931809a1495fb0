//go:build linux || darwin

package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// payments has two Writes, one after the other.
const payments = `
name: paying
model: script:paying.script.yaml
tools:
  - {name: bill, description: Bill., command: [stub, hold, billed.txt]}
  - {name: pay, description: Pay., command: [stub, PART, paid.txt], timeout: LIMIT}
`

// watched is a user whose commands run in wrappers.
type watched struct {
	*testing.T
	args  []string          // of pawl run, after the spec and the input
	run   string            // the one that is started
	own   string            // the one whose calls the commands are: that, or its child
	dir   string            // where the commands run
	tmp   string            // the directory for temporary files
	keys  map[string]string // of its calls
	dirs  map[string]string // of its calls, as the log names them
	waits bool              // pay ends when it has been seen that who resumes waits for it
}

func watch(t *testing.T, part, limit string) *watched {
	dir := folder(t, map[string]string{
		"paying.yaml":        strings.NewReplacer("PART", part, "LIMIT", limit).Replace(payments),
		"paying.script.yaml": "replies: [{calls: [{tool: bill}]}, {calls: [{tool: pay}]}, {text: done}]\n",
	})
	return &watched{T: t, dir: dir, tmp: t.TempDir(), keys: map[string]string{}, dirs: map[string]string{}}
}

func (w *watched) path(name string) string { return filepath.Join(w.dir, name) }

// watchKind is a watch on a run of a kind, see writers.
func watchKind(t *testing.T, kind string) *watched {
	w := watch(t, "hold", "20s")
	w.args = writers[kind][1:]
	if writers[kind][0] == "paying.yaml" {
		return w
	}
	w.own = ".c_1"
	spec, err := os.ReadFile(w.path("paying.yaml"))
	must(t, err)
	for name, text := range map[string]string{
		"clerk.yaml":  strings.Replace(string(spec), "name: paying", "name: clerk\ndescription: Pays.", 1),
		"paying.yaml": writing["desk.yaml"], "desk.script.yaml": writing["desk.script.yaml"],
	} {
		must(t, os.WriteFile(w.path(name), []byte(text), 0o600))
	}
	return w
}

func (w *watched) command(args ...string) *exec.Cmd {
	c := exec.Command("spawl", args...)
	c.Dir, c.Env = w.dir, append(os.Environ(), "PAWL_DATABASE=sqlite:"+w.path("runs.db"), "TMPDIR="+w.tmp)
	return c
}

// begin starts the run, and says when it waits in its first call.
func (w *watched) begin() *exec.Cmd {
	w.Helper()
	c := w.command(append([]string{"run", "paying.yaml", "go"}, w.args...)...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	must(w, c.Start())
	w.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		if w.Failed() {
			w.Logf("it said\n%s", &said)
		}
	})
	w.until("bill", func() bool { return w.lines("billed.txt", "begin") == 1 })
	out, err := w.command("runs", "--json").Output()
	var r struct {
		Run string `json:"run"`
	}
	if e := json.NewDecoder(bytes.NewReader(out)).Decode(&r); err != nil || e != nil || r.Run == "" {
		w.Fatalf("no run in %s: %v, %v", out, err, e)
	}
	w.run, w.own = r.Run, r.Run+w.own
	return c
}

// key is the key of a call, as the log has it.
func (w *watched) key(call string) string {
	if w.keys[call] == "" {
		events, _ := w.command("events", w.own).Output() // which may not have it yet
		for line := range strings.Lines(string(events)) {
			var e struct {
				Data struct{ Call, Key, Supervised string }
			}
			if json.Unmarshal([]byte(line), &e) == nil && e.Data.Call == call && e.Data.Key != "" && w.keys[call] == "" {
				w.keys[call], w.dirs[call] = e.Data.Key, e.Data.Supervised
			}
		}
	}
	return w.keys[call]
}

func (w *watched) until(what string, holds func() bool) {
	w.Helper()
	if !soon(holds) {
		w.Fatalf("it does not come to %s", what)
	}
}

func (w *watched) release(file string) {
	if err := os.WriteFile(w.path(file+".go"), nil, 0o600); err != nil {
		w.Error(err)
	}
}

// fate is what is known of the first attempt at a call.
func (w *watched) fate(call string) process.Fate {
	key := w.key(call)
	dir, _ := process.ParseCallDir(w.dirs[call])
	f, _ := dir.Look(process.Attempt{Run: w.own, Call: call, Key: key, Number: 1}) // there may be none yet
	return f
}

// wrapper is the wrapper of a call whose command runs.
func (w *watched) wrapper(call string) process.Identity {
	w.Helper()
	w.until("the process of "+call, func() bool { return w.fate(call).Process != "" })
	command, err := process.ParseIdentity(w.fate(call).Process)
	must(w, err)
	return w.identity(exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(command.PID)).Output())
}

// identity is the process whose id somebody has written.
func (w *watched) identity(text []byte, err error) process.Identity {
	w.Helper()
	pid, wrong := strconv.Atoi(strings.TrimSpace(string(text)))
	if err = errors.Join(err, wrong); err != nil {
		w.Fatal(err)
	}
	id, err := process.Identify(pid)
	must(w, err)
	return id
}

// stall keeps the next wrapper from beginning until the test goes on.
func (w *watched) stall() (goOn func()) {
	must(w, os.WriteFile(filepath.Join(w.tmp, stalling), nil, 0o600))
	goOn = func() { _ = os.Remove(filepath.Join(w.tmp, stalled)) }
	w.Cleanup(goOn)
	return goOn
}

func (w *watched) signal(pid int, s syscall.Signal) {
	w.Helper()
	must(w, syscall.Kill(pid, s))
}

// stop returns when the process does not move any more, where that can be seen.
func (w *watched) stop(pid int) {
	w.Helper()
	w.signal(pid, syscall.SIGSTOP)
	stat := fmt.Sprintf("/proc/%d/stat", pid)
	if _, err := os.Stat(stat); err != nil {
		time.Sleep(200 * time.Millisecond)
		return
	}
	w.until("a stop", func() bool {
		data, err := os.ReadFile(stat)
		return err == nil && bytes.Contains(data, []byte(") T "))
	})
}

// rests returns when a process has nothing to do, where that can be seen.
func (w *watched) rests(pid int) {
	w.Helper()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		time.Sleep(200 * time.Millisecond)
		return
	}
	w.until("a rest", func() bool {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, stat := range threads {
			data, err := os.ReadFile(stat)
			if err != nil || !bytes.Contains(data, []byte(") S ")) {
				return false
			}
		}
		return len(threads) > 0
	})
}

// kill kills pawl, and checks that it was alive.
func (w *watched) kill(c *exec.Cmd) {
	w.Helper()
	w.signal(c.Process.Pid, syscall.SIGKILL)
	_ = c.Wait() // its status says it
	if s := c.ProcessState.Sys().(syscall.WaitStatus); s.Signal() != syscall.SIGKILL {
		w.Fatalf("it was not killed: %v", c.ProcessState)
	}
}

// resumes goes on with the run, of which nobody is asked anything.
func (w *watched) resumes(settled ...string) {
	w.Helper()
	out, c := &check.Log{}, w.command("resume", w.run)
	c.Stdout, c.Stderr = out, out
	must(w, c.Start())
	told := func() bool { return strings.Contains(out.String(), "c_2 pay still runs in its wrapper, for ") }
	if w.waits {
		w.until("the wait", told)
		w.release("paid.txt")
	}
	if err := c.Wait(); err != nil || !strings.Contains(out.String(), "done") || told() != w.waits {
		w.Errorf("resume: %v\n%s", err, out)
	}
	events, err := w.command("events", w.own).Output()
	for _, s := range settled {
		if err != nil || !strings.Contains(string(events), s) {
			w.Errorf("%v, no %s in\n%s", err, s, events)
		}
	}
	if n := strings.Count(string(events), `"type":"tool.doubted"`); n != 0 {
		w.Errorf("%d doubts", n)
	}
	if out, err := w.command("replay", w.run).CombinedOutput(); err != nil {
		w.Errorf("replay: %v\n%s", err, out)
	}
}

// over checks that there was one effect of each call, and that nothing is left.
func (w *watched) over(wrapper process.Identity, ends int) {
	w.Helper()
	for file, ends := range map[string]int{"billed.txt": 1, "paid.txt": ends} {
		if b, e := w.lines(file, "begin"), w.lines(file, "end"); b != 1 || e != ends {
			w.Errorf("%s has %d beginnings and %d ends, want 1 and %d", file, b, e, ends)
		}
	}
	w.until("the end of the wrapper", wrapper.Gone)
	if left, _ := filepath.Glob(w.path("runs.db.calls/*")); len(left) > 0 {
		w.Errorf("left: %q", left)
	}
}

func (w *watched) lines(file, line string) int {
	data, _ := os.ReadFile(w.path(file)) // one that is not there has none
	return strings.Count(string(data), line+"\n")
}

// Without the directory that the log names, nobody can be sure, and a person is asked.
func TestKilledBeforeTheCommandElsewhere(t *testing.T) {
	t.Parallel()
	check.SkipShort(t, "who kills whom is the same under the race detector: -short")
	w := watch(t, "hold", "20s")
	wrapper, goOn := w.killedBefore()
	w.release("paid.txt")
	must(t, os.RemoveAll(w.path("runs.db.calls")))
	if out, _ := w.command("resume", w.run).CombinedOutput(); !strings.Contains(string(out), "waiting_doubt") || w.lines("paid.txt", "begin") != 0 {
		t.Errorf("there is no doubt:\n%s", out)
	}
	goOn() // it finds that the directory is gone
	w.until("the end of the wrapper", wrapper.Gone)
	if out, err := w.command("settle", w.run, "c_2", "--did-not-happen").CombinedOutput(); err != nil || !strings.Contains(string(out), "done") {
		t.Errorf("settle: %v\n%s", err, out)
	}
	if n := w.lines("paid.txt", "begin"); n != 1 {
		t.Errorf("it was paid %d times", n)
	}
}

// paying starts the run, and returns when it pays.
func (w *watched) paying() (c *exec.Cmd, wrapper process.Identity) {
	w.Helper()
	c = w.begin()
	w.release("billed.txt")
	w.until("pay", func() bool { return w.lines("paid.txt", "begin") == 1 })
	return c, w.wrapper("c_2")
}

// killedBefore kills pawl between the intent to pay and the payment, and returns the
// wrapper, which has its request and does not begin until the test goes on.
func (w *watched) killedBefore() (wrapper process.Identity, goOn func()) {
	w.Helper()
	c := w.begin()
	goOn = w.stall()
	w.release("billed.txt")
	var pid []byte
	w.until("a wrapper", func() bool {
		pid, _ = os.ReadFile(filepath.Join(w.tmp, stalled))
		return bytes.HasSuffix(pid, []byte("\n"))
	})
	w.until("the intent to pay", func() bool { return w.key("c_2") != "" })
	w.rests(c.Process.Pid) // it has sent the request
	wrapper = w.identity(pid, nil)
	w.kill(c)
	return wrapper, goOn
}

// Pawl is killed while a Write runs, or when it has ended and is not recorded; the
// Write ends before the run is taken up again, or after.
func TestKilledDuringTheCommand(t *testing.T) {
	t.Parallel()
	for _, of := range [][2]string{{"hold", "killed after"}, {"hold", "ends before"}, {"hold", "ends after"}, {"stubborn", "ends after"}} {
		part, when := of[0], of[1]
		t.Run(part+" "+when, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && (when != "ends after" || part == "stubborn") {
				t.Skip("who kills whom is the same under the race detector: -short")
			}
			w := watch(t, part, "20s")
			c, wrapper := w.paying()
			if when == "killed after" {
				w.stop(c.Process.Pid)
			} else {
				w.kill(c)
			}
			if w.waits = when == "ends after"; !w.waits {
				w.release("paid.txt")
				w.until("the end", func() bool { return w.fate("c_2").Outcome != nil })
			}
			if when == "killed after" {
				w.kill(c)
			}
			w.resumes(`"by":"reconcile"`, `"result":"held"`)
			w.over(wrapper, 1)
		})
	}
}

// A command has no more time because pawl is dead, even if it is stubborn.
func TestKilledAndLate(t *testing.T) {
	t.Parallel()
	check.SkipShort(t, "it takes the five seconds between SIGTERM and SIGKILL: -short")
	w := watch(t, "stubborn", "3s")
	c, wrapper := w.paying()
	w.kill(c)
	w.until("its end", func() bool { return w.fate("c_2").Outcome != nil })
	if e := w.fate("c_2").Outcome; e.Cut != process.Late || e.Signal != "SIGKILL" {
		t.Errorf("it ended with %+v", e)
	}
	w.resumes(`"by":"reconcile"`, `"happened":true,"status":"timeout","error":"no result within 3s; killed by SIGKILL`)
	w.over(wrapper, 0)
}

// With the wrapper gone as well nobody can tell, and nothing runs on.
func TestWrapperKilledToo(t *testing.T) {
	t.Parallel()
	check.SkipShort(t, "who kills whom is the same under the race detector: -short")
	w := watch(t, "hold", "20s")
	c, wrapper := w.paying()
	pay, err := process.ParseIdentity(w.fate("c_2").Process)
	if err != nil || !pay.Alive() {
		t.Fatalf("%v, alive %v", err, pay.Alive())
	}
	w.stop(wrapper.PID) // so that it cannot end the command
	w.kill(c)
	w.signal(wrapper.PID, syscall.SIGKILL)
	out, _ := w.command("resume", w.run).CombinedOutput()
	if !strings.Contains(string(out), "waiting_doubt") {
		t.Errorf("there is no doubt:\n%s", out)
	}
	if !pay.Gone() {
		t.Error("the command runs on")
	}
	if out, err := w.command("settle", w.run, "c_2", "--happened", `"held"`).CombinedOutput(); err != nil {
		t.Errorf("settle: %v\n%s", err, out)
	}
	w.over(wrapper, 0)
}

// Nothing is left of a run that nobody disturbs, nor of a command that is told
// to end twice.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	w := watch(t, "stubborn", "20s")
	c, wrapper := w.paying()
	w.release("paid.txt")
	must(t, c.Wait())
	w.over(wrapper, 1)

	w = watch(t, "stubborn", "20s")
	c, wrapper = w.paying()
	pay, err := process.ParseIdentity(w.fate("c_2").Process)
	must(t, err)
	for range 2 {
		w.signal(c.Process.Pid, syscall.SIGINT)
		time.Sleep(100 * time.Millisecond)
	}
	_ = c.Wait() // it exits with 5
	w.until("the end of the command", pay.Gone)
	w.until("the end of the wrapper", wrapper.Gone)
	if out, _ := w.command("resume", w.run).CombinedOutput(); !strings.Contains(string(out), "waiting_doubt") {
		t.Errorf("there is no doubt:\n%s", out)
	}
}
