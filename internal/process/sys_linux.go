package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// awaitExit blocks until a child has ended and leaves it unreaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != syscall.EINTR {
			return // ended, or reaped elsewhere
		}
	}
}

// members lists the processes of a session that are not zombies. A zombie whose
// parent never waits, as in a container without an init, would otherwise delay
// the end until the grace is over; kill(-group, 0) counts zombies, too.
//
// getsid on every id of /proc is much faster than reading every stat file.
func members(session int) []member {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	var list []member
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if sid, err := unix.Getsid(pid); err != nil || sid != session {
			continue
		}
		if s, err := readStat(pid); err == nil && !s.zombie {
			list = append(list, member{pid: pid, group: s.group})
		}
	}
	return list
}

func leadsSession(pid int) bool {
	sid, err := unix.Getsid(pid)
	return err == nil && sid == pid
}

// stat has the needed fields of /proc/PID/stat, see proc_pid_stat(5).
type stat struct {
	group  int
	start  uint64
	zombie bool
}

func readStat(pid int) (stat, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	// The second field is the program's name in parentheses, which may itself
	// contain parentheses and blanks.
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return stat{}, fmt.Errorf("/proc/%d/stat has no program name", pid)
	}
	fields := strings.Fields(string(data[end+1:]))
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("/proc/%d/stat has %d fields, want at least 22", pid, len(fields)+2)
	}
	// fields[i] is field i+3 of the manual page.
	group, err1 := strconv.Atoi(fields[2])
	threads, err2 := strconv.Atoi(fields[17])
	start, err3 := strconv.ParseUint(fields[19], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return stat{}, err
	}
	// The first thread of a process may be a zombie while others run on.
	zombie := (fields[0] == "Z" || fields[0] == "X") && threads <= 1
	return stat{group: group, start: start, zombie: zombie}, nil
}

func lookUp(pid int) (start uint64, zombie bool, err error) {
	s, err := readStat(pid)
	return s.start, s.zombie, err
}

// isNotExist includes ESRCH, the error of reading a stat file when the process
// ends meanwhile.
func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// bootID returns the kernel's random id of this boot and the process-id
// namespace, since containers of one host share the boot but not process ids.
var bootID = sync.OnceValues(func() (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	namespace, err := os.Readlink("/proc/self/ns/pid") // "pid:[4026531836]"
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + "/" + strings.Trim(namespace, "pid:[]"), nil
})

// markCloseOnExec keeps commands from inheriting this process's descriptors.
func markCloseOnExec() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil { // Linux before 5.11
		markEach("/proc/self/fd")
	}
}
