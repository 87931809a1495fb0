//go:build unix

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock waits until no other process holds the lock of an open directory. Closing it gives the lock back.
// Some file systems have no locks.
func lock(dir *os.File) {
	_ = unix.Flock(int(dir.Fd()), unix.LOCK_EX)
}
