package screen

import (
	"os"

	"golang.org/x/sys/unix"
)

// The requests that get and set the mode of a terminal.
const getMode, setMode = unix.TIOCGETA, unix.TIOCSETA

// FlushInput drops typed input that was not read yet, where the system can.
func FlushInput(f *os.File) {
	const read = 1 // FREAD of sys/fcntl.h: the input queue
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read)
}
