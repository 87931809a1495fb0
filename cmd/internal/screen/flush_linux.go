package screen

import (
	"os"

	"golang.org/x/sys/unix"
)

// The requests that get and set the mode of a terminal.
const getMode, setMode = unix.TCGETS, unix.TCSETS

// FlushInput drops typed input that was not read yet, where the system can.
func FlushInput(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
