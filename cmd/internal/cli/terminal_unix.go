//go:build linux || darwin

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns is the width of the terminal f; zero: f is not a terminal.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	if size.Col == 0 { // a terminal that does not report its width
		return 80
	}
	return int(size.Col)
}
