package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// machine is the interface to this machine's kernel. Tests replace it.
var machine = struct {
	landlock func() int
	filters  func() bool
	starts   func(namespaces uintptr) bool
	groups   func(controller string) string
	root     func() bool
}{landlockVersion, filters, starts, groups, func() bool { return os.Getuid() == 0 }}

// Missing returns why this machine cannot enforce the cage; nil: it can.
func (c Cage) Missing() error {
	var errs []error
	lacks := func(part, needs string) {
		errs = append(errs, fmt.Errorf("its cage asks for %s, which this machine cannot enforce: %s", part, needs))
	}
	if !enabled.Load() {
		return errNotEnabled
	}
	if !machine.filters() {
		lacks("protection of other processes", "it takes a kernel with seccomp filters, on a processor of the kind amd64, arm64, riscv64 or loong64")
	}
	if v := machine.landlock(); c.Files != nil && v < leastLandlock {
		lacks("files", fmt.Sprintf("it takes Landlock version %d, of Linux 6.2; here it is %d", leastLandlock, v))
	}
	if c.Processes > 0 && c.counter() == 0 {
		if machine.root() {
			lacks("a number of processes", "for root it takes a pids control group that can be made beside one's own")
		} else {
			lacks("a number of processes", "it takes user namespaces, which are switched off")
		}
	}
	return errors.Join(errs...)
}

// means returns the names of what would enforce each part.
func (c Cage) means() means {
	m := means{privileges: "no_new_privs, capabilities dropped", files: "landlock, seccomp", network: "seccomp", memory: "rlimit, seccomp", processes: "rlimit in a user namespace"}
	if c.namespaces()&unix.CLONE_NEWNET != 0 {
		m.network += ", network namespace"
	}
	if machine.landlock() >= netLandlock {
		m.network += ", landlock"
	}
	if machine.root() {
		m.processes = "pids control group"
	}
	if machine.groups("memory") != "" {
		m.memory = "memory control group, rlimit"
	}
	return m
}

// The ways to limit processes.
const (
	inNamespace = 1 + iota // RLIMIT_NPROC, which counts within a user namespace
	inGroup                // for root, to which RLIMIT_NPROC does not apply
)

// counter returns how processes are limited here; zero: not possible.
func (c Cage) counter() int {
	switch {
	case machine.root() && machine.groups("pids") != "":
		return inGroup
	case !machine.root() && machine.starts(unix.CLONE_NEWUSER):
		return inNamespace
	}
	return 0
}

// limited returns the control groups of the command, by their parents.
func (c Cage) limited() map[string][]setting {
	all := map[string][]setting{}
	if c.Processes > 0 && c.counter() == inGroup {
		all[machine.groups("pids")] = settings("pids", int64(c.Processes))
	}
	if dir := machine.groups("memory"); c.Memory > 0 && dir != "" {
		all[dir] = append(all[dir], settings("memory", c.Memory)...)
	}
	return all
}

// namespaces returns the namespaces of the command.
func (c Cage) namespaces() uintptr {
	var flags uintptr
	if c.Processes > 0 && !machine.root() {
		flags |= unix.CLONE_NEWUSER
	}
	if c.NoNetwork {
		switch {
		case machine.root() && machine.starts(unix.CLONE_NEWNET):
			flags |= unix.CLONE_NEWNET
		case machine.starts(unix.CLONE_NEWUSER | unix.CLONE_NEWNET):
			flags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNET
		}
	}
	return flags
}

const probeArg = "probe"

var (
	probes sync.Mutex
	probed = map[uintptr]bool{}
)

// starts reports whether a process can be started in new namespaces, by trying
// once: the kernel, its settings, security modules and containers may all
// forbid it.
func starts(flags uintptr) bool {
	if !enabled.Load() { // the new process would not handle the test
		return false
	}
	probes.Lock()
	defer probes.Unlock()
	if works, known := probed[flags]; known {
		return works
	}
	works := false
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		proc, err := os.StartProcess("/proc/self/exe", []string{stepName, probeArg}, &os.ProcAttr{
			Dir: "/", Env: []string{}, Files: []*os.File{null, null, null}, Sys: Namespaces(flags),
		})
		null.Close()
		if err == nil {
			state, err := proc.Wait()
			works = err == nil && state.Success()
		}
	}
	probed[flags] = works
	return works
}

// Namespaces returns attributes that start a process in new namespaces as the
// same user.
func Namespaces(flags uintptr) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: flags}
	if flags&unix.CLONE_NEWUSER != 0 {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

// An Opening is a cage prepared for one command.
type Opening struct {
	// Argv is the program's argv in the command's place, followed by the file
	// to execute and the command's argv.
	Argv []string
	// Attr has the attributes for starting it.
	Attr   *syscall.SysProcAttr
	dir    string // the command's private directory; empty: none
	groups []string
}

// Open prepares the cage, whose files are absolute, for one command. With
// program, the command's program is one of the files, wherever it is. Close
// must be called when the command has ended.
func (c Cage) Open(program bool) (*Opening, error) {
	o := &Opening{Attr: Namespaces(c.namespaces())}
	s := step{Cage: c, Program: program}
	if err := c.Missing(); err != nil {
		return nil, err
	}
	if c.Files != nil {
		dir, err := os.MkdirTemp("", "pawl-cage-")
		if err != nil {
			return nil, err
		}
		o.dir = dir
		s.Cage = c.Writing(dir)
	}
	for dir, limits := range c.limited() {
		group, err := makeGroup(dir, limits)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("its cage: %w", err), o.Close())
		}
		o.groups = append(o.groups, group)
	}
	s.Cgroups, s.Counted, s.Weighed = o.groups, c.counter() == inGroup, machine.groups("memory") != ""
	told, err := json.Marshal(s)
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	o.Argv = []string{stepName, string(told)}
	return o, nil
}

// Env returns the environment of the command. If its files are caged, HOME and
// TMPDIR are its private directory.
func (o *Opening) Env(env []string) []string {
	if o.dir == "" {
		return env
	}
	return own(env, o.dir)
}

// Close removes what was created for the command.
func (o *Opening) Close() error {
	var errs []error
	if o.dir != "" {
		errs = append(errs, os.RemoveAll(o.dir))
	}
	for _, group := range o.groups {
		errs = append(errs, removeGroup(group))
	}
	return errors.Join(errs...)
}

// Explain parses the step's report, which is empty if the command was started.
func Explain(said []byte) (errno syscall.Errno, reason string) {
	if len(said) == 0 {
		return 0, ""
	}
	var r Report
	if err := json.Unmarshal(said, &r); err != nil {
		return 0, "its cage failed: " + strings.TrimSpace(string(said))
	}
	return r.Errno, r.Reason
}
