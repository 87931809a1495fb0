package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// children lists the processes that this one started and has not reaped.
func children() []int {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	var pids []int
	for _, p := range all {
		if int(p.Eproc.Ppid) == os.Getpid() {
			pids = append(pids, int(p.Proc.P_pid))
		}
	}
	return pids
}
