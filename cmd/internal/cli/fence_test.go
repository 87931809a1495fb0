//go:build linux || darwin

package cli_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-run/pawl/internal/testkit/check"
)

// Pawl is killed while a Write waits to be started: its wrapper, which does not move, has
// the request. The log says where it would have made its file, so the call is made again
// without a person, whatever kind of run it belongs to, and not made again when the wrapper
// goes on. TestKillWrites kills runs of the other kinds.
func TestKilledBeforeTheCommand(t *testing.T) {
	t.Parallel()
	check.SkipShort(t, "who kills whom is the same under the race detector: -short")
	for _, kind := range []string{"plain", "thread", "child of a key"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := watchKind(t, kind)
			wrapper, goOn := w.killedBefore()
			w.release("paid.txt")
			w.resumes(`"type":"tool.settled","data":{"call":"c_2","happened":false,"by":"reconcile"}`,
				`"call":"c_2","tool":"pay","args":{},"effect":"write","key":"`+w.key("c_2")+`","attempt":2,"supervised":"`)
			goOn()
			w.over(wrapper, 1)
		})
	}
}

// Nothing starts after a cancel was acknowledged, in any process.
func TestCancelledBeforeTheCommand(t *testing.T) {
	t.Parallel()
	check.SkipShort(t, "who kills whom is the same under the race detector: -short")
	for _, kind := range []string{"plain", "child of a key"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := watchKind(t, kind)
			wrapper, goOn := w.killedBefore()
			if out, err := w.command("cancel", w.run).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			w.release("paid.txt")
			goOn()
			w.until("the end of the wrapper", wrapper.Gone)
			if n := w.lines("paid.txt", "begin"); n != 0 {
				t.Errorf("it was paid %d times after the cancel", n)
			}
		})
	}
}

// away is a run in doubt, of which nobody but its wrapper, which stands still, could
// tell: the directory of its files is out of reach.
func (w *watched) away() (back func()) {
	w.Helper()
	move := func(from, to string) {
		must(w, os.Rename(w.path(from), w.path(to)))
	}
	move("runs.db.calls", "away")
	if out, _ := w.command("resume", w.run).CombinedOutput(); !strings.Contains(string(out), "waiting_doubt") {
		w.Fatalf("there is no doubt:\n%s", out)
	}
	return func() {
		must(w, os.RemoveAll(w.path("runs.db.calls")))
		move("away", "runs.db.calls")
	}
}

// A settlement is acknowledged when the first attempt cannot start any more. What
// its record contradicts is refused.
func TestSettledBeforeTheCommand(t *testing.T) {
	t.Parallel()
	check.SkipShort(t, "who kills whom is the same under the race detector: -short")
	for _, kind := range []string{"plain", "child"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := watchKind(t, kind)
			wrapper, goOn := w.killedBefore()
			w.away()()
			if out, err := w.command("settle", w.own, "c_2", "--happened", "1", "--no-continue").CombinedOutput(); err == nil || !strings.Contains(string(out), "was never started, as its wrapper has recorded; resume the run") {
				t.Errorf("%v\n%s", err, out)
			}
			if out, err := w.command("settle", w.own, "c_2", "--did-not-happen", "--no-continue").CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			w.release("paid.txt")
			goOn()
			w.until("the end of the wrapper", wrapper.Gone)
			if n := w.lines("paid.txt", "begin"); n != 0 {
				t.Errorf("it was paid %d times by the first attempt", n)
			}
			if out, err := w.command("resume", w.run).CombinedOutput(); err != nil || w.lines("paid.txt", "begin") != 1 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// What a wrapper knows counts more than what a person says who could not ask it.
func TestSettledFalsely(t *testing.T) {
	t.Parallel()
	check.SkipShort(t, "who kills whom is the same under the race detector: -short")
	w := watchKind(t, "key")
	wrapper, goOn := w.killedBefore()
	back := w.away()
	if out, err := w.command("settle", w.run, "c_2", "--did-not-happen", "--no-continue").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	back()
	w.release("paid.txt")
	goOn() // it starts the first attempt
	w.until("the end of the wrapper", wrapper.Gone)
	out, err := w.command("resume", w.run).CombinedOutput()
	if n := w.lines("paid.txt", "begin"); err != nil || n != 1 {
		t.Errorf("it was paid %d times: %v\n%s", n, err, out)
	}
}

// A process that resumes a run and does not wait for its command leaves with
// Ctrl-C, and the command goes on.
func TestLeaveARunningCommand(t *testing.T) {
	t.Parallel()
	check.SkipShort(t, "who kills whom is the same under the race detector: -short")
	w := watchKind(t, "key")
	c, wrapper := w.paying()
	w.kill(c)
	r := w.command("resume", w.run)
	said, err := os.Create(w.path("said.txt"))
	must(t, err)
	defer func() { _ = said.Close() }()
	r.Stdout, r.Stderr = said, said
	must(t, r.Start())
	w.until("the wait", func() bool {
		text, _ := os.ReadFile(w.path("said.txt"))
		return strings.Contains(string(text), "still runs") && strings.Contains(string(text), "run "+w.run)
	})
	w.signal(r.Process.Pid, syscall.SIGINT)
	_ = r.Wait() // its exit code says it
	if text, _ := os.ReadFile(w.path("said.txt")); r.ProcessState.ExitCode() != 130 || strings.Contains(string(text), "doubt") {
		t.Errorf("exit %d\n%s", r.ProcessState.ExitCode(), text)
	}
	w.release("paid.txt")
	w.until("the end", func() bool { return w.fate("c_2").Outcome != nil })
	w.resumes(`"result":"held"`)
	w.over(wrapper, 1)
}
