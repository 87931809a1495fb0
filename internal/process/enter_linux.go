package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stepName is argv[0] of the program when it is to become a command.
const stepName = "pawl-cage-1"

// reportFD is the descriptor on which the step reports why the command was not
// started.
const reportFD = 3

// step is the input of the step.
type step struct {
	Cage    Cage
	Program bool     // the program may be read and executed wherever it is
	Cgroups []string // the directories of the control groups to join
	Counted bool     // one of them counts processes
	Weighed bool     // one of them counts memory
}

// Report says why the command was not started: the errno of the exec, or
// another reason in words.
type Report struct {
	Errno  syscall.Errno `json:",omitempty"`
	Reason string        `json:",omitempty"`
}

var enabled atomic.Bool

// Enter must be called first by a program whose commands are caged. It does not
// return in the process that is to become a command.
func Enter() {
	if len(os.Args) < 2 || os.Args[0] != stepName {
		enabled.Store(true)
		return
	}
	if os.Args[1] == probeArg {
		os.Exit(0) //nolint:forbidigo // it was asked whether it can be started
	}
	report := Report{Reason: "its cage got no configuration"}
	if len(os.Args) > 3 {
		report = become(os.Args[1], os.Args[2], os.Args[3:])
	}
	said, _ := json.Marshal(report) // strings and numbers always marshal
	_, _ = unix.Write(reportFD, said)
	os.Exit(126) //nolint:forbidigo // continuing would run the program instead of the command
}

// become confines this process and executes the program in it. It returns only
// on failure.
func become(told, path string, argv []string) Report {
	var s step
	if err := json.Unmarshal([]byte(told), &s); err != nil {
		return Report{Reason: "its cage cannot read its configuration: " + err.Error()}
	}
	// The following applies to this thread, which executes the program and
	// thereby ends the others.
	runtime.LockOSThread()
	if s.Cage.Memory > 0 {
		quiet()
	}
	groups := make([]int, len(s.Cgroups))
	for i, group := range s.Cgroups {
		var err error
		if groups[i], err = unix.Open(group+"/cgroup.procs", unix.O_WRONLY|unix.O_CLOEXEC, 0); err != nil {
			return Report{Reason: fmt.Sprintf("its control group %s cannot be joined: %v", group, err)}
		}
	}
	// The parent has marked its own descriptors; this marks the one it passed,
	// and any others.
	unix.CloseOnExec(reportFD)
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return Report{Reason: fmt.Sprintf("open files cannot be kept from it: %v", err)}
	}
	env := os.Environ()
	if err := s.confine(path); err != nil {
		return Report{Reason: err.Error()}
	}
	// This comes last, because this program has more threads than the command
	// may have.
	for i, group := range groups {
		if _, err := unix.Write(group, []byte("0")); err != nil {
			return Report{Reason: fmt.Sprintf("its control group %s cannot be joined: %v", s.Cgroups[i], err)}
		}
	}
	if n := s.Cage.Processes; n > 0 && !s.Counted {
		if err := limit(unix.RLIMIT_NPROC, uint64(n)); err != nil {
			return Report{Reason: fmt.Sprintf("its processes cannot be limited: %v", err)}
		}
	}
	err := syscall.Exec(path, argv, env) //nolint:gosec // executing the command is its purpose
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return Report{Errno: errno}
	}
	return Report{Reason: err.Error()}
}

// quiet keeps the runtime from asking for memory between the limit of it and the exec.
// This program may use more than the limit already, and would end. So no garbage
// collection or profile runs any more, and no thread starts.
func quiet() {
	runtime.MemProfileRate = 0
	debug.SetGCPercent(-1)
	runtime.GC() // returns when a collection that runs has ended, too
	runtime.GOMAXPROCS(1)
}

// limit sets a limit of this process. The raw call keeps the runtime from starting a
// thread meanwhile.
func limit(resource int, most uint64) error {
	to := unix.Rlimit{Cur: most, Max: most}
	if _, _, errno := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, uintptr(resource), uintptr(unsafe.Pointer(&to)), 0, 0, 0); errno != 0 { //nolint:gosec // the kernel is handed a struct
		return errno
	}
	return nil
}

// confine imposes all restrictions but the number of processes on this thread.
func (s *step) confine(path string) error {
	// A core dump would be a copy of memory in a file.
	if err := limit(unix.RLIMIT_CORE, 0); err != nil {
		return fmt.Errorf("its core cannot be limited: %w", err)
	}
	// The command cannot gain rights: neither by set-user-id programs nor, for
	// root, by any program.
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
	filter := program(s.Cage.rules(s.Weighed))
	if m := s.Cage.Memory; m > 0 {
		// This comes late; see quiet. The filter would refuse it. Do not limit the address
		// space, of which garbage collectors reserve far more than they use. Files may
		// be memory too: in /dev/shm, or without a name. RLIMIT_DATA counts no stack.
		if err := errors.Join(limit(unix.RLIMIT_STACK, uint64(min(m, mostStack))), limit(unix.RLIMIT_DATA, uint64(m)), limit(unix.RLIMIT_FSIZE, uint64(m))); err != nil {
			return fmt.Errorf("its memory cannot be limited: %w", err)
		}
	}
	return install(filter)
}

// mostStack is the limit of a stack, which is the usual one.
const mostStack = 8 << 20

// temporary are the variables that name the private directory of a command
// whose files are caged.
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
