//go:build linux || darwin

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// hideKeys has the terminal not show what is typed, until show. Ctrl-C is still a signal.
func hideKeys(f *os.File) (show func()) {
	was, err := unix.IoctlGetTermios(int(f.Fd()), getMode)
	if err != nil {
		return func() {}
	}
	mode := *was
	mode.Lflag &^= unix.ECHO
	_ = unix.IoctlSetTermios(int(f.Fd()), setMode, &mode) // if it fails, the keys are shown
	return func() { _ = unix.IoctlSetTermios(int(f.Fd()), setMode, was) }
}
