//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpu returns the processor time of this process, which does not include
// waiting on a busy machine.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
