package tool_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-run/pawl/tool"
)

// zeroes stands for a pointer to zeroes among the arguments of a system call.
const zeroes = 0x7e705

// TestCageOthers has a caged command change processes outside its cage by the
// system calls that name a process by its id. It may do so to itself alone.
func TestCageOthers(t *testing.T) {
	for name, c := range map[string]*tool.Cage{"limits alone": {Memory: 1 << 30}, "files": newPit(t).cage, "no network": {NoNetwork: true}} {
		t.Run(name, func(t *testing.T) {
			caging(t, c)
			p := newPit(t)
			if c.Files != nil {
				c = p.cage
			}
			victim := exec.Command("sleep", "60")
			must(t, victim.Start())
			defer func() {
				_ = victim.Process.Kill()
				_ = victim.Wait()
			}()
			var trials []string
			for _, pid := range []int{victim.Process.Pid, os.Getpid(), 1} {
				trials = append(trials,
					fmt.Sprintf("limit %d", pid),
					syscallTrial(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, pid, 19),
					syscallTrial(unix.SYS_SCHED_SETSCHEDULER, pid, unix.SCHED_BATCH, zeroes),
					syscallTrial(unix.SYS_SCHED_SETPARAM, pid, zeroes),
					syscallTrial(unix.SYS_SCHED_SETATTR, pid, zeroes, 0),
					syscallTrial(unix.SYS_SCHED_SETAFFINITY, pid, 8, zeroes),
					syscallTrial(unix.SYS_IOPRIO_SET, 1, pid, 3<<13))
			}
			trials = append(trials, // all processes of the user, and of the group
				syscallTrial(unix.SYS_SETPRIORITY, unix.PRIO_USER, 0, 19), syscallTrial(unix.SYS_SETPRIORITY, unix.PRIO_PGRP, 0, 19),
				syscallTrial(unix.SYS_IOPRIO_SET, 3, 0, 3<<13), syscallTrial(unix.SYS_IOPRIO_SET, 2, 0, 3<<13))
			for trial, got := range p.attempts(t, c, trials...) {
				if got != unix.EPERM.Error() {
					t.Errorf("%s: %s", trial, got)
				}
			}
			own := []string{"limit 0", syscallTrial(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, 19), syscallTrial(unix.SYS_SCHED_SETSCHEDULER, 0, unix.SCHED_BATCH, zeroes), syscallTrial(unix.SYS_IOPRIO_SET, 1, 0, 3<<13)}
			for trial, got := range p.attempts(t, c, own...) {
				if got != "done" {
					t.Errorf("to itself: %s: %s", trial, got)
				}
			}
		})
	}
}

func syscallTrial(number uint64, arguments ...any) string {
	words := make([]string, len(arguments))
	for i, a := range arguments {
		words[i] = fmt.Sprint(a)
	}
	return fmt.Sprintf("call %d %s", number, strings.Join(words, ","))
}

// TestCageShared has a caged command reach memory, semaphores and messages that
// it would share with processes outside.
func TestCageShared(t *testing.T) {
	p := newPit(t)
	caging(t, p.cage)
	key := os.Getpid()
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Skip("this kernel has no shared memory of System V:", err)
	}
	defer func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) }()
	for _, c := range []*tool.Cage{p.cage, {NoNetwork: true}, {Memory: 1 << 30}} {
		for trial, got := range p.attempts(t, c,
			syscallTrial(unix.SYS_SHMGET, key, 4096, 0), syscallTrial(unix.SYS_SHMGET, 0, 4096, unix.IPC_CREAT), syscallTrial(unix.SYS_SHMAT, id, 0, 0), syscallTrial(unix.SYS_SHMCTL, id, unix.IPC_RMID, 0),
			syscallTrial(unix.SYS_SEMGET, key, 1, unix.IPC_CREAT), syscallTrial(unix.SYS_SEMOP, 0, zeroes, 1), syscallTrial(unix.SYS_SEMTIMEDOP, 0, zeroes, 1, zeroes), syscallTrial(unix.SYS_SEMCTL, 0, 0, unix.IPC_RMID),
			syscallTrial(unix.SYS_MSGGET, key, unix.IPC_CREAT), syscallTrial(unix.SYS_MSGSND, 0, zeroes, 1, 0), syscallTrial(unix.SYS_MSGRCV, 0, zeroes, 1, 0, 0), syscallTrial(unix.SYS_MSGCTL, 0, unix.IPC_RMID, 0),
			syscallTrial(unix.SYS_MQ_OPEN, zeroes, unix.O_CREAT, 0o600, 0), syscallTrial(unix.SYS_MQ_UNLINK, zeroes)) {
			if got != unix.ENOSYS.Error() {
				t.Errorf("%s: %s", trial, got)
			}
		}
	}
}

