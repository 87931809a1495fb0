//go:build unix

package sqlite_test

import (
	"syscall"
	"time"
)

// cpu is the processor time this process has used. On a machine that others use
// too it says what work costs where a clock says how long it had to wait.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
