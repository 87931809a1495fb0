package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops typed input that was not read yet, where the system can.
func flushInput(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