// TestCageOutward has a caged command stop others at a file, watch files, and become
// root in a namespace of its own.
func TestCageOutward(t *testing.T) {
	p, c := newPit(t), &tool.Cage{}
	caging(t, c)
	for trial, want := range map[string]string{
		syscallTrial(unix.SYS_FCNTL, 0, unix.F_SETLEASE, unix.F_RDLCK): unix.EPERM.Error(),
		syscallTrial(unix.SYS_FCNTL, 0, 1024+16, zeroes):               unix.EPERM.Error(),
		syscallTrial(unix.SYS_FCNTL, 0, unix.F_DUPFD_CLOEXEC, 0):       "done",
		syscallTrial(unix.SYS_FANOTIFY_INIT, 0x200, 0):                 unix.EPERM.Error(),
		syscallTrial(unix.SYS_UNSHARE, unix.CLONE_NEWUSER):             unix.EPERM.Error(),
		syscallTrial(unix.SYS_UNSHARE, unix.CLONE_FILES):               "done",
		syscallTrial(unix.SYS_CLONE3, zeroes, 0):                       unix.ENOSYS.Error(),
	} {
		if got := p.attempts(t, c, trial)[trial]; got != want {
			t.Errorf("%s: %s", trial, got)
		}
	}
}

// TestCageKinds has a caged command use kinds of memory that no limit of a process
// counts. Either the kind is refused, or a control group ends the command.
func TestCageKinds(t *testing.T) {
	t.Parallel()
	p, c := newPit(t), &tool.Cage{Memory: 600 << 20} // room for the race detector
	caging(t, c)
	grouped := strings.Contains(c.Describe(), "memory control group")
	for _, kind := range []string{"grows", "shared", "nameless"} {
		got, err := p.run(t, c, part(t, "try", "hold "+kind)...)
		if ended := err != nil && strings.Contains(err.Error(), "SIGKILL"); got == "done" || err != nil && !ended || grouped && !ended {
			t.Errorf("%s: %q, %v", kind, got, err)
		}
	}
	if _, err := p.run(t, c, "prlimit", "--stack=1000000000", "true"); err == nil {
		t.Error("its stack may grow")
	}
	if !grouped {
		return
	}
	const four = "(for i in 1 2 3 4; do { head -c 180000000 /dev/zero; sleep 5; } | tail & done; wait) | wc -c" // tail holds it while it sleeps
	if got, _ := p.run(t, c, "sh", "-c", four); got == "720000000" {
		t.Error("four processes use the memory of one each")
	}
}

// TestCageDatagrams sends from one of a pair of sockets to a program outside.
func TestCageDatagrams(t *testing.T) {
	p := newPit(t)
	caging(t, p.cage)
	path := filepath.Join(p.dir, "out", "d")
	l, err := net.ListenPacket("unixgram", path)
	must(t, err)
	defer l.Close()
	for _, c := range []*tool.Cage{p.cage, {NoNetwork: true}} {
		for _, kind := range []int{unix.SOCK_DGRAM, unix.SOCK_RAW} {
			trial := fmt.Sprintf("datagram %d %s", kind, path)
			if got := p.attempts(t, c, trial)[trial]; got != unix.EACCES.Error() {
				t.Errorf("%s: %s", trial, got)
			}
		}
		for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_SEQPACKET} {
			trial := fmt.Sprintf("pair-of %d", kind)
			if got := p.attempts(t, c, trial)[trial]; got != "done" {
				t.Errorf("%s: %s", trial, got)
			}
		}
	}
}
