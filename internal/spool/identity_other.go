//go:build !linux && !darwin

package spool

import "io/fs"

// Identity returns "" on this system, which runs no commands.
func Identity(fs.FileInfo) string { return "" }
