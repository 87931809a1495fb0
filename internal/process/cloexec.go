//go:build linux || darwin

package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// markEach sets close-on-exec on each open descriptor above 2 that the
// directory lists.
func markEach(dir string) {
	open, err := os.Open(dir)
	if err != nil {
		return
	}
	defer open.Close()
	names, _ := open.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
