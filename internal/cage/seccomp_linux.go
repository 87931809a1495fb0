package cage

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// architectures are those whose system calls the filter knows to tell apart, and
// what the kernel calls them.
var architectures = map[string]uint32{
	"amd64":   unix.AUDIT_ARCH_X86_64,
	"arm64":   unix.AUDIT_ARCH_AARCH64,
	"riscv64": unix.AUDIT_ARCH_RISCV64,
	"loong64": unix.AUDIT_ARCH_LOONGARCH64,
}

// x32 marks the calls of a second interface that amd64 may have.
const x32 = 0x40000000

// filters reports whether the kernel can filter system calls here.
func filters() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action))) //nolint:gosec // the kernel is handed a struct
	return errno == 0 && architectures[runtime.GOARCH] != 0
}

// Offsets in what a filter sees of a call, struct seccomp_data.
const (
	seenNumber   = 0
	seenArch     = 4
	seenArgument = 16 // the lower half of the first one, on machines that begin with it
)

// filter keeps this thread, and all that comes of it, from sockets: from all of
// them, or from those that are neither of the Internet nor the kernel's own. What
// is left out most of all are the sockets by which other programs of the user, of
// which Landlock does not know, are told what to do: that of Docker, of D-Bus, of
// an SSH agent. Pairs of sockets are joined to nobody else.
//
// It forbids as well what would pass it by: io_uring, which makes sockets of its
// own, other interfaces for calls, and the keys that the kernel keeps for the user.
func filter(all bool) error {
	program := sockets(all)
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil { //nolint:gosec // the kernel is handed a struct
		return fmt.Errorf("its system calls cannot be filtered: %w", err)
	}
	return nil
}

// sockets is the program of the filter; see seccomp(2).
func sockets(all bool) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	give := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	var p []unix.SockFilter
	// when compares what is loaded, and gives the action if it is equal.
	when := func(value, action uint32) {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: value}, give(action))
	}
	refuse := func(errno uint32) uint32 { return unix.SECCOMP_RET_ERRNO | errno }
	p = append(p, load(seenArch),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: architectures[runtime.GOARCH]},
		give(refuse(uint32(unix.ENOSYS))),
		load(seenNumber))
	if runtime.GOARCH == "amd64" {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jf: 1, K: x32}, give(refuse(uint32(unix.ENOSYS))))
	}
	when(unix.SYS_IO_URING_SETUP, refuse(uint32(unix.ENOSYS)))
	for _, call := range []uint32{unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL} {
		when(call, refuse(uint32(unix.ENOSYS)))
	}
	if all {
		when(unix.SYS_SOCKET, refuse(uint32(unix.EACCES)))
		return append(p, give(unix.SECCOMP_RET_ALLOW))
	}
	p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: unix.SYS_SOCKET}, give(unix.SECCOMP_RET_ALLOW), load(seenArgument))
	for _, family := range []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK} {
		when(family, unix.SECCOMP_RET_ALLOW)
	}
	return append(p, give(refuse(uint32(unix.EACCES))))
}
