package process

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// szomb is SZOMB of sys/proc.h.
const szomb = 5

// awaitExit blocks until a child has ended and leaves it unreaped. waitid will not do: on macOS it
// returns for a stopped process too, even if asked for exits only.
func awaitExit(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		pollExit(pid)
		return
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	var change unix.Kevent_t
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	changes := []unix.Kevent_t{change}
	for {
		n, err := unix.Kevent(queue, changes, make([]unix.Kevent_t, 1), nil)
		if err == syscall.EINTR {
			changes = nil // registered already
			continue
		}
		if err != nil || n > 0 {
			// NOTE_EXIT comes shortly before the process is a zombie, and ESRCH is also the answer
			// about one that is ending.
			pollExit(pid)
			return
		}
	}
}

// pollExit waits until a child is a zombie or reaped.
func pollExit(pid int) {
	for {
		_, zombie, err := lookUp(pid)
		if zombie || isNotExist(err) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// members lists the processes of a session that are not zombies.
func members(session int) []member {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	var list []member
	for i := range all {
		pid := int(all[i].Proc.P_pid)
		if all[i].Proc.P_stat == szomb || pid <= 0 {
			continue
		}
		if sid, err := unix.Getsid(pid); err == nil && sid == session {
			list = append(list, member{pid: pid, group: int(all[i].Eproc.Pgid)})
		}
	}
	return list
}

func leadsSession(pid int) bool {
	sid, err := unix.Getsid(pid)
	return err == nil && sid == pid
}

func lookUp(pid int) (start uint64, zombie bool, err error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, syscall.EIO) || (err == nil && int(info.Proc.P_pid) != pid) {
		return 0, false, fs.ErrNotExist // the answer about no process is an empty record
	}
	if err != nil {
		return 0, false, err
	}
	at := info.Proc.P_starttime
	return uint64(at.Sec)*1e6 + uint64(at.Usec), info.Proc.P_stat == szomb, nil
}

func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}

// bootID is the session id of this boot. The boot time will not do: it moves when the clock is set.
var bootID = sync.OnceValues(func() (string, error) { return unix.Sysctl("kern.bootsessionuuid") })

func markCloseOnExec() { markEach("/dev/fd") }
