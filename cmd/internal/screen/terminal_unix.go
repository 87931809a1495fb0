//go:build linux || darwin

package screen

import (
	"os"

	"golang.org/x/sys/unix"
)

// Columns is the width of the terminal f; zero: f is not a terminal.
func Columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	if size.Col == 0 { // a terminal that does not report its width
		return 80
	}
	return int(size.Col)
}

// HideKeys has the terminal not show what is typed, until show. Ctrl-C is still a signal.
func HideKeys(f *os.File) (show func()) {
	was, err := unix.IoctlGetTermios(int(f.Fd()), getMode)
	if err != nil {
		return func() {}
	}
	mode := *was
	mode.Lflag &^= unix.ECHO
	_ = unix.IoctlSetTermios(int(f.Fd()), setMode, &mode) // if it fails, the keys are shown
	return func() { _ = unix.IoctlSetTermios(int(f.Fd()), setMode, was) }
}

// Revive has the terminal take lines and show what is typed, as it does unless a killed process left
// it otherwise.
func Revive(f *os.File) {
	if mode, err := unix.IoctlGetTermios(int(f.Fd()), getMode); err == nil {
		mode.Iflag |= unix.ICRNL | unix.IXON
		mode.Oflag |= unix.OPOST
		mode.Lflag |= unix.ICANON | unix.ECHO | unix.ISIG | unix.IEXTEN
		_ = unix.IoctlSetTermios(int(f.Fd()), setMode, mode) // if it fails, it stays as it is
	}
}
