//go:build linux || darwin

package spool

import (
	"fmt"
	"io/fs"
	"syscall"
)

// Identity identifies a file independently of its name: by device and inode.
func Identity(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(s.Dev, " ", s.Ino)
	}
	return ""
}
