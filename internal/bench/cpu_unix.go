//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpu returns the processor time this process has used. On a busy machine it
// says what work costs, where a clock says how long the work had to wait.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
