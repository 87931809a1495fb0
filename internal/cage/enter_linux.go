package cage

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// stepName is what the program is called when it is to become a command.
const stepName = "pawl-cage-1"

// reportFD is where the step tells why the command was not started.
const reportFD = 3

// step is what the step is told.
type step struct {
	Cage    Cage
	Program bool   // the program itself may be read and executed wherever it is
	Cgroup  string // the directory of the control group to join; empty: none
	NoTCP   bool
}

// Report is what the step tells when the command was not started: the errno of
// the exec, or in words what else failed.
type Report struct {
	Errno  syscall.Errno `json:",omitempty"`
	Reason string        `json:",omitempty"`
}

var enabled atomic.Bool

// Enter is the first thing that a program does whose commands are to be caged.
// In the process that is to become a command it does not return.
func Enter() {
	if len(os.Args) < 2 || os.Args[0] != stepName {
		enabled.Store(true)
		return
	}
	if os.Args[1] == probeArg {
		os.Exit(0) //nolint:forbidigo // it was asked whether it can be started
	}
	report := Report{Reason: "its cage was not told what to hold it to"}
	if len(os.Args) > 3 {
		report = become(os.Args[1], os.Args[2], os.Args[3:])
	}
	said, _ := json.Marshal(report) // strings and numbers always marshal
	_, _ = unix.Write(reportFD, said)
	os.Exit(126) //nolint:forbidigo // this process is not what it takes itself for
}

// become confines this process and executes the program in it. It returns only
// if that fails.
func become(told, path string, argv []string) Report {
	var s step
	if err := json.Unmarshal([]byte(told), &s); err != nil {
		return Report{Reason: "its cage was told what it does not understand: " + err.Error()}
	}
	// What is done from here on is done to this thread, which is the one that
	// executes the program; the others end then.
	runtime.LockOSThread()
	cgroup := -1
	if s.Cgroup != "" {
		var err error
		if cgroup, err = unix.Open(s.Cgroup+"/cgroup.procs", unix.O_WRONLY|unix.O_CLOEXEC, 0); err != nil {
			return Report{Reason: fmt.Sprintf("its control group %s cannot be joined: %v", s.Cgroup, err)}
		}
	}
	if err := s.confine(path); err != nil {
		return Report{Reason: err.Error()}
	}
	// Whoever started this process has marked what it had itself; this is for the
	// one it gave us, and for a second look.
	unix.CloseOnExec(reportFD)
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return Report{Reason: fmt.Sprintf("open files cannot be kept from it: %v", err)}
	}
	env := os.Environ()
	// Last, because this program has more threads than the command may have.
	if cgroup >= 0 {
		if _, err := unix.Write(cgroup, []byte("0")); err != nil {
			return Report{Reason: fmt.Sprintf("its control group %s cannot be joined: %v", s.Cgroup, err)}
		}
	}
	if n := s.Cage.Processes; n > 0 && s.Cgroup == "" {
		if err := limit(unix.RLIMIT_NPROC, uint64(n)); err != nil {
			return Report{Reason: fmt.Sprintf("its processes cannot be limited: %v", err)}
		}
	}
	err := syscall.Exec(path, argv, env) //nolint:gosec // to execute what it is told to is all it is for
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return Report{Errno: errno}
	}
	return Report{Reason: err.Error()}
}

func limit(resource int, most uint64) error {
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most})
}

// confine holds this thread to everything but the number of processes.
func (s *step) confine(path string) error {
	// A core would be a copy of its memory in a file.
	if err := limit(unix.RLIMIT_CORE, 0); err != nil {
		return fmt.Errorf("its core cannot be limited: %w", err)
	}
	if m := s.Cage.Memory; m > 0 {
		// Not the address space, of which garbage collectors reserve far more than
		// they use. A file may be memory too: in /dev/shm, or without a name.
		if err := errors.Join(limit(unix.RLIMIT_DATA, uint64(m)), limit(unix.RLIMIT_FSIZE, uint64(m))); err != nil {
			return fmt.Errorf("its memory cannot be limited: %w", err)
		}
	}
	// Nothing it executes gains rights: neither set-user-id programs nor, for
	// root, any program.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("it cannot be kept from gaining privileges: %w", err)
	}
	if err := s.landlock(path); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("its privileges cannot be dropped: %w", err)
	}
	return s.Cage.filter()
}

// temporary are the variables that name the directory of its own that a command
// has whose files are caged.
var temporary = []string{"TMPDIR=", "HOME="}

// own replaces them in an environment.
func own(env []string, dir string) []string {
	var all []string
	for _, e := range env {
		if !strings.HasPrefix(e, temporary[0]) && !strings.HasPrefix(e, temporary[1]) {
			all = append(all, e)
		}
	}
	for _, name := range temporary {
		all = append(all, name+dir)
	}
	return all
}
