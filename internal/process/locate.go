//go:build linux || darwin

package process

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Locate returns the file that [Run] would execute for c now, as a path that is
// absolute or relative to the present directory. It runs nothing; its error is
// a [*StartError].
func Locate(c Command) (string, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return "", &StartError{Reason: "the command is empty; its first element must name a program"}
	}
	path, err := locate(c)
	if err == nil && !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	return path, err
}

// FileIdentity identifies a file independently of its name: by device and inode.
func FileIdentity(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(s.Dev, " ", s.Ino)
	}
	return ""
}
