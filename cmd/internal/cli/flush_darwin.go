package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed at a terminal and not read yet. Where it
// cannot be, it stays.
func flushInput(f *os.File) {
	const read = 1 // FREAD of sys/fcntl.h: what is to be read
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read)
}
