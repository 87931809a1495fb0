package process

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// architectures are those whose system calls the filter supports, with the
// kernel's numbers for them.
var architectures = map[string]uint32{
	"amd64":   unix.AUDIT_ARCH_X86_64,
	"arm64":   unix.AUDIT_ARCH_AARCH64,
	"riscv64": unix.AUDIT_ARCH_RISCV64,
	"loong64": unix.AUDIT_ARCH_LOONGARCH64,
}

// x32 marks the calls of amd64's second interface.
const x32 = 0x40000000

// filters reports whether the kernel can filter system calls.
func filters() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action))) //nolint:gosec // the kernel is handed a struct
	return errno == 0 && architectures[runtime.GOARCH] != 0
}

// Offsets in a filter's input, struct seccomp_data.
const (
	seenNumber    = 0
	seenArch      = 4
	seenArguments = 16 // eight bytes each; the lower half first on these architectures
)

// A rule refuses a system call, unless each of the arguments it checks has one
// of the allowed values, or none of the others.
type rule struct {
	call   uint32
	errno  unix.Errno
	unless []allowed
}

type allowed struct {
	argument uint32
	mask     uint32 // bits to compare; zero: all
	values   []uint32
	but      bool // the values are those that are not allowed
}

// onItself are the calls that change another process by id and that Landlock does
// not restrict. The id 0 is the calling thread.
var onItself = []rule{
	{unix.SYS_PRLIMIT64, unix.EPERM, []allowed{{values: []uint32{0}}}},
	{unix.SYS_SCHED_SETSCHEDULER, unix.EPERM, []allowed{{values: []uint32{0}}}},
	{unix.SYS_SCHED_SETPARAM, unix.EPERM, []allowed{{values: []uint32{0}}}},
	{unix.SYS_SCHED_SETATTR, unix.EPERM, []allowed{{values: []uint32{0}}}},
	{unix.SYS_SCHED_SETAFFINITY, unix.EPERM, []allowed{{values: []uint32{0}}}},
	{unix.SYS_SETPRIORITY, unix.EPERM, []allowed{{values: []uint32{unix.PRIO_PROCESS}}, {argument: 1, values: []uint32{0}}}},
	{unix.SYS_IOPRIO_SET, unix.EPERM, []allowed{{values: []uint32{ioprioProcess}}, {argument: 1, values: []uint32{0}}}},
}

const ioprioProcess = 1 // IOPRIO_WHO_PROCESS; see ioprio_set(2)

// shared are the calls by which processes share memory, semaphores and messages
// under names visible to the whole machine, and the kernel's keys of the user.
var shared = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
}

// outward are the calls by which a command would stop or watch what others do with a
// file, and those that make a user namespace, in which it would have privileges. The
// flags of clone3 cannot be seen; programs then use clone.
var outward = []rule{
	{unix.SYS_FCNTL, unix.EPERM, []allowed{{argument: 1, values: []uint32{unix.F_SETLEASE, setDelegation}, but: true}}},
	{call: unix.SYS_FANOTIFY_INIT, errno: unix.EPERM},
	{unix.SYS_UNSHARE, unix.EPERM, []allowed{{argument: 0, mask: unix.CLONE_NEWUSER, values: []uint32{0}}}},
	{unix.SYS_CLONE, unix.EPERM, []allowed{{argument: 0, mask: unix.CLONE_NEWUSER, values: []uint32{0}}}},
	{call: unix.SYS_CLONE3, errno: unix.ENOSYS},
}

const setDelegation = 1024 + 16 // F_SETDELEG, of Linux 6.19

// uncounted are the kinds of memory that no limit of a process counts: what grows as a
// stack does, what is shared without a file, and files without a name.
var uncounted = []rule{
	{unix.SYS_MMAP, unix.ENOMEM, []allowed{
		{argument: 3, mask: unix.MAP_GROWSDOWN, values: []uint32{0}},
		{argument: 3, mask: unix.MAP_TYPE | unix.MAP_ANONYMOUS, values: []uint32{unix.MAP_SHARED | unix.MAP_ANONYMOUS, unix.MAP_SHARED_VALIDATE | unix.MAP_ANONYMOUS}, but: true},
	}},
	{call: unix.SYS_MEMFD_CREATE, errno: unix.ENOSYS},
	{call: unix.SYS_MEMFD_SECRET, errno: unix.ENOSYS},
}

// rules returns the rules of the cage, whose memory a control group counts if weighed. A cage of files or without a network
// above all excludes the Unix sockets of the user's other programs, such as
// Docker, D-Bus and an SSH agent, which Landlock does not restrict. A socket
// pair is connected only to onItself, except a pair of datagram sockets, which
// can send to any address.
func (c Cage) rules(weighed bool) []rule {
	all := slices.Concat(onItself, outward)
	if c.Memory > 0 && !weighed {
		all = append(all, uncounted...)
	}
	for _, call := range shared {
		all = append(all, rule{call: call, errno: unix.ENOSYS})
	}
	if c.Files == nil && !c.NoNetwork {
		return all
	}
	socket := rule{call: unix.SYS_SOCKET, errno: unix.EACCES}
	if !c.NoNetwork {
		socket.unless = []allowed{{values: []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}}}
	}
	return append(all, socket,
		rule{unix.SYS_SOCKETPAIR, unix.EACCES, []allowed{{values: []uint32{unix.AF_UNIX}}, {argument: 1, mask: socketType, values: []uint32{unix.SOCK_STREAM, unix.SOCK_SEQPACKET}}}},
		rule{call: unix.SYS_IO_URING_SETUP, errno: unix.ENOSYS}) // it creates sockets
}

// socketType masks the flags in the type of a socket.
const socketType = 0xf

// install makes the kernel refuse, for this thread and everything it starts,
// what the rules of a program refuse, and calls over unknown interfaces.
func install(program []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog))); errno != 0 { //nolint:gosec // the kernel is handed a struct
		return fmt.Errorf("its system calls cannot be filtered: %w", errno)
	}
	return nil
}

// program encodes rules for the kernel; see seccomp(2).
func program(rules []rule) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	give := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	refuse := func(errno unix.Errno) unix.SockFilter { return give(unix.SECCOMP_RET_ERRNO | uint32(errno)) }
	// equal skips yes instructions if the loaded value equals value, and no
	// instructions if not.
	equal := func(value uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: uint8(yes), Jf: uint8(no), K: value}
	}
	p := []unix.SockFilter{load(seenArch), equal(architectures[runtime.GOARCH], 1, 0), refuse(unix.ENOSYS), load(seenNumber)}
	if runtime.GOARCH == "amd64" {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jf: 1, K: x32}, refuse(unix.ENOSYS))
	}
	for _, r := range rules {
		var body []unix.SockFilter
		for _, a := range r.unless {
			body = append(body, load(seenArguments+8*a.argument))
			if a.mask != 0 {
				body = append(body, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: a.mask})
			}
			for i, v := range a.values {
				if a.but {
					body = append(body, equal(v, 0, 1), refuse(r.errno))
				} else {
					body = append(body, equal(v, len(a.values)-i, 0))
				}
			}
			if !a.but {
				body = append(body, refuse(r.errno))
			}
		}
		if r.unless == nil {
			body = append(body, refuse(r.errno))
		} else {
			body = append(body, give(unix.SECCOMP_RET_ALLOW))
		}
		p = append(append(p, equal(r.call, 0, len(body))), body...)
	}
	return append(p, give(unix.SECCOMP_RET_ALLOW))
}
