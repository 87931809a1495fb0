//go:build linux || darwin

package tool

import (
	"fmt"
	"io/fs"
	"syscall"
)

// identity tells a file from another that takes its name: device and inode.
func identity(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(s.Dev, " ", s.Ino)
	}
	return ""
}
