//go:build !linux && !darwin

package cli

import "os"

// flushInput does nothing: no file is taken for a terminal here.
func flushInput(*os.File) {}
