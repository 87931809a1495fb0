//go:build !linux && !darwin

package cli

import "os"

// columns says that no file is a terminal: this system is not supported.
func columns(*os.File) int { return 0 }

// flushInput does nothing: no file counts as a terminal on this system.
func flushInput(*os.File) {}

// hideKeys does nothing, for the same reason.
func hideKeys(*os.File) (show func()) { return func() {} }

// revive does nothing, for the same reason.
func revive(*os.File) {}
