//go:build !linux && !darwin

package cli

import "os"

// flushInput does nothing: no file counts as a terminal on this system.
func flushInput(*os.File) {}
