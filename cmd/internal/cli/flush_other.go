//go:build !linux && !darwin

package cli

import "os"

// flushInput does nothing: no file counts as a terminal on this system.
func flushInput(*os.File) {}

// hideKeys does nothing, for the same reason.
func hideKeys(*os.File) (show func()) { return func() {} }

// revive does nothing, for the same reason.
func revive(*os.File) {}
