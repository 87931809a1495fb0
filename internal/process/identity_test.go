//go:build linux || darwin

package process

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestSelfIsAlive(t *testing.T) {
	self, err := Self()
	must(t, err)
	if self.PID != os.Getpid() || !self.Alive() || self.Gone() {
		t.Errorf("%v: alive %v, gone %v", self, self.Alive(), self.Gone())
	}
	reused := Identity{self.PID, self.Start + 1, self.Boot}
	if reused.Alive() || !reused.Gone() {
		t.Errorf("reused id: alive %v, gone %v", reused.Alive(), reused.Gone())
	}
	for name, other := range map[string]Identity{
		"another host": {self.PID, self.Start, "elsewhere/1"},
		"zero":         {},
	} {
		if other.Alive() || other.Gone() {
			t.Errorf("%s: alive %v, gone %v, want neither", name, other.Alive(), other.Gone())
		}
	}
	back, err := ParseIdentity(self.String())
	if err != nil || back != self {
		t.Errorf("%v became %v, %v", self, back, err)
	}
}

func TestParseIdentity(t *testing.T) {
	for _, s := range []string{"", "1", "1.2", "1.2.", "x.2.b", "1.-2.b", "0.2.b", "-1.2.b"} {
		if id, err := ParseIdentity(s); err == nil {
			t.Errorf("%q was read as %v", s, id)
		}
	}
}

func TestGone(t *testing.T) {
	c := helper(t, "hang", "")
	cmd := exec.Command(c.Argv[0])
	cmd.Env = c.Env
	must(t, cmd.Start())
	id, err := Identify(cmd.Process.Pid)
	must(t, err)
	if !id.Alive() || id.Gone() {
		t.Errorf("running: alive %v, gone %v", id.Alive(), id.Gone())
	}
	must(t, cmd.Process.Kill())
	for deadline := time.Now().Add(time.Minute); !id.Gone(); {
		if time.Now().After(deadline) {
			t.Fatal("a zombie is not gone")
		}
		time.Sleep(time.Millisecond)
	}
	_ = cmd.Wait()
	if !id.Gone() || id.Alive() {
		t.Errorf("reaped: alive %v, gone %v", id.Alive(), id.Gone())
	}
	if _, err := Identify(id.PID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("identity of an ended process: %v", err)
	}
}

// An orphan is a command whose owner died. Here the owner is this process, which looks away.
func TestEndOrphan(t *testing.T) {
	c := helper(t, "stubborn", "1")
	cmd := exec.Command(c.Argv[0])
	cmd.Env, cmd.SysProcAttr = c.Env, &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	id, err := Identify(cmd.Process.Pid)
	must(t, err)
	if _, err := io.ReadFull(out, make([]byte, len("stubborn 0\ndeaf 1\n"))); err != nil {
		t.Fatal(err)
	}
	reused := id
	reused.Start++
	if err := reused.End(time.Millisecond); err != nil || id.Gone() {
		t.Fatalf("ended a process that was not meant, or %v", err)
	}
	must(t, id.End(50*time.Millisecond))
	if left := members(id.PID); len(left) > 0 || !id.Gone() {
		t.Errorf("left: %v", left)
	}
	_ = cmd.Wait()
	if err := id.End(0); err != nil {
		t.Errorf("ending twice: %v", err)
	}
}
