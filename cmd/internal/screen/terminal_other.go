//go:build !linux && !darwin

package screen

import "os"

// Columns says that no file is a terminal: this system is not supported.
func Columns(*os.File) int { return 0 }

// FlushInput does nothing: no file counts as a terminal on this system.
func FlushInput(*os.File) {}

// HideKeys does nothing, for the same reason.
func HideKeys(*os.File) (show func()) { return func() {} }

// Revive does nothing, for the same reason.
func Revive(*os.File) {}
